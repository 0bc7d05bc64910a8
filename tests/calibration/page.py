"""`python -m tests.calibration.page` simulates everything and writes rates.md here.

It writes docs/calibration.md, the digest of these tables, too.

Each row has seeds of its own, so that the page is the same on every run, on any number
of cores. About two hours on two quiet ones.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from tests.calibration import (
    alike,
    annotator_test,
    best,
    comparisons,
    doubts,
    drift,
    facet_weights,
    judge_cards,
    judge_check,
    label_kinds,
    next_labels,
    number_kinds,
    preference_kinds,
    ranking_kinds,
    shapes,
    simulations,
    standing_out,
)
from tests.calibration.digest import write_page
from tests.calibration.summary import RATES, summary, table
from tests.calibration.verdicts import (
    DESIGNS,
    Claims,
    below_a_rater,
    below_useful,
    best_of_many,
    coverage,
    false_claims,
    nested_claims,
    power,
    rare_flag,
    statement_claims,
    statement_coverage,
)
from tests.calibration.worlds import COPIES, HOLES, MOODS, N_METRICS, PLAIN, WORLDS

LEVELS = ("global", "document", "system")
RUNS = 75  # null studies per design and kind of study: 600 per design
PROMISED = 600  # studies behind a rate that is promised
METRICS = (N_METRICS, 3, 1)  # of a study; people bring few
COEFFICIENTS = ("spearman", "kendall", "kendall_c")
SOME = [(4, 30), (8, 30)]
STATEMENTS = [(29, 1, 8), (12, 4, 7), (24, 4, 7), (10, 8, 6)]
AGAIN = "16 x 100, other draws"  # the largest row of the first table, by chance or not
COVERED = [(3, 10), (4, 3), (4, 10), (4, 100), (8, 30), (12, 20), (16, 100)]
COVERED_WORLDS = (WORLDS[0], WORLDS[1], WORLDS[5], WORLDS[6])
SHAPED = [(8, 40), (16, 100)]
SHAPED_RUNS = PROMISED // 3
BELOW = [(6, 60), (8, 40), (16, 100)]
BELOW_WORLDS = (WORLDS[5], WORLDS[6], HOLES, COPIES, MOODS)
STRENGTHS = (0.4, 0.5, 0.6, 0.7)
POWERS = [((8, 40), "global"), ((8, 40), "document"), ((16, 100), "global")]
POWERS += [((16, 100), "document")]


class Job(NamedTuple):
    """One simulation: its place on the page, and what to call."""

    section: str
    key: tuple[Any, ...]
    call: Callable[[], Any]


def jobs() -> Iterator[Job]:
    """Everything that the page tabulates."""
    yield from _null_jobs()
    yield from _alike_jobs()
    yield from _below_jobs()
    yield from _power_jobs()
    yield from _shape_jobs()
    for cell in doubts.cells(doubts.sections()):
        yield Job("doubts", (cell,), partial(doubts.simulate, cell))
    for level, shape, world in product(LEVELS, COVERED, COVERED_WORLDS):
        call: Callable[[], Any] = partial(
            coverage, shape, level, world, runs=400, seed=3
        )
        yield Job("covers", (level, shape, world.name), call)
    for shape, level in (
        ((8, 30), "document"),
        ((8, 100), "global"),
        ((16, 50), "system"),
    ):
        call = partial(
            below_a_rater, shape, level=level, by=0.05, runs=PROMISED, seed=5
        )
        yield Job("margin", (shape, level), call)
    for shape in ((8, 40), (8, 100), (16, 100)):
        yield Job("flag", (shape,), partial(rare_flag, shape, runs=PROMISED, seed=6))
    for shape, level in (
        ((4, 30), "document"),
        ((8, 30), "global"),
        ((16, 30), "system"),
    ):
        call = partial(best_of_many, shape, level=level, runs=100, seed=7)
        yield Job("best", (shape, level), call)
    yield Job("other", (), simulations.rates)
    yield Job("cards", (), judge_cards.rates)
    yield Job("checks", (), judge_check.rates)
    yield Job("kinds", (), label_kinds.rates)
    yield Job("numbers", (), number_kinds.rates)
    yield Job("preferences", (), preference_kinds.rates)
    yield Job("rankings", (), ranking_kinds.rates)
    yield Job("replaces", (), annotator_test.rates)
    yield Job("next", (), next_labels.rates)
    yield Job("weights", (), facet_weights.rates)
    yield Job("raters", (), standing_out.rates)
    yield Job("behind the best", (), best.rates)
    yield Job("comparisons", (), comparisons.rates)
    yield Job("drift", (), drift.rates)


def _null_jobs() -> Iterator[Job]:
    for shape, world, n in product(DESIGNS, WORLDS, METRICS):
        call: Callable[[], Any] = partial(
            false_claims, shape, world, n=n, runs=RUNS, seed=1
        )
        yield Job("false", (shape, world.name, n), call)
    for name, shape in product(COEFFICIENTS, SOME):
        call = partial(
            false_claims, shape, PLAIN, coefficient=name, runs=PROMISED // 2, seed=2
        )
        yield Job("false other", (name, shape), call)
    for shape in SOME:
        call = partial(false_claims, shape, HOLES, runs=PROMISED // 2, seed=2)
        yield Job("false other", (HOLES.name, shape), call)
        call = partial(false_claims, shape, PLAIN, true=5, runs=PROMISED // 2, seed=2)
        yield Job("false other", ("5 of the 20 metrics follow people", shape), call)
    for world in WORLDS:
        call = partial(false_claims, DESIGNS[-1], world, runs=RUNS, seed=9)
        yield Job("false other", (AGAIN, world.name), call)
    for sizes, n in product(((30, 30, 30), (15, 30, 45, 20), (10,) * 8), METRICS):
        call = partial(nested_claims, sizes, n=n, runs=PROMISED, seed=2)
        yield Job("nested", (sizes, n), call)
    for shape, n in product(STATEMENTS, METRICS):
        call = partial(
            statement_claims, *shape, n=n, shares=True, runs=PROMISED, seed=2
        )
        yield Job("statements", (shape, n), call)
    for shape in STATEMENTS:
        call = partial(statement_coverage, *shape, runs=PROMISED, seed=3)
        yield Job("statements' intervals", (shape,), call)


def _alike_jobs() -> Iterator[Job]:
    for number, n in product(range(4), METRICS):
        how: dict[str, Any] = {"n": n, "runs": PROMISED // 4, "seed": 10 + number}
        for kind in (*alike.DECLARED, *alike.DETECTED):
            call: Callable[[], Any] = partial(alike.claims, kind, **how)
            yield Job("alike", (kind.name, n, number), call)
        for kind in alike.DECLARED:
            call = partial(alike.claims, kind, declared=False, **how)
            yield Job("unsaid", (kind.name, n, number), call)
    for name in ("spearman", "kendall"):
        kind = alike.DECLARED[2]
        call = partial(
            alike.claims, kind, coefficient=name, runs=PROMISED // 2, seed=10
        )
        yield Job("alike", (f"{kind.name}; {name}", N_METRICS, 0), call)
    for shape, world in product(((8, 40), (4, 100), (16, 30)), (*WORLDS, COPIES)):
        call = partial(alike.falsely_noticed, shape, world, runs=PROMISED // 9, seed=11)
        yield Job("noticed", (shape, world.name), call)
    for kind in (
        alike.DECLARED[1],
        alike.DECLARED[3],
        alike.DETECTED[0],
        alike.DETECTED[6],
    ):
        call = partial(alike.power, kind, "global", 0.5, runs=100, seed=12)
        yield Job("alike power", (kind.name,), call)


def _below_jobs() -> Iterator[Job]:
    # Shape, kind of study, coefficient, number of metrics.
    every = [(shape, PLAIN, "pearson", n) for shape, n in product(BELOW, METRICS)]
    every += [((8, 40), w, "pearson", n) for w, n in product(BELOW_WORLDS, METRICS)]
    every += [((8, 40), PLAIN, c, N_METRICS) for c in ("spearman", "kendall")]
    for (shape, world, coefficient, n), level in product(every, LEVELS):
        call = partial(
            below_useful,
            shape,
            level,
            world,
            n=n,
            coefficient=coefficient,
            runs=PROMISED,
            seed=20,
        )
        yield Job("below", (shape, world.name, coefficient, n, level), call)


def _power_jobs() -> Iterator[Job]:
    for (shape, level), r in product(POWERS, STRENGTHS):
        call: Callable[[], Any] = partial(power, shape, level, r, runs=200, seed=30)
        yield Job("power", (shape, level, r, "pearson", False), call)
    for name, r in product(("spearman", "kendall"), STRENGTHS):
        call = partial(power, (8, 40), "global", r, coefficient=name, runs=100, seed=30)
        yield Job("power", ((8, 40), "global", r, name, False), call)
    for r in STRENGTHS:
        call = partial(power, (8, 40), "global", r, primary=True, runs=200, seed=30)
        yield Job("power", ((8, 40), "global", r, "pearson", True), call)
    for shape, r in product(((8, 40), (16, 100)), (0.7, 0.85, 0.95)):
        call = partial(power, shape, "system", r, runs=200, seed=31)
        yield Job("power", (shape, "system", r, "pearson", False), call)


def _shape_jobs() -> Iterator[Job]:
    for name, shape in product(shapes.SHAPES, SHAPED):
        call: Callable[[], Any] = partial(
            shapes.caught, shape, name, runs=SHAPED_RUNS, seed=40
        )
        yield Job("caught", (name, shape), call)
        call = partial(shapes.wrongly_explained, shape, name, runs=SHAPED_RUNS, seed=41)
        yield Job("wrongly", (name, shape), call)
    for name in ("spearman", "kendall"):
        more = {"coefficient": name, "runs": SHAPED_RUNS, "seed": 42}
        call = partial(shapes.caught, SHAPED[0], "threshold", **more)
        yield Job("caught", (f"threshold; {name}", SHAPED[0]), call)


def run(place: int) -> Any:
    # What draws a study is a function within a function, which another process must
    # make anew.
    return list(jobs())[place].call()


def simulate(workers: int | None = None) -> dict[tuple[str, tuple[Any, ...]], Any]:
    """Every job's result, by section and key."""
    every = list(jobs())
    with ProcessPoolExecutor(workers or os.cpu_count()) as pool:
        results = pool.map(run, range(len(every)))
        return {
            (job.section, job.key): r for job, r in zip(every, results, strict=True)
        }


