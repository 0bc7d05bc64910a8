"""How often a rater is said to agree less, where all are equal and where one rates at random.

`python -m tests.calibration.standing_out` prints the table.
"""

from itertools import product

import numpy as np

from metassay.statistics.agreement import below_others

TEXTS = (10, 15, 30, 60)
STUDIES, RESAMPLES = 300, 300
NOISE, RANDOM = 0.6, 9.0  # of a rater who looks, and of one who does not; quality has 1
CUTS = {  # where grades begin: five levels, three, and nearly all texts of the best one
    "five levels": (-1.5, -0.5, 0.5, 1.5),
    "three levels": (-0.7, 0.7),
    "near the ceiling": (-2.0, -1.4),
}


def named(texts, noise, cuts, rng):
    """Which raters are named in one study of texts that they hear with this much noise."""
    heard = rng.normal(size=texts) + rng.normal(size=(len(noise), texts)) * np.array(noise)[:, None]
    grades = np.digitize(heard, cuts).astype(float)
    found = below_others(grades, np.arange(texts), n=RESAMPLES, confidence=0.95, rng=rng)
    return [one.low > 0 for one in found]


def rates(studies=STUDIES, seed=0):
    """Rows: grades, texts; the share of studies that name anybody of 3, 4, 5 equal raters, and the
    share that name the one of 3 who rates at random."""
    found = []
    for (name, cuts), texts in product(CUTS.items(), TEXTS):
        rng = np.random.default_rng([seed, texts, len(cuts), len(name)])
        equal = [
            np.mean([any(named(texts, [NOISE] * n, cuts, rng)) for _ in range(studies)])
            for n in (3, 4, 5)
        ]
        careless = [named(texts, (NOISE, NOISE, RANDOM), cuts, rng)[2] for _ in range(studies)]
        found.append((name, texts, *equal, np.mean(careless)))
    return found


def section(rows):
    """The section of the page, as lines."""
    return [
        "## Raters who stand out",
        "",
        "Of raters who are equal, how often is somebody named, and how often one of three who"
        f" rates at random? 95 % is asked for all raters at once; {STUDIES} studies each.",
        "",
        "| grades | texts | 3 equal | 4 equal | 5 equal | one of 3 at random |",
        "|---|---:|---:|---:|---:|---:|",
        *(
            f"| {name} | {texts} | " + " | ".join(f"{share:.1%}" for share in shares) + " |"
            for name, texts, *shares in rows
        ),
        "",
    ]


if __name__ == "__main__":
    print("\n".join(section(rates())))
