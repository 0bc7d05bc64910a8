"""How often `metassay compare` says that something changed, where nothing did and where it did.

`python -m tests.calibration.comparisons` prints the tables; a minute or two.

A study has 4 systems and 20 metrics, each of which is a mean over 8 of the same 12
answers of a judge, so that metrics are correlated, in the same documents before and
after. Where nothing changed, before and after are two runs of the same thing.
"""

from itertools import product

import numpy as np

from metassay.statistics.changes import mean_interval
from metassay.tracking.comparison.differences import (
    IMPROVED,
    NOT_SHOWN,
    REGRESSED,
    SAME,
    UNKNOWN,
    ComparisonOptions,
    Rule,
)

DOCUMENTS = (5, 10, 26, 100)
SYSTEMS, METRICS, CLAIMS, READ = 4, 20, 12, 8
STUDIES, PERMUTATIONS = 500, 2000
# the share of answers that are others when the judge is asked again
CHANGES_ITS_MIND = 0.03
WRONG = (1 - np.sqrt(1 - 2 * CHANGES_ITS_MIND)) / 2  # so that two runs differ so often
LOST = (0.05, 0.1, 0.2)  # of a system's true claims, where one regressed
RULE = Rule(ComparisonOptions(permutations=PERMUTATIONS), 1)


def _metrics(answers, rng_of_study):
    """(systems x metrics, documents) from answers (systems, documents, claims)."""
    read = np.array([rng_of_study.permutation(CLAIMS)[:READ] for _ in range(METRICS)])
    return (
        answers[:, :, read]
        .mean(axis=3)
        .transpose(0, 2, 1)
        .reshape(SYSTEMS * METRICS, -1)
    )


def _judged(true, rng):
    return true ^ (rng.random(true.shape) < WRONG)


def _claims(documents, rng, ease=0.15):
    """Whether each claim is true: some systems are better, some documents are easier."""
    share = (
        0.7
        + 0.05 * rng.normal(size=(SYSTEMS, 1))
        + ease * rng.normal(size=(1, documents))
    )
    return rng.random((SYSTEMS, documents, CLAIMS)) < share[:, :, None]


def judge_again(documents, rng):
    """The same texts; the judge changes its mind on 3 % of its answers."""
    true = _claims(documents, rng)
    return _judged(true, rng), _judged(true, rng)


def written_again(documents, rng):
    """Systems whose texts are drawn anew each time: every answer may be another one."""
    share = np.clip(0.7 + 0.15 * rng.normal(size=(SYSTEMS, documents, CLAIMS)), 0, 1)
    return tuple(_judged(rng.random(share.shape) < share, rng) for _ in range(2))


def failing(documents, rng):
    """The judge again, and each time a tenth of the texts are empty: nothing in them is true."""
    true = _claims(documents, rng)
    return tuple(
        _judged(true, rng) & (rng.random((SYSTEMS, documents, 1)) >= 0.1)
        for _ in range(2)
    )


def shared_failures(documents, rng):
    """As `failing`, but a document is empty for all systems at once."""
    true = _claims(documents, rng)
    return tuple(
        _judged(true, rng) & (rng.random((1, documents, 1)) >= 0.1) for _ in range(2)
    )


NOTHING_CHANGED = {
    "the judge changes its mind on 3 %": judge_again,
    "texts are written anew": written_again,
    "a tenth of the texts fail, and the judge": failing,
    "a tenth of the documents fail for all": shared_failures,
}


def regressed(documents, rng, lost):
    """The judge again, and the second system loses a share of its true claims."""
    true = _claims(documents, rng)
    after = true.copy()
    after[1] &= rng.random(after[1].shape) >= lost
    return _judged(true, rng), _judged(after, rng)


def _verdicts(before, after, rng):
    seed = rng.integers(2**32)
    scores = [
        _metrics(judged, np.random.default_rng(seed)) for judged in (before, after)
    ]
    change = scores[1] - scores[0]
    change[np.abs(change) < 1e-9] = 0.0
    tests = RULE.test(change, np.arange(change.shape[1]))
    verdicts = RULE.verdicts(change, tests, ["higher"] * len(change))
    return np.array(verdicts).reshape(SYSTEMS, METRICS)


