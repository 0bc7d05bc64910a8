"""Our numbers beside those that papers printed. Nothing here is tuned to make them agree.

A comparison picks, from a transcribed table in `reports/published/`, the cells that we compute
too. What a paper printed for metrics or systems that were not run here is counted, not shown.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.format.frames import records, rows
from metassay.format.numbers import counted
from metassay.reporting.cells import AUTHORS, SECTIONS, Compared, Comparison, Ours, Part, compare
from metassay.reporting.published_judges import claim_tables
from metassay.reporting.section import Row, texts
from metassay.tables.names import FULL, NO_JUDGE

SCHOLARSUM_STUDY = "scholarsum_arxiv"
PRINTED_PAPERS = 44

Numbers = Mapping[Hashable, float | None]  # ours, by what a printed row is; None: undefined
Place = tuple[str, str, Hashable]  # row and column of a printed number, and which of ours it is


class _How(NamedTuple):
    """How cells are matched: our `numbers`, and where a printed row stands and beside which.

    `every` are our numbers of all documents, where `numbers`, as the print, are of some.
    """

    numbers: Callable[[Ours], Numbers]
    place: Callable[[Row], Place]
    every: Callable[[Ours], Numbers] | None = None


def compare_all(names: Iterable[str], folder: Path, tables: Ours) -> list[Compared]:
    """Make the named comparisons; BadInput for an unknown name or an unreadable file.

    Columns of their tables: row, column, ours, published, difference (ours less published), note
    (why they differ, where they do) and, where `ours` is of a part of the documents alone,
    `ours_all`; claim scores are those of `claim_tables`.
    """

    def make(name: str, one: Comparison, printed: pd.DataFrame) -> tuple[int, Sequence[Part]]:
        if name not in _HOW:
            return claim_tables(one, printed, tables.leaderboard)
        cells = _cells(one, _HOW[name], tables, records(printed))
        n_not_run = int((printed["value"] != "").sum()) - len(cells)
        says = [one.says, _summary(cells, n_not_run, one.decimals)]
        return n_not_run, [("", "cells", cells, {"title": one.title, "says": says})]

    return [*compare(names, COMPARISONS, "benchmark", folder, make)]


def _summary(cells: pd.DataFrame, n_not_run: int, decimals: int) -> str:
    """How many cells agree, the largest difference, and what has no counterpart."""
    if cells.empty:
        return f"None of its {counted(n_not_run, 'cell')} was computed here."
    known = cells.dropna(subset=["difference"])
    same = sum(agrees(one, 0.5 * 10.0**-decimals) for one in known["difference"])
    said = f"{same} of {counted(len(cells), 'cell')} equal the printed digits"
    if len(known):
        row, column, most = max(
            rows(known, "row", "column", "difference"), key=lambda line: abs(line[2])
        )
        said += f"; the largest difference is {most:+.{decimals + 1}f} ({row}, {column})"
    others = f" {counted(n_not_run, 'published cell')} of metrics or systems not run here"
    return f"{said}.{others} are left out." if n_not_run else f"{said}."


def _cells(one: Comparison, how: _How, tables: Ours, printed: Sequence[Row]) -> pd.DataFrame:
    ours, every = how.numbers(tables), how.every(tables) if how.every else {}
    made = []
    for line in printed:
        row, column, key = how.place(line)
        if key in ours:
            number, published = ours[key], float(line["value"])
            difference = None if number is None else round(number - published, 12)
            transcription = "" if how.every else line["note"]  # those of ScholarSum are labels
            note = _note(difference, transcription, one)
            made.append([row, column, number, published, difference, note, every.get(key)])
    numbers = ["ours", "published", "difference", "ours_all"]
    frame = pd.DataFrame(made, columns=["row", "column", *numbers[:3], "note", "ours_all"])
    frame = frame.astype({name: "float64" for name in numbers})
    return frame if how.every else frame.drop(columns="ours_all")


def _note(difference: float | None, transcription: str, one: Comparison) -> str:
    if difference is None:
        return "Undefined here."
    if agrees(difference, 0.5 * 10.0**-one.decimals):
        return ""
    said = f" The transcribed row notes: {transcription}." if transcription else ""
    return one.reason + said


def agrees(difference: float | None, tolerance: float = 0.005) -> bool:
    """Whether ours rounds to the printed digits; `tolerance` is half a unit of the last one."""
    return difference is not None and abs(difference) <= tolerance + 1e-9


# Our numbers, and where a printed one stands beside them.


def _correlations(tables: Ours, *, study: str, coefficient: str = "pearson") -> Numbers:
    """Our correlations over all texts of metrics that need no judge, by metric and criterion."""
    chosen = {"study": study, "part": FULL, "judge": NO_JUDGE, "level": "global"}
    found = tables.correlations
    found = found[found["coefficient"] == coefficient]
    found = found[(found[list(chosen)] == list(chosen.values())).all(axis=1)]
    return {(m, c): value for m, c, value in rows(found, "metric", "criterion", "value")}


ROUGE_VARIANTS = {
    f"ROUGE-{n}-{kind[0].upper()}": f"rouge{n}_{kind}"
    for n in ("1", "2", "L")
    for kind in ("precision", "recall", "fmeasure")
}


_CALLED: Mapping[str, Mapping[str, str]] = texts("published.yaml")  # ours by what papers call it
_AGGREGATE = "Aggregate Score"


def _with_aggregate(tables: Ours) -> Numbers:
    """Pearson over all texts; aggregate = (2F - H - O) / 4 of a metric's correlations (sec. 5)."""
    found = dict(_correlations(tables, study="mts_dialog"))
    for metric in ROUGE_VARIANTS.values():
        keys = [(metric, c) for c in ("factual_f1", "hallucination_rate", "omission_rate")]
        if all(key in found for key in keys):
            f, h, o = (found[key] for key in keys)
            undefined = f is None or h is None or o is None
            found[metric, _AGGREGATE] = None if undefined else (2 * f - h - o) / 4  # type: ignore[operator]
    return found


