"""How often a metric is said to be behind the best, where all are equal, and where some are worse.

`python -m tests.calibration.best` prints the section of the page.
"""

from itertools import product

import numpy as np

from metassay.statistics.best import compare_with_best
from metassay.statistics.correlation import weighted_pearson

# documents x systems
SHAPES = ((10, 4), (24, 1), (30, 4), (30, 10), (100, 1), (100, 4))
METRICS, STUDIES, RESAMPLES = 21, 600, 500
# shares of variance: of a document's texts, of all metrics
OF_DOCUMENT, OF_METRICS = 0.4, 0.6
TRUTHS = {  # each metric's correlation with people
    "all 0": np.zeros(METRICS),
    "all .4": np.full(METRICS, 0.4),
    "one .5, the others .4": np.r_[0.5, np.full(METRICS - 1, 0.4)],
    "two .6, the others .1 to .5": np.r_[0.6, 0.6, np.linspace(0.1, 0.5, METRICS - 2)],
}


# The same where people count errors, mostly none, and metrics are alike in groups: 12
# variants of one idea, 4 of another, 5 by themselves.
ALIKE = np.repeat([0.95, OF_METRICS, 0.0], [12, 4, 5])
COUNTED = "; counts, and metrics in groups"
WORLDS = {
    **TRUTHS,
    **{f"{name}{COUNTED}": TRUTHS[name] for name in ("all 0", "all .4")},
}


def noise(rng, n, documents, systems):
    """n x documents x systems, variance 1, of which a part is the document's."""
    of_document = rng.normal(size=(n, documents, 1)) * np.sqrt(OF_DOCUMENT)
    return of_document + rng.normal(size=(n, documents, systems)) * np.sqrt(
        1 - OF_DOCUMENT
    )


def study(rng, documents, systems, truth, *, counted=False):
    """Which metrics are said to be behind the best one of a study."""
    alike = (ALIKE if counted else np.full(len(truth), OF_METRICS))[:, None, None]
    (people,), (common,) = (
        noise(rng, 1, documents, systems),
        noise(rng, 1, documents, systems),
    )
    specific = noise(rng, len(truth), documents, systems)
    rest = np.sqrt(alike) * common + np.sqrt(1 - alike) * specific
    weight = truth[:, None, None]
    metrics = weight * people + np.sqrt(1 - weight**2) * rest
    if counted:
        people = np.clip(np.round(1.5 * people - 1), 0, None)
    unit = np.repeat(np.arange(documents), systems)
    drawn = rng.multinomial(documents, np.full(documents, 1 / documents), RESAMPLES)
    weights = np.concatenate((np.ones((1, documents)), drawn))
    r = np.array(
        [weighted_pearson(m.ravel(), people.ravel(), unit, weights) for m in metrics]
    ).T
    differences = r[:, None, :] - r[:, :, None]
    return compare_with_best(differences, int(r[0].argmax()), documents) < 0.05


def rates(studies=STUDIES):
    """Rows: truth, documents, systems, share of studies that say it of a metric as good
    as the best in truth, and the mean share of the others of which it is said.
    """
    rows = []
    for (number, (name, truth)), shape in product(enumerate(WORLDS.items()), SHAPES):
        rng = np.random.default_rng([number, *shape])
        counted = name.endswith(COUNTED)
        behind = np.array(
            [study(rng, *shape, truth, counted=counted) for _ in range(studies)]
        )
        equal = truth == truth.max()
        others = behind[:, ~equal].mean() if not equal.all() else np.nan
        rows.append((name, *shape, behind[:, equal].any(axis=1).mean(), others))
    return rows


def section(rows):
    """The section of the page, as lines."""
    return [
        "## Metrics behind the best",
        "",
        f"{METRICS} metrics of notes, of which the best is picked and each other one tested against"
        f" it (tables 2 to 6 of benabacha); {STUDIES} studies each. Said falsely: of any metric"
        " that is as good as the best in truth. At most 5 % is promised; one standard error is 0.9"
        " points. Said rightly: the mean share of the metrics that are worse. In rows of counts"
        " people count errors, mostly none, and metrics are alike in groups: 12 variants of one"
        " idea, 4 of another, 5 by themselves.",
        "",
        "| correlation with people | documents x systems | said falsely | said rightly |",
        "|---|---|---:|---:|",
        *(
            f"| {name} | {documents} x {systems} | {wrong:.1%} |"
            f" {'' if np.isnan(right) else f'{right:.1%}'} |"
            for name, documents, systems, wrong, right in rows
        ),
        "",
    ]


if __name__ == "__main__":
    print("\n".join(section(rates())))
