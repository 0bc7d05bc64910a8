"""Claim scores by our judges beside those that DocLens printed for its evaluators.

Another judge means another level, so values stand side by side and are not subtracted. What can be
compared is the order of the systems: of each of our judges with each printed evaluator, over the
systems whose texts are the same here and there.
"""

from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from metassay.format.frames import rows
from metassay.format.numbers import counted, probability
from metassay.labelled.results import Cards
from metassay.reporting.cells import AUTHORS, SECTIONS, Compared, Comparison, Part, compare
from metassay.reporting.section import texts
from metassay.statistics.independence import rank_order
from metassay.tables.names import NO_JUDGE

QUANTITIES = {"Claim Recall": "claim_recall", "Claim Precision": "claim_precision"}
PRINTED = " (printed)"
SCORES = (
    *("metric", "section", "system", "author", "judge"),
    *("macro", "low", "high", "micro"),
    *("n_documents", "n_undefined", "n_expected", "n_failed"),
)
RANKS = (
    *("metric", "section", "judge", "mean", "evaluator", "n"),
    *("spearman", "spearman_p", "kendall", "kendall_p", "smallest_p"),
)


def claim_tables(
    one: Comparison, printed: pd.DataFrame, leaderboard: pd.DataFrame
) -> tuple[int, Sequence[Part]]:
    """Scores by judge and as printed, and how far ranks agree; and how many printed have no row.

    Scores (SCORES and a column `EVALUATOR (printed)` per evaluator; all 0 to 1) have a row per
    metric, section, system and judge; printed values are repeated for each judge. In ranks (RANKS)
    `judge` is one of ours, by its `macro` or `micro` values, or a printed evaluator, for the
    yardstick.
    """
    scores, ranks, n_not_run = compare_claims(printed, leaderboard)
    lacks = f"{counted(n_not_run, 'printed value')} of other texts or measures are left out."
    return n_not_run, [
        ("", "claims", scores, {"says": [f"{one.title}. {one.says}", lacks]}),
        ("_ranks", "claim_ranks", ranks, {"says": _too_few(ranks)}),
    ]


def compare_claims(
    printed: pd.DataFrame, leaderboard: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame, int]:
    """The frames of `claim_tables`, and how many printed values have no row."""
    known, n_not_run = _printed_claims(printed)
    evaluators = list(dict.fromkeys(evaluator for *_, evaluator in known))
    columns = ("metric", "part", "author", "judge", *SCORES[5:])
    made = []
    for metric, part, author, judge, *values in rows(leaderboard, *columns):
        of = [known.get((metric, part, author, e)) for e in evaluators]
        if judge != NO_JUDGE and any(value is not None for value in of):
            made.append([metric, part, _SYSTEMS[author], author, judge, *values, *of])
    names = [*SCORES, *(evaluator + PRINTED for evaluator in evaluators)]
    scores = pd.DataFrame(made, columns=names)
    keys = scores[["metric", "section", "author", "judge"]].copy()
    for name, order in _ORDERS.items():  # as the paper has them, then judges by name
        keys[name] = keys[name].map(order.index)
    scores = scores.loc[keys.sort_values(list(keys.columns)).index].reset_index(drop=True)
    if scores.empty:
        return scores, pd.DataFrame(columns=list(RANKS)), n_not_run + len(known)
    numbers = [name for name in names[5:] if not name.startswith("n_")]
    scores = scores.astype({name: "float64" for name in numbers})
    shown = scores.drop_duplicates(["metric", "section", "author"])[names[-len(evaluators) :]]
    unused = len(known) - int(shown.notna().sum().sum())
    return scores, _rank_agreements(scores, evaluators), n_not_run + unused


_SYSTEMS = {author: f"{system}, {setting}" for (system, setting), author in AUTHORS.items()}
_ORDERS: dict[str, list[str]] = {
    "metric": list(QUANTITIES.values()),
    "section": list(SECTIONS.values()),
    "author": list(_SYSTEMS),
}


def _printed_claims(printed: pd.DataFrame) -> tuple[dict[tuple[str, str, str, str], float], int]:
    """Printed claim scores, 0 to 1, of texts that we have; and how many others there are."""
    known, others = {}, 0
    columns = ("quantity", "split_or_section", "system_or_metric", "setting", "evaluator", "value")
    for quantity, part, system, setting, evaluator, value in rows(printed, *columns):
        author, metric = AUTHORS.get((system, setting)), QUANTITIES.get(quantity)
        if not value:
            continue
        if author is None or metric is None:
            others += 1
        else:
            known[metric, SECTIONS[part], author, evaluator] = round(float(value) / 100, 6)
    return known, others


