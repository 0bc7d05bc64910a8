"""Worlds with a known truth, and how often tests and intervals are right in them.

Every simulation has a seed of its own, so that tests/calibration/rates.md is the same on every
run; see `tests/calibration/page.py`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from metassay.statistics import resampling
from metassay.statistics.correlation import correlate
from metassay.statistics.resampling import percentiles
from metassay.statistics.shares import prediction_powered_mean, rogan_gladen
from metassay.statistics.significance import common, permutation_test, williams_of

SYSTEMS, DOCUMENTS = 16, 100
ALPHA = 0.05
DOCS = Path(__file__).parents[2] / "docs"


class Rate(NamedTuple):
    """How often something happened in a simulation."""

    what: str
    share: float
    n: int
    low: float  # what was promised
    high: float


def trio(rng, *, gap=0.0, shape=(SYSTEMS, DOCUMENTS), of_system=0.7):
    """Metrics a, b and people: quality is the system's and the text's; b is noisier by `gap`."""
    quality = of_system * rng.normal(size=(shape[0], 1)) + rng.normal(size=shape)
    human = quality + 0.5 * rng.normal(size=shape)
    a = quality + rng.normal(size=shape)
    b = quality + (1.0 + gap) * rng.normal(size=shape)
    return a, b, human


def flat_trio(rng, *, gap=0.0, n=SYSTEMS * DOCUMENTS):
    """As `trio`, but items independent: one document each."""
    return trio(rng, gap=gap, shape=(n, 1), of_system=0.0)


def permutation_rejects(
    level, resample, *, gap=0.0, runs=400, seed=0, shape=(SYSTEMS, DOCUMENTS)
):
    rng = np.random.default_rng([seed, 1])
    hits = 0
    for _ in range(runs):
        a, b, human = trio(rng, gap=gap, shape=shape)
        result = permutation_test(
            a, b, human, level, "pearson", resample=resample, n=199, rng=rng
        )
        hits += result.p <= ALPHA
    return hits / runs


def williams_rejects(*, gap=0.0, n=100, runs=4000, seed=0):
    rng = np.random.default_rng([seed, 2])
    hits = 0
    for _ in range(runs):
        trio = common(*flat_trio(rng, gap=gap, n=n)).select(0)
        hits += williams_of(trio, "global", "pearson").p <= ALPHA
    return hits / runs


def bootstrap_covers(level, coefficient, *, resample="documents", runs=500, seed=0):
    """Coverage of the correlation that endless documents would show for the same systems."""
    rng = np.random.default_rng([seed, 3])
    effect, bias = 0.7 * rng.normal(size=(2, SYSTEMS, 1))

    def world(documents):
        shared = 0.4 * rng.normal(size=(1, documents))
        quality = effect + shared + rng.normal(size=(SYSTEMS, documents))
        noise = rng.normal(size=(2, SYSTEMS, documents))
        return quality + bias + noise[0], quality + 0.5 * noise[1]

    truth = correlate(*world(40_000), level, coefficient).value
    hits = 0
    for _ in range(runs):
        metric, human = world(DOCUMENTS)
        draws = resampling.draw(metric.shape, resample=resample, n=400, rng=rng)
        values = resampling.correlate_resamples(
            metric, human, level, coefficient, draws
        )
        low, high = percentiles(values[:, None], 0.95)
        hits += low[0] <= truth <= high[0]
    return hits / runs


def judged(rng, n, labelled):
    """A judge that is .1 too kind, on n texts with true scores around .6; people saw some."""
    truth = np.clip(rng.normal(0.6, 0.15, n), 0, 1)
    judge = np.clip(truth + 0.1 + rng.normal(0, 0.08, n), 0, 1)
    human = np.full(n, np.nan)
    human[:labelled] = truth[:labelled]
    return judge, human


def judged_means_cover(*, runs=3000, seed=0):
    """Shares of the powered, the tuned powered, people's own and the naive intervals, widths."""
    rng = np.random.default_rng([seed, 5])
    truth = float(np.mean(np.clip(rng.normal(0.6, 0.15, 2_000_000), 0, 1)))
    hits, width = np.zeros(4), np.zeros(4)
    for _ in range(runs):
        judge, human = judged(rng, 400, 80)
        means = [
            prediction_powered_mean(judge, human, confidence=0.95, weight=w)
            for w in (1, None, 0)
        ]
        ends = [(f.low, f.high) for f in means]
        reach = 1.96 * np.std(judge) / np.sqrt(judge.size)
        ends.append((np.mean(judge) - reach, np.mean(judge) + reach))
        hits += [low <= truth <= high for low, high in ends]
        width += [high - low for low, high in ends]
    return hits / runs, width / runs


def rogan_gladen_covers(*, share=0.3, runs=3000, seed=0):
    """Shares of the corrected and of the naive interval; sensitivity .85, specificity .8."""
    rng = np.random.default_rng([seed, 6])
    hits = np.zeros(2)
    for _ in range(runs):
        truth = rng.random(500) < share
        judge = np.where(rng.random(500) < np.where(truth, 0.85, 0.2), 1.0, 0.0)
        human = np.where(np.arange(500) < 120, truth, np.nan)
        corrected = rogan_gladen(judge, human, confidence=0.95)
        mean = np.mean(judge)
        reach = 1.96 * np.sqrt(mean * (1 - mean) / 500)
        hits += [corrected.low <= share <= corrected.high, abs(mean - share) <= reach]
    return hits / runs