def _of_metrics(metrics: Mapping[str, str], criteria: str) -> Callable[[Row], Place]:
    """Rows are metrics, and columns criteria."""

    def place(row: Row) -> Place:
        metric, quantity = row["system_or_metric"], row["quantity"]
        return metric, quantity, (metrics.get(metric), _CALLED[criteria].get(quantity, quantity))

    return place


def _each_coefficient(tables: Ours, study: str) -> Numbers:
    return {
        (coefficient, key): value
        for coefficient in ("pearson", "spearman", "kendall")
        for key, value in _correlations(tables, study=study, coefficient=coefficient).items()
    }


def _unieval(row: Row) -> Place:
    name, quantity = row["system_or_metric"], row["quantity"]
    return name, quantity, (quantity.lower(), (f"unieval_{name}", name))


def _per_cent(tables: Ours) -> Numbers:
    """100 x our macro values of metrics that need no judge."""
    board = tables.leaderboard[tables.leaderboard["judge"] == NO_JUDGE]
    return {
        tuple(key): None if macro is None else 100 * macro
        for *key, macro in rows(board, "part", "metric", "author", "macro")
    }


def _doclens(row: Row, metrics: Mapping[str, str]) -> Place:
    section, quantity = row["split_or_section"], row["quantity"]
    system, setting = row["system_or_metric"], row["setting"]
    key = (SECTIONS.get(section), metrics.get(quantity), AUTHORS.get((system, setting)))
    column = quantity if section == "full note" else f"{section} {quantity}"
    return f"{system}, {setting}", column, key


def _scholarsum_means(tables: Ours, n_papers: int | None) -> Numbers:
    """Means of the released scores and ratings over the first papers, or all, by their keys."""
    study = tables.ratings[tables.ratings["study"] == SCHOLARSUM_STUDY]
    released = tables.scores[tables.scores["judge"] == NO_JUDGE]
    both = pd.concat([released, study.rename(columns={"criterion": "metric"})])
    papers = sorted(study["doc_id"].unique())[:n_papers]
    whole = both["part"] == FULL
    values = both[whole & both["doc_id"].isin(papers)] if n_papers else both[whole]
    return dict(values.groupby(["metric", "author"])["value"].mean())


def _scholarsum(row: Row) -> Place:
    author, column = row["system_or_metric"], f"{row['quantity']} {row['evaluator']}".strip()
    metric = _CALLED["scholarsum_metrics"].get(column)
    return author, column, (metric, _CALLED["scholarsum_authors"].get(author))


_ERROR = "error"  # the row of the fit's, which is no facet's


def _fitted_weights(tables: Ours) -> Numbers:
    """Weights fitted to the texts that have every facet, and their mean squared error."""
    fitted = tables.facet_weights
    fitted = fitted[(fitted["study"] == SCHOLARSUM_STUDY) & (fitted["method"] == "complete")]
    ours = dict(zip(fitted["criterion"], fitted["weight"], strict=True))
    return {**ours, _ERROR: fitted["mse"].iloc[0]} if ours else {}


def _weights(row: Row) -> Place:
    facet = row["split_or_section"] or _ERROR
    return facet, row["quantity"], facet


def _of_doclens(rouge_l: str) -> Callable[[Row], Place]:
    rouge = {"Rouge-1": "rouge1_fmeasure", "Rouge-2": "rouge2_fmeasure", "Rouge-L": rouge_l}
    return partial(_doclens, metrics=rouge)


_HOW = {
    "benabacha_table2": _How(_with_aggregate, _of_metrics(ROUGE_VARIANTS, "mts_dialog_criteria")),
    "doclens_table20": _How(_per_cent, _of_doclens("rougeLsum_fmeasure")),
    "doclens_table24": _How(_per_cent, _of_doclens("rougeL_fmeasure")),
    "maynez_spearman": _How(
        partial(_correlations, study="xsum_hallucination", coefficient="spearman"),
        _of_metrics(_CALLED["xsum_metrics"], "xsum_criteria"),
    ),
    "unieval_topical_chat": _How(partial(_each_coefficient, study="topical_chat"), _unieval),
    "unieval_sfres": _How(partial(_each_coefficient, study="sfres"), _unieval),
    "fm_table4": _How(
        partial(_scholarsum_means, n_papers=PRINTED_PAPERS),
        _scholarsum,
        partial(_scholarsum_means, n_papers=None),
    ),
    "fm_weights": _How(_fitted_weights, _weights),
}
COMPARISONS = {
    name: Comparison(**block) for name, block in texts("published.yaml")["comparisons"].items()
}
