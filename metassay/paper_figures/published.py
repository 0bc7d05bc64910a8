"""Our numbers beside those that papers printed. Nothing here is tuned to make them agree.

A comparison picks, from a transcribed table in `reports/published/`, the cells that we
compute too. What a paper printed for metrics or systems that were not run here is
counted, not shown.

Another judge means another level, so claim scores and accuracies of judges stand side
by side and are not subtracted. What can be compared is the order of systems: of each of
our judges with each printed evaluator, over the systems whose texts are the same here
and there.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.core import strict_yaml
from metassay.core.errors import BadInput
from metassay.format.frames import records, rows
from metassay.format.numbers import counted, probability
from metassay.labelled.results import Cards
from metassay.paper_figures.printed import PRINTED_PAPERS, read_printed
from metassay.reporting.page import ExtraTables, in_order
from metassay.statistics.independence import rank_order
from metassay.tables.names import FULL, NO_JUDGE

SCHOLARSUM_STUDY = "scholarsum_arxiv"


class Ours(NamedTuple):
    """The tables of those names that a comparison may take numbers from."""

    leaderboard: pd.DataFrame
    correlations: pd.DataFrame
    scores: pd.DataFrame
    ratings: pd.DataFrame
    facet_weights: pd.DataFrame


@dataclass(frozen=True)
class Comparison:
    """A printed table in words, as published.yaml has it, and its files in `reports/published/`.

    `reason` is why our numbers differ, where they do; `decimals` are printed; `ours`
    has our names by those of the print. Of judges: `statistic` is the number of ours
    that is like the print, and `sets` says which subsets of ours a printed data set is;
    without, the print stands beside all items of the test, which are others.
    """

    title: str
    files: Sequence[str]
    says: str
    reason: str = ""
    decimals: int = 2
    ours: Mapping[str, str] = field(default_factory=dict)
    statistic: str = ""
    sets: Mapping[str, Sequence[str]] | None = None


_FILE: Any = strict_yaml.load(Path(__file__).with_suffix(".yaml"))
COMPARISONS = {
    name: Comparison(**block) for name, block in _FILE["comparisons"].items()
}
JUDGE_COMPARISONS = {
    name: Comparison(**block) for name, block in _FILE["judges"].items()
}


def _printed(
    names: Iterable[str], known: Mapping[str, Comparison], owner: str, folder: Path
) -> Iterator[tuple[str, Comparison, pd.DataFrame]]:
    """Read the printed tables that the params.yaml of a benchmark or a test (`owner`) names."""
    for name in names:
        if name not in known:
            raise BadInput(
                f"published: {name!r} is not known; choose from {sorted(known)} in the {owner}'s"
                " params.yaml"
            )
        files = known[name].files
        yield (
            name,
            known[name],
            pd.concat([read_printed(folder / file) for file in files]),
        )


def _add(
    compared: ExtraTables, name: str, kind: str, frame: pd.DataFrame, **words: Any
) -> None:
    """Add a table that the block `kind` of the file shows, with these words before its own."""
    block = _FILE["tables"][kind]
    compared.tables[name] = frame
    compared.blocks[name] = {**block, **words, "says": [*words["says"], *block["says"]]}


def compare_all(names: Iterable[str], folder: Path, tables: Ours) -> ExtraTables:
    """Make the named comparisons; BadInput for an unknown name or an unreadable file.

    Columns of their tables: row, column, ours, published, difference (ours less
    published), note (why they differ, where they do) and, where `ours` is of a part of
    the documents alone, `ours_all`; claim scores are those of `compare_claims`.
    """
    compared = ExtraTables({}, {})
    for name, comparison, printed in _printed(names, COMPARISONS, "benchmark", folder):
        table = f"published_{name}"
        if name in _MATCHES:
            cells = _cells(comparison, _MATCHES[name], tables, records(printed))
            n_not_run = int((printed["value"] != "").sum()) - len(cells)
            says = [comparison.says, _summary(cells, n_not_run, comparison.decimals)]
            _add(compared, table, "cells", cells, title=comparison.title, says=says)
            continue
        scores, ranks, n_not_run = compare_claims(printed, tables.leaderboard)
        lacks = f"{counted(n_not_run, 'printed value')} of other texts or measures are left out."
        says = [f"{comparison.title}. {comparison.says}", lacks]
        _add(compared, table, "claims", scores, says=says)
        _add(compared, f"{table}_ranks", "claim_ranks", ranks, says=_too_few(ranks))
    return compared


# Cells: our numbers, and which of them a printed one stands beside.

Row = dict[str, Any]
# ours, by what a printed row is; None: undefined
Numbers = Mapping[Hashable, float | None]
# row and column of a printed number, and which of ours it is
Place = tuple[str, str, Hashable]


class _Match(NamedTuple):
    """Our `numbers`, and where a printed row stands and beside which, by Comparison.ours.

    `every` are our numbers of all documents, where `numbers`, as the print, are of
    some.
    """

    numbers: Callable[[Ours], Numbers]
    place: Callable[[Row, Mapping[str, str]], Place]
    every: Callable[[Ours], Numbers] | None = None


def _summary(cells: pd.DataFrame, n_not_run: int, decimals: int) -> str:
    """Say how many cells agree, the largest difference, and what has no counterpart."""
    if cells.empty:
        return f"None of its {counted(n_not_run, 'cell')} was computed here."
    differences = cells.set_index(["row", "column"])["difference"].dropna()
    n_same = sum(
        agrees(difference, 0.5 * 10.0**-decimals) for difference in differences
    )
    summary = f"{n_same} of {counted(len(cells), 'cell')} equal the printed digits"
    if len(differences):
        cell = int(differences.abs().argmax())
        most, place = differences.iloc[cell], ", ".join(differences.index[cell])
        summary += f"; the largest difference is {most:+.{decimals + 1}f} ({place})"
    others = (
        f" {counted(n_not_run, 'published cell')} of metrics or systems not run here"
    )
    return f"{summary}.{others} are left out." if n_not_run else f"{summary}."


def _cells(
    comparison: Comparison, match: _Match, tables: Ours, printed: Sequence[Row]
) -> pd.DataFrame:
    ours, every = match.numbers(tables), match.every(tables) if match.every else {}
    cells = []
    for line in printed:
        row, column, key = match.place(line, comparison.ours)
        if key in ours:
            number, published = ours[key], float(line["value"])
            difference = None if number is None else round(number - published, 12)
            # those of ScholarSum are labels
            transcription = "" if match.every else line["note"]
            note = _note(difference, transcription, comparison)
            cells.append(
                [row, column, number, published, difference, note, every.get(key)]
            )
    numbers = ["ours", "published", "difference", "ours_all"]
    names = ["row", "column", *numbers[:3], "note", numbers[3]]
    frame = pd.DataFrame(cells, columns=names).astype(dict.fromkeys(numbers, "float64"))
    return frame if match.every else frame.drop(columns="ours_all")


def _note(difference: float | None, transcription: str, comparison: Comparison) -> str:
    if difference is None:
        return "Undefined here."
    if agrees(difference, 0.5 * 10.0**-comparison.decimals):
        return ""
    note = f" The transcribed row notes: {transcription}." if transcription else ""
    return comparison.reason + note


def agrees(difference: float | None, tolerance: float = 0.005) -> bool:
    """Whether ours rounds to the printed digits; `tolerance` is half a unit of the last one."""
    return difference is not None and abs(difference) <= tolerance + 1e-9


def _correlations(tables: Ours, study: str) -> dict[Hashable, float | None]:
    """Return correlations over all texts, by coefficient, metric (without a judge), criterion."""
    texts_of = {"study": study, "part": FULL, "judge": NO_JUDGE, "level": "global"}
    table = tables.correlations
    table = table[(table[list(texts_of)] == list(texts_of.values())).all(axis=1)]
    columns = ("coefficient", "metric", "criterion", "value")
    return {tuple(key): value for *key, value in rows(table, *columns)}


ROUGE_VARIANTS = {
    f"ROUGE-{n}-{kind[0].upper()}": f"rouge{n}_{kind}"
    for n in ("1", "2", "L")
    for kind in ("precision", "recall", "fmeasure")
}
_AGGREGATE = "Aggregate Score"


def _with_aggregate(tables: Ours) -> Numbers:
    """Add (2F - H - O) / 4 of a metric's Pearson correlations (Ben Abacha et al., section 5)."""
    numbers = _correlations(tables, "mts_dialog")
    for metric in ROUGE_VARIANTS.values():
        criteria = ("factual_f1", "hallucination_rate", "omission_rate")
        keys = [("pearson", metric, criterion) for criterion in criteria]
        if all(key in numbers for key in keys):
            f, h, o = (numbers[key] for key in keys)
            if f is None or h is None or o is None:
                aggregate = None
            else:
                aggregate = (2 * f - h - o) / 4
            numbers["pearson", metric, _AGGREGATE] = aggregate
    return numbers


