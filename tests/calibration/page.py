"""`python -m tests.calibration.page` simulates everything and writes docs/calibration.md.

Each row has seeds of its own, so that the page is the same on every run, on any number of cores.
Half an hour on two quiet ones.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.calibration import (
    comparisons,
    drift,
    facet_weights,
    judge_cards,
    simulations,
    standing_out,
)
from tests.calibration.verdicts import (
    DESIGNS,
    N_METRICS,
    WORLDS,
    at_the_margin,
    at_the_threshold,
    best_of_many,
    coverage,
    false_findings,
    power,
)

PAGE = Path(__file__).parents[2] / "docs" / "calibration.md"
LEVELS = ("global", "document", "system")
RUNS = 80  # null studies per design and kind of study
OTHER_COEFFICIENTS = ("spearman", "kendall", "kendall_c")
SOME = [(4, 30), (8, 30)]
COVERED = [(3, 10), (4, 3), (4, 10), (4, 100), (8, 30), (12, 20), (16, 100)]
COVERED_WORLDS = (WORLDS[0], WORLDS[1], WORLDS[5], WORLDS[6])


class Job(NamedTuple):
    """One simulation: its place on the page, and what to call."""

    section: str
    key: tuple[Any, ...]
    call: Callable[[], Any]


def jobs() -> Iterator[Job]:
    """Everything that the page tabulates."""
    yield from _null_jobs()
    for level, shape, world in product(LEVELS, COVERED, COVERED_WORLDS):
        call: Callable[[], Any] = partial(coverage, shape, level, world, runs=400, seed=3)
        yield Job("covers", (level, shape, world.name), call)
    yield Job("power", (), partial(power, runs=100, seed=4))
    for shape, level in (((8, 30), "document"), ((8, 100), "global"), ((16, 50), "system")):
        call = partial(at_the_margin, shape, level=level, runs=60, seed=5)
        yield Job("margin", (shape, level), call)
    for shape, level in (((4, 100), "document"), ((8, 30), "global"), ((16, 100), "document")):
        call = partial(at_the_threshold, shape, level=level, runs=150, seed=6)
        yield Job("threshold", (shape, level), call)
    for shape, level in (((4, 30), "document"), ((8, 30), "global"), ((16, 30), "system")):
        call = partial(best_of_many, shape, level=level, runs=60, seed=7)
        yield Job("best", (shape, level), call)
    yield Job("other", (), simulations.rates)
    yield Job("cards", (), judge_cards.rates)
    yield Job("weights", (), facet_weights.rates)
    yield Job("raters", (), standing_out.rates)
    yield Job("comparisons", (), comparisons.rates)
    yield Job("drift", (), drift.rates)


def _null_jobs() -> Iterator[Job]:
    for shape, world in product(DESIGNS, WORLDS):
        call = partial(false_findings, shape, world, runs=RUNS, seed=1)
        yield Job("false", (shape, world.name, "pearson"), call)
    for coefficient, shape, world in product(OTHER_COEFFICIENTS, SOME, WORLDS[:2]):
        call = partial(false_findings, shape, world, coefficient=coefficient, runs=RUNS, seed=2)
        yield Job("false", (shape, world.name, coefficient), call)


def run(job: Job) -> Any:
    return job.call()


def simulate(workers: int | None = None) -> dict[tuple[str, tuple[Any, ...]], Any]:
    """Every job's result, by section and key."""
    every = list(jobs())
    with ProcessPoolExecutor(workers or os.cpu_count()) as pool:
        found = pool.map(run, every)
        return {(job.section, job.key): one for job, one in zip(every, found, strict=True)}


def _percent(share: float) -> str:
    return "–" if np.isnan(share) else f"{100 * share:.1f} %"


def _table(heads: list[str], rows: list[list[str]]) -> list[str]:
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows), ""]


def _false(found: dict) -> list[str]:
    cells = {key: value for (section, key), value in found.items() if section == "false"}
    rows = []
    for shape in DESIGNS:
        mine = [value for (s, _, c), value in cells.items() if s == shape and c == "pearson"]
        each = [_percent(float(np.mean([one[level] for one in mine]))) for level in LEVELS]
        rows.append([f"{shape[0]} x {shape[1]}", str(len(mine) * RUNS), *each])
    by_world = []
    for world in WORLDS:
        mine = [v for (_, w, c), v in cells.items() if w == world.name and c == "pearson"]
        each = [_percent(float(np.mean([one[level] for one in mine]))) for level in LEVELS]
        by_world.append([world.name, str(len(mine) * RUNS), *each])
    by_coefficient = []
    for coefficient in OTHER_COEFFICIENTS:
        mine = [v for (_, _, c), v in cells.items() if c == coefficient]
        each = [_percent(float(np.mean([one[level] for one in mine]))) for level in LEVELS]
        by_coefficient.append([coefficient, str(len(mine) * RUNS), *each])
    every = [one[level] for one in cells.values() for level in LEVELS]
    error = np.sqrt(0.025 * 0.975 / (len(WORLDS) * RUNS))
    return [
        "## Nothing is certified that is not there",
        "",
        f"Studies in which none of {N_METRICS} metrics has anything to do with people, though"
        " people and metrics have favourites among systems, easy documents and moods of their own."
        " Counted are studies in which any metric reaches the p that `weak`, `holds`, `as good as a"
        " rater` and `explained by` need. The promise is at most 5 %; the test is two-sided, so"
        " that 2.5 % are expected in people's direction. One standard error of a row of the first"
        f" table is {100 * error:.1f} points. The largest share of any single kind and design of"
        f" {RUNS} studies is {_percent(max(every))}.",
        "",
        *_table(["systems x documents", "studies", *LEVELS], rows),
        *_table(["kind of study", "studies", *LEVELS], by_world),
        *_table(["coefficient", "studies", *LEVELS], by_coefficient),
    ]