def _shown(verdicts):
    return np.isin(verdicts, (REGRESSED, IMPROVED))


def false_alarms(studies=4 * STUDIES, seed=0):
    """Rows: what happens, documents, the share of studies in which any of the 80 rows is shown."""
    rows = []
    for (name, world), documents in product(NOTHING_CHANGED.items(), DOCUMENTS):
        rng = np.random.default_rng([seed, documents, len(name)])
        alarms = [
            _shown(_verdicts(*world(documents, rng), rng)).any() for _ in range(studies)
        ]
        rows.append((name, documents, float(np.mean(alarms))))
    return rows


def power(studies=STUDIES, seed=1):
    """Rows: share of claims lost, documents, how often the system is named as
    regressed, how many of its 20 metrics are then shown, and how often another system
    is named.
    """
    rows = []
    for lost, documents in product(LOST, DOCUMENTS):
        rng = np.random.default_rng([seed, documents, int(1000 * lost)])
        named, metrics, others = [], [], []
        for _ in range(studies):
            verdicts = _verdicts(*regressed(documents, rng, lost), rng)
            worse = (verdicts == REGRESSED).sum(axis=1)
            named.append(worse[1] > 0)
            metrics += [worse[1]] if worse[1] else []
            others.append(_shown(np.delete(verdicts, 1, axis=0)).any())
        many = float(np.mean(metrics)) if metrics else 0.0
        rows.append(
            (lost, documents, float(np.mean(named)), many, float(np.mean(others)))
        )
    return rows


def _normal(documents, rng):
    return 0.1, rng.normal(0.1, 0.2, documents)


def _minds(documents, rng):
    true = rng.random((documents, READ)) < 0.7
    return 0.0, _judged(true, rng).mean(axis=1) - _judged(true, rng).mean(axis=1)


def _fifth_fail(documents, rng):
    lost = np.clip(rng.normal(0.7, 0.15, documents), 0, 1)
    return -0.2 * 0.7, np.where(rng.random(documents) < 0.2, -lost, 0.0)


def _tenth_fails(documents, rng):
    lost = np.clip(rng.normal(0.7, 0.15, documents), 0, 1)
    rest = rng.normal(0, 0.05, documents)
    return -0.1 * 0.7, np.where(rng.random(documents) < 0.1, -lost, rest)


def _rare(documents, rng):
    return -0.05, np.where(rng.random(documents) < 0.05, -1.0, 0.0)


def _graded(documents, rng):
    return -0.2, rng.choice([-1.0, 0.0, 1.0], p=[0.3, 0.6, 0.1], size=documents)


def _skewed(documents, rng):
    return -0.1, -rng.exponential(0.1, documents)


DIFFERENCES = {
    "normal, mean 0.1, SD 0.2": _normal,
    "the judge changes its mind on 3 % of 8 answers": _minds,
    "grades: three tenths one lower, one tenth one higher": _graded,
    "a fifth of the texts fail, the others stay": _fifth_fail,
    "a twentieth of the texts fail, the others stay": _rare,
    "a tenth of the texts fail, the others move a little": _tenth_fails,
    "all get worse, exponentially": _skewed,
}


def coverage(studies=4 * STUDIES, seed=2):
    """Rows: the differences, and by number of documents how often there is an interval,
    and how often it has the mean then (NaN where there is one in fewer than 50
    comparisons).
    """
    rows = []
    for name, world in DIFFERENCES.items():
        shares = []
        for documents in DOCUMENTS:
            rng = np.random.default_rng([seed, documents, len(name)])
            drawn = [world(documents, rng) for _ in range(studies)]
            low, high = mean_interval(
                np.array([values for _, values in drawn]),
                np.arange(len(drawn[0][1])),
                confidence=0.95,
            )
            mean, there = drawn[0][0], np.isfinite(low)
            covered = (low[there] - 1e-12 <= mean) & (mean <= high[there] + 1e-12)
            share = float(np.mean(covered)) if covered.size >= 50 else np.nan
            shares.append((float(np.mean(there)), share))
        rows.append((name, *shares))
    return rows