def _of_metric(row: Row, ours: Mapping[str, str], coefficient: str) -> Place:
    """Rows are metrics, and columns criteria."""
    metric, quantity = row["system_or_metric"], row["quantity"]
    key = (
        coefficient,
        {**ROUGE_VARIANTS, **ours}.get(metric),
        ours.get(quantity, quantity),
    )
    return metric, quantity, key


def _unieval(row: Row, _: Mapping[str, str]) -> Place:
    name, quantity = row["system_or_metric"], row["quantity"]
    return name, quantity, (quantity.lower(), f"unieval_{name}", name)


def _per_cent(tables: Ours) -> Numbers:
    """Return 100 x our macro values of metrics that need no judge."""
    board = tables.leaderboard[tables.leaderboard["judge"] == NO_JUDGE]
    return {
        tuple(key): None if macro is None else 100 * macro
        for *key, macro in rows(board, "part", "metric", "author", "macro")
    }


def _doclens(row: Row, ours: Mapping[str, str]) -> Place:
    section, quantity = row["split_or_section"], row["quantity"]
    system, setting = row["system_or_metric"], row["setting"]
    key = (SECTIONS.get(section), ours.get(quantity), AUTHORS.get((system, setting)))
    column = quantity if section == "full note" else f"{section} {quantity}"
    return f"{system}, {setting}", column, key