def _percent(share: float) -> str:
    return "–" if np.isnan(share) else f"{100 * share:.1f} %"


def _by(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


def _of(results: dict, wanted: str) -> dict[tuple[Any, ...], Any]:
    """A section's results by key."""
    return {
        key: value for (section, key), value in results.items() if section == wanted
    }


def _of_name(results: dict, wanted: str, size: int = 1) -> dict[Any, list[Any]]:
    """A section's results by the first part (or `size` parts) of the key."""
    by_name: dict[Any, list[Any]] = {}
    for key, value in _of(results, wanted).items():
        name = key[0] if size == 1 else key[:size]
        by_name.setdefault(name, []).append(value)
    return by_name


def _claims(claims) -> str:
    """Any claim above `cannot tell`, and in brackets any metric to use."""
    return f"{_percent(claims.promising)} ({_percent(claims.trusted)})"


def _by_level(results, levels=LEVELS) -> list[str]:
    """Means of claims of as many studies each."""
    mean = {
        level: Claims(*np.mean([r[level] for r in results], axis=0)) for level in levels
    }
    return [
        *(_percent(mean[level].related) for level in levels),
        *(_claims(mean[level]) for level in levels),
    ]


_HEADS = ["related, global", "document", "system", "`promising` or `use`, global"]
_HEADS += ["document", "system"]
_PLACE = ["systems x documents", "level"]
_OF_TWO = ["metrics", "studies", "related, global", "system", _HEADS[3], "system"]


def _false(results: dict) -> list[str]:
    cells = _of(results, "false")
    rows, by_world = [], []
    for shape, n in product(DESIGNS, METRICS):
        every = [v for (s, _, m), v in cells.items() if (s, m) == (shape, n)]
        rows.append([_by(shape), n, len(every) * RUNS, *_by_level(every)])
    for world, n in product(WORLDS, METRICS):
        every = [v for (_, w, m), v in cells.items() if (w, m) == (world.name, n)]
        by_world.append([world.name, n, len(every) * RUNS, *_by_level(every)])
    others = _of_name(results, "false other").items()
    more = [[name, str(PROMISED), *_by_level(every)] for name, every in others]
    ends = ("global", "system")
    nested = [
        [", ".join(map(str, sizes)), n, PROMISED, *_by_level([claims], ends)]
        for (sizes, n), claims in _of(results, "nested").items()
    ]
    coverages = _of(results, "statements' intervals")
    of_statements = [
        [
            _by(shape),
            n,
            PROMISED,
            *_by_level([claims], ends),
            _percent(coverages[shape,][0]),
        ]
        for (shape, n), claims in _of(results, "statements").items()
    ]
    error = np.sqrt(0.025 * 0.975 / (len(WORLDS) * RUNS))
    return [
        "## Nothing is claimed that is not there",
        "",
        "Studies in which none of 20, 3 or 1 metrics has anything to do with people, though"
        " people and metrics have favourites among systems, easy documents and moods of their own."
        " `related` counts studies in which any metric has an adjusted p below .05 in people's"
        " direction; the next columns those in which any is called `promising` or `use`, and in"
        " brackets `use`. At most 5 % is promised for `promising` or `use`. The test is two-sided,"
        " so that 2.5 % are expected in people's direction. One standard error of a row of the"
        f" first table is {100 * error:.1f} points.",
        "",
        *table(["systems x documents", "metrics", "studies", *_HEADS], rows),
        *table(["kind of study", "metrics", "studies", *_HEADS], by_world),
        "By other coefficients, with holes, and beside metrics that do follow people (those are not"
        " counted), of 4 x 30 and 8 x 30; and a row of the first table with other draws:",
        "",
        *table(["kind of study", "studies", *_HEADS], more),
        "Each document has the text of one system only; texts per system:",
        "",
        *table(["texts", *_OF_TWO], nested),
        "Single statements, of which people mark 4 elements each, most of them right. People and"
        " metrics find documents, systems and texts better or worse, each their own; documents are"
        " clusters. The last column is of another simulation, where half of a metric's variance is"
        " people's: how often its 95 % interval over statements holds its mean over such studies:",
        "",
        *table(
            [
                "documents x systems x statements of a text",
                *_OF_TWO,
                "intervals that hold r",
            ],
            of_statements,
        ),
    ]


def _alike(results: dict) -> list[str]:
    shapes_of = {kind.name: kind.shape for kind in (*alike.DECLARED, *alike.DETECTED)}
    known = {kind.name for kind in alike.DECLARED}

    def rows_of(wanted: str) -> list[list[Any]]:
        rows = []
        for (name, n), every in _of_name(results, wanted, 2).items():
            noticed = float(np.mean([seen for _, seen in every]))
            shape = shapes_of.get(name.partition(";")[0], (0, 0))
            levels = _by_level([claims for claims, _ in every])
            rows.append([name, _by(shape), n, *levels, _percent(noticed)])
        return rows

    rows = rows_of("alike")
    by_user = [row[:-1] for row in rows if row[0].partition(";")[0] in known]
    seen = [row for row in rows if row[0].partition(";")[0] not in known]
    noticed = list(_of(results, "noticed").values())
    powers = [
        [name, *map(_percent, shares)]
        for (name,), shares in _of(results, "alike power").items()
    ]
    heads = ["kind of study", "systems x documents", "metrics", *_HEADS]
    return [
        "## Documents and systems that are not alike",
        "",
        f"{PROMISED} studies a row, by ranks half as many. People and all metrics find"
        " some topics easier, or like one data set more, each its own (standard deviation .7, or 1"
        " between data sets; the text's own quality has 1), and have nothing else in common. The"
        " promise is the same.",
        "",
        "The user says what belongs together (`cluster`, `family`, `strata`):",
        "",
        *table(heads, by_user),
        "The data show it; the last column says in how many studies they do:",
        "",
        *table([*heads, "found"], seen),
        "The same where nobody says what belongs together: the last column says in how many"
        " studies something is found. Of few metrics topics often are not; still a metric that"
        " only knows the topic does not look good, as systems share documents. Where each"
        " document is by one system it can, which a warning says:",
        "",
        *table([*heads, "found"], rows_of("unsaid")),
        f"Where all are alike, something is found or suspected in {_percent(np.mean(noticed))} of"
        f" studies (the most of any design and kind of {PROMISED // 9}:"
        f" {_percent(np.max(noticed))}).",
        "",
        "Power, global level: a metric that would correlate .5 with people if all were alike, among"
        " 19 that know nothing. 100 studies.",
        "",
        *table(["kind of study", "`use`", "`promising`"], powers),
    ]


def _below(results: dict) -> list[str]:
    cells = _of(results, "below")
    rows = []
    for shape, world, c, n in dict.fromkeys(key[:-1] for key in cells):
        name = world if c == "pearson" else f"{world}; {c}"
        rates = [_percent(cells[shape, world, c, n, level]) for level in LEVELS]
        rows.append([_by(shape), name, n, *rates])
    return [
        "## `use` means useful",
        "",
        "All metrics truly correlate .29 with people, just below the useful .30: in"
        f" how many studies is any called one to use? At most 2.5 % is promised. {PROMISED} studies"
        f" a cell, of which one standard error is {100 * np.sqrt(0.025 * 0.975 / PROMISED):.1f}"
        " points. With fewer than 6 systems nothing is.",
        "",
        *table(["systems x documents", "kind of study", "metrics", *LEVELS], rows),
    ]


def _powers(results: dict) -> list[str]:
    cells = _of(results, "power")

    def row(shape, level, strengths=STRENGTHS, coefficient="pearson", primary=False):
        shares = [cells[shape, level, r, coefficient, primary] for r in strengths]
        name = f"{_by(shape)}, {level}"
        name += "" if coefficient == "pearson" else f", {coefficient}"
        name += ", primary" if primary else ""
        return [
            name,
            *(f"{100 * used:.0f} / {100 * more:.0f}" for used, more in shares),
        ]

    rows = [row(shape, level) for shape, level in POWERS]
    rows.append(row((8, 40), "global", primary=True))
    rows += [row((8, 40), "global", coefficient=c) for c in ("spearman", "kendall")]
    system = (0.7, 0.85, 0.95)
    between = [row(shape, "system", system) for shape in ((8, 40), (16, 100))]
    return [
        "## What it takes to be used",
        "",
        "Per cent of studies that call a metric `use` / `promising`, by its true correlation with"
        " people. Beside it stand 19 metrics that know nothing; it has to stand out among all 20,"
        " unless it is the primary one, which was named before anybody looked. 200 studies, by"
        " ranks 100.",
        "",
        *table(["study", *(f"r = {r}" for r in STRENGTHS)], rows),
        *table(["between systems", *(f"r = {r}" for r in system)], between),
    ]


def _shapes(results: dict) -> list[str]:
    places = list(product(SHAPED, LEVELS))

    def rows_of(wanted: str) -> list[list[str]]:
        cells = _of(results, wanted)
        shares = {
            name: [
                cells.get((name, shape), {}).get(level, np.nan)
                for shape, level in places
            ]
            for name, _ in cells
        }
        return [[name, *map(_percent, every)] for name, every in shares.items()]

    heads = ["shape", *(f"{_by(shape)}, {level}" for shape, level in places)]
    return [
        "## Confounds of any shape",
        "",
        "A metric is noisy length, seen through a curve, and people like length through the same"
        " curve: how often is it `explained by` length? At least 95 % is promised for texts, 80 %"
        f" between 16 systems; 8 systems can show little. {SHAPED_RUNS} studies a cell.",
        "",
        *table(heads, rows_of("caught")),
        "A true metric (r about .5) beside length (about .3 with both): how often is it wrongly"
        " explained by length? At most 5 % is promised.",
        "",
        *table(heads, rows_of("wrongly")),
    ]


def _covers(results: dict) -> list[str]:
    cells, rows = _of(results, "covers"), []
    for level, shape in product(LEVELS, COVERED):
        every = [cells[level, shape, world.name] for world in COVERED_WORLDS]
        ends = (" / ".join(_percent(c[place]) for c in every) for place in (0, 1))
        width = "–" if np.isnan(every[0].width) else f"{every[0].width:.2f}"
        rows.append([level, _by(shape), *ends, width])
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
        *table(
            [*_PLACE[::-1], "other systems and documents", "these systems", "width"],
            rows,
        ),
    ]