def _covers(found: dict) -> list[str]:
    rows = []
    for level in LEVELS:
        for shape in COVERED:
            mine = [found["covers", (level, shape, world.name)] for world in COVERED_WORLDS]
            crossed = [one.crossed for one in mine]
            rows.append(
                [
                    level,
                    f"{shape[0]} x {shape[1]}",
                    " / ".join(_percent(one) for one in crossed),
                    " / ".join(_percent(one.these) for one in mine),
                    "–" if np.isnan(mine[0].width) else f"{mine[0].width:.2f}",
                ]
            )
    names = "; ".join(world.name for world in COVERED_WORLDS)
    return [
        "## Intervals hold what they are for",
        "",
        "Metric and people share half of the variance of every effect. The interval is for the mean"
        " value that studies of the same size show with other systems and other documents; the"
        " narrower one, for the same systems and other documents. 95 % is asked for. With few"
        " systems or documents the first is conservative: it covers more, and is wide. With three"
        " systems there is none between systems. 400 studies (720 for the narrower one) per number;"
        f" the four numbers are of: {names}.",
        "",
        *_table(
            [
                "level",
                "systems x documents",
                "other systems and documents",
                "these systems",
                "width",
            ],
            rows,
        ),
    ]


def _decisions(found: dict) -> list[str]:
    powers = found["power", ()]
    margin = [
        [f"{s[0]} x {s[1]}", level, _percent(value)]
        for (section, key), value in found.items()
        if section == "margin"
        for s, level in [key]
    ]
    words = (
        "holds",
        "as good as a rater",
        "weak",
        "these systems only",
        "explained",
        "cannot tell",
        "no use",
    )
    threshold = [
        [f"{s[0]} x {s[1]}", level, *(_percent(value.get(word, 0.0)) for word in words)]
        for (section, key), value in found.items()
        if section == "threshold"
        for s, level in [key]
    ]
    best = [
        [
            f"{s[0]} x {s[1]}",
            level,
            f"{v['plain']:+.3f}",
            f"{v['corrected']:+.3f}",
            _percent(v["covers"]),
        ]
        for (section, key), v in found.items()
        if section == "best"
        for s, level in [key]
    ]
    return [
        "## Verdicts where they matter",
        "",
        "**Power.** One metric of 20 correlates .6 with people over single texts; 4 systems x 100"
        " documents, 3 raters. It `holds` in "
        + ", ".join(f"{_percent(powers[level])} of studies at {level} level" for level in LEVELS)
        + " (4 systems cannot show anything between systems). 100 studies.",
        "",
        "**At the margin.** All of 20 metrics lie .05 below a rater: how often is any called `as"
        " good as a rater`? At most 5 % is promised. 60 studies.",
        "",
        *_table(["systems x documents", "level", "any called as good"], margin),
        "**At the threshold.** One metric, whose correlation is .3 on average, the smallest useful"
        " one: `no use` would be wrong, and so would `weak`. At most 5 % is promised. 150 studies.",
        "",
        *_table(["systems x documents", "level", *words], threshold),
        "**The best of many.** All of 20 metrics are equally good: how far the best one's value is"
        " too high, as it is and corrected for the choice, and how often the interval beside the"
        " corrected value holds the truth. 60 studies.",
        "",
        *_table(["systems x documents", "level", "plain", "corrected", "covers"], best),
    ]


def page(found: dict, widths: Any) -> str:
    """The page from what `simulate` found."""
    head = [
        "# Do verdicts, intervals and tests keep their word?",
        "",
        "Simulated studies with a known truth, at the 5 % level and with 95 % intervals. Written by"
        " `python -m tests.calibration.page`; `pytest -m calibration` checks some of it again.",
        "",
    ]
    tests = simulations.section(found["other", ()], widths)
    weights = facet_weights.section(found["weights", ()])
    raters = standing_out.section(found["raters", ()])
    parts = [head, _false(found), _covers(found), _decisions(found), tests, weights, raters]
    parts += [drift.section(found["drift", ()]), comparisons.section(*found["comparisons", ()])]
    parts.append(_cards(found))
    return "\n".join(line for part in parts for line in part)


def _cards(found: dict) -> list[str]:
    return [
        "## Judges' cards",
        "",
        "Coverage of each number of a card over 16 worlds: the lowest, the highest and the mean."
        " Of 20 texts some shares rest on two or three, where no interval can be exact.",
        "",
        *simulations.rates_table(found["cards", ()]),
    ]


def main() -> None:
    """Simulate and write the page and its figure."""
    _, widths = simulations.judged_means_cover()
    gaps, curves = simulations.power_curves()
    simulations.draw(gaps, curves, simulations.DOCS / "figures" / "power.png")
    PAGE.write_text(page(simulate(), widths), encoding="utf-8")


if __name__ == "__main__":
    main()