def _scholarsum_means(tables: Ours, n_papers: int | None) -> Numbers:
    """Average the released scores and ratings over the first papers, or all, by their keys."""
    study = tables.ratings[tables.ratings["study"] == SCHOLARSUM_STUDY]
    released = tables.scores[tables.scores["judge"] == NO_JUDGE]
    both = pd.concat([released, study.rename(columns={"criterion": "metric"})])
    papers = sorted(study["doc_id"].unique())[:n_papers]
    values = both[
        (both["part"] == FULL) & (both["doc_id"].isin(papers) | (n_papers is None))
    ]
    return dict(values.groupby(["metric", "author"])["value"].mean())


def _scholarsum(row: Row, ours: Mapping[str, str]) -> Place:
    author, column = (
        row["system_or_metric"],
        f"{row['quantity']} {row['evaluator']}".strip(),
    )
    return author, column, (ours.get(column), ours.get(author))


def _fitted_weights(tables: Ours) -> Numbers:
    """Return weights fitted to the texts that have every facet, and their mean squared error."""
    weights = tables.facet_weights
    weights = weights[
        (weights["study"] == SCHOLARSUM_STUDY) & (weights["method"] == "complete")
    ]
    numbers = dict(zip(weights["criterion"], weights["weight"], strict=True))
    return {**numbers, "error": weights["mse"].iloc[0]} if numbers else {}


def _weight(row: Row, _: Mapping[str, str]) -> Place:
    facet = row["split_or_section"] or "error"
    return facet, row["quantity"], facet


_MATCHES = {
    "benabacha_table2": _Match(
        _with_aggregate, partial(_of_metric, coefficient="pearson")
    ),
    "doclens_table20": _Match(_per_cent, _doclens),
    "doclens_table24": _Match(_per_cent, _doclens),
    "maynez_spearman": _Match(
        partial(_correlations, study="xsum_hallucination"),
        partial(_of_metric, coefficient="spearman"),
    ),
    "unieval_topical_chat": _Match(
        partial(_correlations, study="topical_chat"), _unieval
    ),
    "unieval_sfres": _Match(partial(_correlations, study="sfres"), _unieval),
    "fm_table4": _Match(
        partial(_scholarsum_means, n_papers=PRINTED_PAPERS),
        _scholarsum,
        partial(_scholarsum_means, n_papers=None),
    ),
    "fm_weights": _Match(_fitted_weights, _weight),
}