def _decisions(results: dict) -> list[str]:
    margin = [
        [_by(shape), level, _percent(value)]
        for (shape, level), value in _of(results, "margin").items()
    ]
    flags = [
        [_by(shape), *map(_percent, shares)]
        for (shape,), shares in _of(results, "flag").items()
    ]
    best_rows = [
        [
            _by(s),
            level,
            f"{v['plain']:+.3f}",
            f"{v['corrected']:+.3f}",
            _percent(v["covers"]),
        ]
        for (s, level), v in _of(results, "best").items()
    ]
    return [
        "## As good as a rater, and the best of many",
        "",
        "**Below a rater.** All of 20 metrics lie .05, the margin, below a rater: how often is any"
        f" called as good as one? At most 5 % is promised. {PROMISED} studies.",
        "",
        *table([*_PLACE, "any called as good"], margin),
        "**A flag of rare faults**, which is right where it fires and says nothing in most"
        " documents: how often is it called as good as a rater, and how often one to use? Of 16"
        " systems some text is flagged in most documents, and then the flag is a useful metric."
        f" {PROMISED} studies.",
        "",
        *table(["systems x documents", "as good", "`use`"], flags),
        "**The best of many.** All of 20 metrics are equally good: how far the best one's value is"
        " too high, as it is and corrected for the choice, and how often the interval beside the"
        " corrected value holds the truth. 100 studies.",
        "",
        *table([*_PLACE, "plain", "corrected", "covers"], best_rows),
    ]