def words(studies=STUDIES // 5, seed=3):
    """Rows: share of claims lost (0: by none), documents, and of the rows of the system
    that lost them the shares shown, not shown though they could be, not tell-able, and
    the same.
    """
    rows = []
    for lost, documents in product((0.0, *LOST), DOCUMENTS):
        rng = np.random.default_rng([seed, documents, int(1000 * lost)])
        verdicts = []
        for _ in range(studies):
            verdicts += _verdicts(*regressed(documents, rng, lost), rng)[1].tolist()
        of = [
            np.isin(verdicts, some)
            for some in ((REGRESSED, IMPROVED), NOT_SHOWN, UNKNOWN, SAME)
        ]
        rows.append((lost, documents, *(float(np.mean(mask)) for mask in of)))
    return rows


def section(alarms, powers, covers, says):
    """The section of the page, as lines."""
    several = " | ".join(map(str, DOCUMENTS))
    rule = "|---|" + "---:|" * len(DOCUMENTS)
    lines = [
        "## Comparisons of two states",
        "",
        f"Where nothing changed: {SYSTEMS} systems, {METRICS} correlated metrics, before and after"
        f" two runs of the same thing; the share of {4 * STUDIES} comparisons in which any of the"
        f" {SYSTEMS * METRICS} rows is called regressed or improved. 5 % is promised. With 5"
        " documents no p can be below 1/16, so that all one hears is `cannot tell`.",
        "",
        f"| documents | {several} |",
        rule,
    ]
    for name in NOTHING_CHANGED:
        shares = [f"{share:.1%}" for world, _, share in alarms if world == name]
        lines.append(f"| {name} | {' | '.join(shares)} |")
    lines += [
        "",
        "Where one system lost a share of its true claims, and the judge changes its mind on 3 %:"
        " how often that system is named as regressed (in brackets how many of its 20 metrics then"
        " are), and how often another system is named.",
        "",
        f"| claims lost, documents | {several} |",
        rule,
    ]
    for lost in LOST:
        some = [row for row in powers if row[0] == lost]
        named = [
            f"{row[2]:.0%}" + (f" ({row[3]:.0f})" if row[2] else "") for row in some
        ]
        lines.append(f"| {lost:.0%}: named | {' | '.join(named)} |")
        others = " | ".join(f"{row[4]:.1%}" for row in some)
        lines.append(f"| {lost:.0%}: another is | {others} |")
    lines += [
        "",
        f"What is said of the {METRICS} rows of that system, where 80 are looked at ({STUDIES // 5}"
        " comparisons each): a difference is shown; none is, and could be; `cannot tell`, since all"
        " its changes in one direction would show nothing; and the same numbers.",
        "",
        f"| claims lost, documents | {several} |",
        rule,
    ]
    for lost in sorted({row[0] for row in says}):
        some = [row[2:] for row in says if row[0] == lost]
        cells = [
            " / ".join(f"{100 * share:.0f}" for share in shares) + " %"
            for shares in some
        ]
        lines.append(f"| {lost:.0%} | {' | '.join(cells)} |")
    lines += [
        "",
        f"The interval of a row's mean difference (Student's, 95 %), {4 * STUDIES} comparisons"
        " each: how often it has the mean, and in brackets how often there is one; there is none"
        " where fewer than 6 documents changed, or all by as much. What rarely happens to a text is"
        " often in none of a handful of documents. Where the others do not change, there is no"
        " interval then; where they move a little, there is, and it is too narrow.",
        "",
        f"| differences, documents | {several} |",
        rule,
    ]
    for name, *shares in covers:
        cells = [
            f"{covered:.1%} ({there:.0%})" if np.isfinite(covered) else f"({there:.0%})"
            for there, covered in shares
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return [*lines, ""]


def rates():
    """All four tables."""
    return false_alarms(), power(), coverage(), words()


if __name__ == "__main__":
    print("\n".join(section(*rates())))