# What DocLens's tables call ours. Its own outputs of GPT-3.5 and GPT-4 (all rows of
# tables 20 to 27 with a number of shots, but not "Reported ...") were not released:
# chatgpt and gpt4 here are other texts.
AUTHORS = {
    ("BART + SAMSum FT", "full"): "bart_samsum_full",
    ("BART + SAMSum FT", "section"): "bart_samsum_section",
    ("BioBART", "full"): "biobart_full",
    ("BioBART", "section"): "biobart_section",
    ("ChatGPT", "full"): "chatgpt",
    ("GPT-4", "full"): "gpt4",
    ("Reported GPT-3.5-turbo", "full, 0-shot"): "chatgpt",
    ("Reported GPT-4", "full, 0-shot"): "gpt4",
}
SECTIONS = {
    "full note": FULL,
    "Subjective": "subjective",
    "Objective-Exam": "objective_exam",
    "Objective-Results": "objective_results",
    "Assessment and Plan": "assessment_and_plan",
}
QUANTITIES = {"Claim Recall": "claim_recall", "Claim Precision": "claim_precision"}
PRINTED = " (printed)"
SCORES = (
    "metric",
    "section",
    "system",
    "author",
    "judge",
    "macro",
    "low",
    "high",
    "micro",
    "n_documents",
    "n_undefined",
    "n_expected",
    "n_failed",
)
RANKS = (
    "metric",
    "section",
    "judge",
    "mean",
    "evaluator",
    "n",
    "spearman",
    "spearman_p",
    "kendall",
    "kendall_p",
    "smallest_p",
)
_SYSTEMS = {
    author: f"{system}, {setting}" for (system, setting), author in AUTHORS.items()
}


def compare_claims(
    printed: pd.DataFrame, leaderboard: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame, int]:
    """Put claim scores by judge beside the printed ones: scores, ranks, how many have no row.

    Scores (SCORES and a column `EVALUATOR (printed)` per evaluator; all 0 to 1) have a
    row per metric, section, system and judge; printed values are repeated for each
    judge. In ranks (RANKS) `judge` is one of ours, by its `macro` or `micro` values, or
    a printed evaluator, for the yardstick.
    """
    printed = printed[printed["value"] != ""]
    systems = pd.MultiIndex.from_frame(printed[["system_or_metric", "setting"]])
    claims = pd.DataFrame(
        {
            "metric": printed["quantity"].map(QUANTITIES),
            "section": printed["split_or_section"].map(SECTIONS),
            "author": systems.map(AUTHORS),
            "evaluator": printed["evaluator"] + PRINTED,
            "value": (printed["value"].astype("float64") / 100).round(6),
        }
    ).dropna()
    evaluators = [*claims["evaluator"].unique()]
    keys = ["metric", "section", "author"]
    theirs = claims.pivot(index=keys, columns="evaluator", values="value").reset_index()
    ours = leaderboard[leaderboard["judge"] != NO_JUDGE].rename(
        columns={"part": "section"}
    )
    scores = ours.merge(theirs, on=keys)
    scores["system"] = scores["author"].map(_SYSTEMS)
    order = {  # as the paper has them, then judges by name
        "metric": [*QUANTITIES.values()],
        "section": [*SECTIONS.values()],
        "author": [*_SYSTEMS],
        "judge": sorted(scores["judge"]),
    }
    scores = in_order(scores[[*SCORES, *evaluators]], order).reset_index(drop=True)
    shown = scores.drop_duplicates(keys)[evaluators]
    n_not_run = len(printed) - int(shown.notna().sum().sum())
    return scores, _rank_agreements(scores, evaluators), n_not_run