def page(results: dict, widths: Any) -> str:
    """The page from the results of `simulate`."""
    head = [
        "# Do verdicts, intervals and tests keep their word?",
        "",
        "Simulated studies with a known truth, at the 5 % level and with 95 % intervals. Written by"
        " `python -m tests.calibration.page`; `pytest -m calibration` checks some of it again.",
        "",
    ]
    whole = {section: value for (section, key), value in results.items() if not key}
    of_page = (_false, _alike, _below, _powers, _shapes, _decisions, _covers)
    parts = [
        *(section(results) for section in of_page),
        doubts.page_section(doubts.read_results()),
        simulations.section(whole["other"], widths),
        facet_weights.section(whole["weights"]),
        standing_out.section(whole["raters"]),
        best.section(whole["behind the best"]),
        drift.section(whole["drift"]),
        comparisons.section(*whole["comparisons"]),
        judge_check.section(whole["checks"]),
        label_kinds.section(whole["kinds"]),
        number_kinds.section(whole["numbers"]),
        preference_kinds.section(whole["preferences"]),
        ranking_kinds.section(whole["rankings"]),
        annotator_test.section(whole["replaces"]),
        next_labels.section(whole["next"]),
        _cards(whole["cards"]),
    ]
    sections = "\n".join(line for part in parts for line in part)
    return "\n".join([*head, *summary(sections), sections])