def rates() -> list[Rate]:
    """Everything that tests/calibration/rates.md tabulates."""
    null = (0.04, 0.06)
    cover = (0.93, 0.97)
    rows = []
    for level, resample, runs in (
        ("system", "systems", 4000),
        ("document", "documents", 3000),
        ("global", "documents", 4000),
        ("global", "both", 4000),
    ):
        share = permutation_rejects(level, resample, runs=runs)
        rows.append(
            Rate(f"permutation, {level} level, {resample}: rejects", share, runs, *null)
        )
    rows.append(
        Rate(
            "Williams, 100 independent items: rejects", williams_rejects(), 4000, *null
        )
    )
    for level, coefficient in (
        ("global", "pearson"),
        ("global", "spearman"),
        ("document", "pearson"),
        ("system", "pearson"),
    ):
        runs = 300 if coefficient == "spearman" else 600  # ranks take long
        share = bootstrap_covers(level, coefficient, runs=runs)
        what = f"bootstrap over documents, {level} {coefficient}: covers"
        rows.append(Rate(what, share, runs, *cover))
    hits, _ = judged_means_cover()
    names = (
        "prediction-powered",
        "prediction-powered, tuned",
        "people alone (80 texts)",
    )
    rows += [
        Rate(f"{name}: covers", share, 3000, *cover)
        for name, share in zip(names, hits, strict=False)
    ]
    rows.append(Rate("the judge's plain mean: covers", hits[3], 3000, 0.0, 0.05))
    corrected = rogan_gladen_covers()
    rows.append(Rate("Rogan-Gladen: covers", corrected[0], 3000, *cover))
    rows.append(Rate("the judge's plain share: covers", corrected[1], 3000, 0.0, 0.05))
    return rows


def power_curves():
    """Rejections against b's extra noise: name -> (gaps, shares)."""
    gaps = np.array([0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75])
    tests: dict[str, Callable[[float], float]] = {
        "permutation, system level, systems": lambda gap: permutation_rejects(
            "system", "systems", gap=gap, runs=200
        ),
        "permutation, document level, documents": lambda gap: permutation_rejects(
            "document", "documents", gap=gap, runs=200
        ),
        "permutation, global level, documents": lambda gap: permutation_rejects(
            "global", "documents", gap=gap, runs=200
        ),
        "Williams, 100 independent items": lambda gap: williams_rejects(
            gap=gap, runs=600
        ),
    }
    return gaps, {name: [of(gap) for gap in gaps] for name, of in tests.items()}


def draw(gaps, curves, path: Path) -> None:
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    for (name, shares), marker in zip(curves.items(), "osD^", strict=True):
        axes.plot(gaps, shares, marker=marker, label=name)
    axes.axhline(ALPHA, color="0.5", linewidth=0.8, linestyle=":")
    axes.set(
        xlabel="extra noise of the worse metric (its noise is 1 + this)",
        ylabel="share of studies that find it",
        ylim=(0, 1.02),
    )
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150, metadata={"Software": None})


def section(rows: list[Rate], widths) -> list[str]:
    """This part of tests/calibration/rates.md."""
    lines = [
        "## Tests of metric against metric, and corrected means",
        "",
        "Unless said otherwise of 16 systems and 100 documents. The error is one standard error of"
        " the share.",
        "",
        *rates_table(rows),
        "With 80 of 400 texts labelled, the prediction-powered interval is"
        f" {widths[0]:.3f} wide (tuned {widths[1]:.3f}), people's alone {widths[2]:.3f};"
        f" the judge's plain one is {widths[3]:.3f} wide, around a mean that is .1 too high.",
        "",
        "The bootstrap (of `significance` and of correlations grouped by part) is over documents:"
        " the truth that it should cover is the correlation that endless documents would show for"
        " the same systems. With few systems it covers far less. The intervals of `correlations`"
        " and `certificates` are no bootstrap.",
        "",
        "![Share of studies that find the worse metric](../../docs/figures/power.png)",
        "",
        "Both metrics see the same quality; one adds noise of standard deviation 1, the other"
        " more.",
        "",
    ]
    return lines


def rates_table(rows: list[Rate]) -> list[str]:
    """One line per rate: what was measured, what was promised, and whether it was kept."""
    lines = ["| what | share | error | promised | kept |", "|---|---:|---:|---|---|"]
    for row in rows:
        error = np.sqrt(row.share * (1 - row.share) / row.n)
        as_promised = "yes" if row.low <= row.share <= row.high else "NO"
        lines.append(
            f"| {row.what} | {100 * row.share:.1f} % | {100 * error:.1f} |"
            f" {100 * row.low:.0f} to {100 * row.high:.0f} % | {as_promised} |"
        )
    return [*lines, ""]