def _rank_agreements(scores: pd.DataFrame, evaluators: list[str]) -> pd.DataFrame:
    made = []
    for (metric, part), mine in scores.groupby(["metric", "section"], sort=False):
        by_author = mine.drop_duplicates("author").set_index("author")
        theirs = {e: by_author[e + PRINTED] for e in evaluators}
        ours = {
            (str(judge), mean): one.set_index("author")[mean]
            for judge, one in mine.groupby("judge")
            for mean in ("macro", "micro")
        }
        ours |= {(evaluator + PRINTED, "printed"): theirs[evaluator] for evaluator in evaluators}
        for ((judge, mean), values), evaluator in product(ours.items(), evaluators):
            if judge != evaluator + PRINTED:
                agreement = _agreement(values.reindex(by_author.index), theirs[evaluator])
                made.append([metric, part, judge, mean, evaluator, *agreement])
    return pd.DataFrame(made, columns=list(RANKS))


def _agreement(ours: "pd.Series[float]", theirs: "pd.Series[float]") -> list[float]:
    rng = np.random.default_rng(0)  # the same orders, if too many to try all, in each comparison
    rho, tau = (
        rank_order(ours.to_numpy(), theirs.to_numpy(), coefficient, n_orders=9_999, rng=rng)
        for coefficient in ("spearman", "kendall")
    )
    return [rho.n, round(rho.value, 12), rho.p, round(tau.value, 12), tau.p, rho.smallest_p]


def _too_few(ranks: pd.DataFrame) -> list[str]:
    """Said first where no p could be small, whatever the rankings."""
    defined = ranks.dropna(subset=["smallest_p"])
    if defined.empty:
        return ["Too few systems have texts here and values in print to compare any ranking."]
    smallest = defined["smallest_p"].min()
    if smallest < 0.05:
        return []
    n = counted(int(defined["n"].max()), "system")
    return [
        f"Only {n} can be compared, so that no p can be below {probability(smallest)}: a rank"
        " correlation of 1 with so few is weak evidence that a judge ranks systems as another."
    ]


# Our judges' accuracy beside what DocLens printed for its evaluators, on such tests.

PRINTED_SOURCE = "printed"
JUDGE_COLUMNS = ("judge", "source", "column", "value", "low", "high", "n")
JUDGE_COMPARISONS = {
    name: Comparison(**block) for name, block in texts("published.yaml")["judges"].items()
}


def compare_judges(names: Iterable[str], folder: Path, test: Cards) -> list[Compared]:
    """The named comparisons: columns JUDGE_COLUMNS, values from 0 to 1.

    Raises BadInput for an unknown name or an unreadable file.
    """

    def make(_: str, one: Comparison, printed: pd.DataFrame) -> tuple[int, Sequence[Part]]:
        cells = [*_accuracies(test, one), *_printed_accuracies(printed)]
        frame = pd.DataFrame(cells, columns=list(JUDGE_COLUMNS))
        frame = frame.astype({**dict.fromkeys(("value", "low", "high"), "float64"), "n": "Int64"})
        return 0, [("", "judges", frame, {"says": [f"{one.title}. {one.says}"]})]

    return [*compare(names, JUDGE_COMPARISONS, "test", folder, make)]


def _accuracies(test: Cards, one: Comparison) -> list[list[object]]:
    sets = one.sets or {"accuracy": () if test.pooled is None else (test.pooled,)}
    made: list[list[object]] = []
    for column, studies in sets.items():
        for judge in sorted({judge for _, judge in test.whole}):
            cards = [test.whole.get((study, judge), {}) for study in studies]
            found = [card[one.statistic] for card in cards if one.statistic in card]
            values = [row["value"] for row in found]
            if not found or len(found) < len(studies) or None in values:
                continue
            ends = [found[0][name] if len(found) == 1 else None for name in ("low", "high")]
            n = sum(row["n"] for row in found)
            source = "ours, rater" if judge in test.raters else "ours"
            made.append([judge, source, column, sum(values) / len(values), *ends, n])
    return made


def _printed_accuracies(printed: pd.DataFrame) -> list[list[object]]:
    columns = ("dataset", "system_or_metric", "setting", "quantity", "value")
    return [
        [
            ", ".join(filter(None, (system, setting))),
            PRINTED_SOURCE,
            "accuracy" if dataset == "ACI-BENCH" else dataset,
            round(float(value) / 100, 6),
            *(None, None, None),
        ]
        for dataset, system, setting, quantity, value in rows(printed, *columns)
        if value and quantity != "test set size"
    ]