def _rank_agreements(scores: pd.DataFrame, evaluators: Sequence[str]) -> pd.DataFrame:
    ranks = []
    for (metric, section), frame in scores.groupby(["metric", "section"], sort=False):
        theirs = frame.drop_duplicates("author").set_index("author")[evaluators]
        ours = {
            (str(judge), mean): of_judge.set_index("author")[mean]
            for judge, of_judge in frame.groupby("judge")
            for mean in ("macro", "micro")
        }
        ours |= {(evaluator, "printed"): theirs[evaluator] for evaluator in evaluators}
        for ((judge, mean), values), evaluator in product(ours.items(), evaluators):
            if judge != evaluator:
                agreement = _agreement(values.reindex(theirs.index), theirs[evaluator])
                name = evaluator.removesuffix(PRINTED)
                ranks.append([metric, section, judge, mean, name, *agreement])
    return pd.DataFrame(ranks, columns=list(RANKS))


def _agreement(ours: "pd.Series[float]", theirs: "pd.Series[float]") -> list[float]:
    # the same orders, if too many to try all, in each comparison
    rng = np.random.default_rng(0)
    rho, tau = (
        rank_order(
            ours.to_numpy(), theirs.to_numpy(), coefficient, n_orders=9_999, rng=rng
        )
        for coefficient in ("spearman", "kendall")
    )
    return [
        rho.n,
        round(rho.value, 12),
        rho.p,
        round(tau.value, 12),
        tau.p,
        rho.smallest_p,
    ]


def _too_few(ranks: pd.DataFrame) -> list[str]:
    """Say first where no p could be small, whatever the rankings."""
    defined = ranks.dropna(subset=["smallest_p"])
    if defined.empty:
        return [
            "Too few systems have texts here and values in print to compare any ranking."
        ]
    smallest = defined["smallest_p"].min()
    if smallest < 0.05:
        return []
    n = counted(int(defined["n"].max()), "system")
    return [
        f"Only {n} can be compared, so that no p can be below {probability(smallest)}: a rank"
        " correlation of 1 with so few is weak evidence that a judge ranks systems as another."
    ]


# Our judges' accuracy beside what DocLens printed for its evaluators, on such tests.

JUDGE_COLUMNS = ("judge", "source", "column", "value", "low", "high", "n")


def compare_judges(names: Iterable[str], folder: Path, test: Cards) -> ExtraTables:
    """Make the named comparisons: columns JUDGE_COLUMNS, values from 0 to 1.

    Raises BadInput for an unknown name or an unreadable file.
    """
    compared = ExtraTables({}, {})
    for name, comparison, printed in _printed(names, JUDGE_COMPARISONS, "test", folder):
        accuracies = [*_accuracies(test, comparison), *_printed_accuracies(printed)]
        frame = pd.DataFrame(accuracies, columns=list(JUDGE_COLUMNS))
        frame = frame.astype(
            {**dict.fromkeys(("value", "low", "high"), "float64"), "n": "Int64"}
        )
        says = [f"{comparison.title}. {comparison.says}"]
        _add(compared, f"published_{name}", "judges", frame, says=says)
    return compared


def _accuracies(test: Cards, comparison: Comparison) -> Iterator[list[object]]:
    sets = comparison.sets or {
        "accuracy": () if test.pooled is None else (test.pooled,)
    }
    for (column, studies), judge in product(
        sets.items(), sorted({j for _, j in test.whole})
    ):
        cards = [test.whole.get((study, judge), {}) for study in studies]
        numbers = [
            card[comparison.statistic] for card in cards if comparison.statistic in card
        ]
        values = [row["value"] for row in numbers]
        if not numbers or len(numbers) < len(studies) or None in values:
            continue
        ends = [
            numbers[0][end] if len(numbers) == 1 else None for end in ("low", "high")
        ]
        n = sum(row["n"] for row in numbers)
        source = "ours, rater" if judge in test.raters else "ours"
        yield [judge, source, column, sum(values) / len(values), *ends, n]


def _printed_accuracies(printed: pd.DataFrame) -> Iterator[list[object]]:
    columns = ("dataset", "system_or_metric", "setting", "quantity", "value")
    for dataset, system, setting, quantity, value in rows(printed, *columns):
        if value and quantity != "test set size":
            judge = ", ".join(filter(None, (system, setting)))
            column = "accuracy" if dataset == "ACI-BENCH" else dataset
            yield [
                judge,
                "printed",
                column,
                round(float(value) / 100, 6),
                None,
                None,
                None,
            ]
