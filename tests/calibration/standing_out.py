"""How often a rater is said to agree less, where all are equal and where one rates at random.

`python -m tests.calibration.standing_out` prints the table.
"""

from itertools import product

import numpy as np

from metassay.statistics.agreement import compare_with_others

DOCUMENTS, SYSTEMS = (6, 10, 15, 30, 60), 4
# of a rater's noise that all texts of a document have in common, where any is
SHARED = 0.5
STUDIES, RESAMPLES = 600, 1000
NOISE, RANDOM = 0.6, 9.0  # of a rater who looks, and of one who does not; quality has 1
CUTS = {  # where grades begin: five levels, three, and nearly all texts of the best one
    "five levels": (-1.5, -0.5, 0.5, 1.5),
    "three levels": (-0.7, 0.7),
    "near the ceiling": (-2.0, -1.4),
}


def named(documents, noise, cuts, rng, shared=0.0):
    """Which raters are named in one study of `SYSTEMS` texts a document, heard with this noise.

    `shared`: the share of its variance that is the document's, as of what a rater
    misread.
    """
    size = (len(noise), documents)
    off = np.sqrt(shared) * rng.normal(size=(*size, 1))
    off = off + np.sqrt(1 - shared) * rng.normal(size=(*size, SYSTEMS))
    heard = rng.normal(size=(documents, SYSTEMS)) + off * np.array(noise)[:, None, None]
    grades = np.digitize(heard, cuts).astype(float).reshape(len(noise), -1)
    unit = np.repeat(np.arange(documents), SYSTEMS)
    intervals = compare_with_others(grades, unit, n=RESAMPLES, confidence=0.95, rng=rng)
    return [interval.low > 0 for interval in intervals]


def rates(studies=STUDIES, seed=0):
    """Rows: grades, documents; the share of studies that name anybody of 3 and 5 equal
    raters, and of 3 whose noise documents share; the share that name the one of 3 who
    rates at random.
    """
    rows = []
    for (name, cuts), documents in product(CUTS.items(), DOCUMENTS):
        rng = np.random.default_rng([seed, documents, len(cuts), len(name)])
        equal = [
            np.mean(
                [
                    any(named(documents, [NOISE] * n, cuts, rng, of))
                    for _ in range(studies)
                ]
            )
            for n, of in ((3, 0.0), (5, 0.0), (3, SHARED))
        ]
        careless = [
            named(documents, (NOISE, NOISE, RANDOM), cuts, rng)[2]
            for _ in range(studies)
        ]
        rows.append((name, documents, *equal, np.mean(careless)))
    return rows


def section(rows):
    """The section of the page, as lines."""
    return [
        "## Raters who stand out",
        "",
        "Of raters who are equal, how often is somebody named, and how often one of three who"
        f" rates at random? 95 % is asked for all raters at once; {STUDIES} studies each, so that"
        f" one standard error at 5 % is 0.9 points, of {SYSTEMS} texts a document. In the last but"
        f" one, {SHARED:.0%} of a rater's noise is the same for all texts of a document.",
        "",
        "| grades | documents | 3 equal | 5 equal | 3 equal, shared noise | one of 3 at random |",
        "|---|---:|---:|---:|---:|---:|",
        *(
            f"| {name} | {documents} | "
            + " | ".join(f"{share:.1%}" for share in shares)
            + " |"
            for name, documents, *shares in rows
        ),
        "",
    ]


if __name__ == "__main__":
    print("\n".join(section(rates())))