def _cards(rates: list[simulations.Rate]) -> list[str]:
    """Coverage of each number: its worst world, the mean of the worlds, and the widest one."""
    worlds = {"worst world": 0, "mean of worlds": 1, "widest world": 2}
    numbers: dict[str, list[simulations.Rate | None]] = {}
    for rate in rates:
        what, _, world = rate.what.removesuffix(": covers").rpartition(", ")
        if world not in worlds:  # a number of one world
            what, world = f"{what}, {world}", "worst world"
        numbers.setdefault(what, [None] * len(worlds))[worlds[world]] = rate
    rows = []
    for what, of_worlds in numbers.items():
        shares = [f"{100 * rate.share:.1f}" if rate else "" for rate in of_worlds]
        bounds = [
            f"{100 * r.low:.0f} to {100 * r.high:.0f}" for r in of_worlds[:2] if r
        ]
        within = all(rate.low <= rate.share <= rate.high for rate in of_worlds if rate)
        rows.append([what, *shares, "; ".join(bounds), "yes" if within else "NO"])
    return [
        "## Judges' cards",
        "",
        "Per cent of the 95 % intervals that hold the truth, for each number of a card over 16"
        " worlds. Promised is the range of every world, and of the mean. Of 20 texts some shares"
        " rest on two or three, where no interval can be exact.",
        "",
        *table(
            ["what", "worst world", "mean", "widest world", "promised", "kept"], rows
        ),
    ]


def main() -> None:
    """Simulate, and write the tables, their figure and their digest."""
    _, widths = simulations.judged_means_cover()
    gaps, curves = simulations.power_curves()
    simulations.draw(gaps, curves, simulations.DOCS / "figures" / "power.png")
    results = simulate()
    for (cell,), rates in _of(results, "doubts").items():
        doubts.keep(cell, "after", rates)
    RATES.write_text(page(results, widths), encoding="utf-8")
    write_page()


if __name__ == "__main__":
    main()
