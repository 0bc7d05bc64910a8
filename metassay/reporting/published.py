"""Our numbers beside those that papers printed. Nothing here is tuned to make them agree.

A comparison picks, from a transcribed table in `reports/published/`, the cells that we compute
too. What a paper printed for metrics or systems that were not run here is counted, not shown.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.core.errors import BadInput
from metassay.format.frames import rows
from metassay.format.numbers import MINUS
from metassay.reporting.cells import (
    USED,
    Cell,
    Compare,
    Ours,
    agrees,
    as_frame,
    compare_scores,
    correlation_values,
    read_printed,
)
from metassay.reporting.published_judges import ClaimScores, compare_claims
from metassay.tables.names import FULL, NO_JUDGE

_XSUM = {
    "ROUGE-1": "xsum_rouge1",
    "ROUGE-2": "xsum_rouge2",
    "ROUGE-L": "xsum_rougeL",
    "BERTScore": "xsum_bertscore",
    "Entailment": "xsum_entailment",
}
_XSUM_CRITERIA = {"Faithful": "faithful_released", "Factual": "factual_released"}
SCHOLARSUM = {
    ("ROUGE-L", ""): "scholarsum_rougeL",
    ("BERTScore", ""): "scholarsum_bertscore",
    ("DELTA", ""): "scholarsum_delta",
    ("QuestEval", ""): "scholarsum_questeval",
    ("ACU", ""): "scholarsum_acu",
    ("FM", "GPT-3.5"): "scholarsum_fm_gpt35",
    ("FM", "GPT-4"): "scholarsum_fm_gpt4",
    ("Human (facet-aware overall score)", "human"): "overall",
}
SCHOLARSUM_AUTHORS = {
    "GPT-3.5": "gpt35",
    "Llama2": "llama2_70b",
    "FactSum": "factsum",
    "BART-Large": "bart_large",
}
_SAME_DATA = "Unexpected: the released scores gave the printed digits. Look at how rows are joined."
SCHOLARSUM_STUDY = "scholarsum_arxiv"
PRINTED_PAPERS = 44
_SAME_PAPERS = (
    "Expected: of the released scores no number of papers, counted from the first, has this printed"
    " mean."
)
_ERROR = "error"  # the row of the fit's, which is no facet's
_COMPUTED = (
    "Expected: the released overall scores were computed from the facets' with the printed weights,"
    " which leaves no error. The print is of overall scores that one person gave, which were not"
    " released."
)


def compare_maynez(printed: pd.DataFrame, tables: Ours) -> pd.DataFrame:
    """Spearman over all texts, printed with three decimals."""
    ours = correlation_values(
        tables.correlations, study="xsum_hallucination", coefficient="spearman"
    )
    cells = []
    for _, name, _, quantity, value, note in rows(printed, *USED):
        key = (_XSUM.get(str(name), ""), _XSUM_CRITERIA.get(str(quantity)))
        if key in ours:
            cells.append(Cell(name, quantity, ours[key], float(value), note))
    return as_frame(cells, reason=_SAME_DATA, tolerance=0.0005)


def compare_unieval(study: str) -> Compare:
    """Pearson, Spearman and Kendall over all texts, printed with six decimals."""

    def compare(printed: pd.DataFrame, tables: Ours) -> pd.DataFrame:
        cells = []
        for _, name, _, quantity, value, note in rows(printed, *USED):
            coefficient = str(quantity).lower()
            ours = correlation_values(tables.correlations, study=study, coefficient=coefficient)
            key = (f"unieval_{name}", name)
            if key in ours:
                cells.append(Cell(name, quantity, ours[key], float(value), note))
        return as_frame(cells, reason=_SAME_DATA, tolerance=5e-7)

    return compare


def compare_scholarsum(printed: pd.DataFrame, tables: Ours) -> pd.DataFrame:
    """Means of the released scores and ratings over the first 44 papers, printed to four decimals.

    The column `ours_all` has the means over all papers.
    """
    study = tables.ratings[tables.ratings["study"] == SCHOLARSUM_STUDY]
    rated = study.rename(columns={"criterion": "metric"})
    released = tables.scores[tables.scores["judge"] == NO_JUDGE]
    columns = ["doc_id", "author", "metric", "value"]
    values = pd.concat([part.loc[part["part"] == FULL, columns] for part in (released, rated)])
    papers = sorted(study["doc_id"].unique())[:PRINTED_PAPERS]
    every, first = (
        one.groupby(["metric", "author"])["value"].mean().to_dict()
        for one in (values, values[values["doc_id"].isin(papers)])
    )
    cells, ours_all = [], []
    for row in printed.to_dict("records"):
        metric = SCHOLARSUM.get((row["quantity"], row["evaluator"]))
        key = (metric, SCHOLARSUM_AUTHORS.get(row["system_or_metric"]))
        if key in first:
            column = " ".join(filter(None, (row["quantity"], row["evaluator"])))
            cells.append(Cell(row["system_or_metric"], column, first[key], float(row["value"]), ""))
            ours_all.append(every[key])
    found = as_frame(cells, reason=_SAME_PAPERS, tolerance=0.00005)
    return found.assign(ours_all=pd.Series(ours_all, dtype="float64"))


def compare_scholarsum_weights(printed: pd.DataFrame, tables: Ours) -> pd.DataFrame:
    """Weights fitted to the texts that have every facet, and their mean squared error."""
    fitted = tables.facet_weights
    fitted = fitted[(fitted["study"] == SCHOLARSUM_STUDY) & (fitted["method"] == "complete")]
    ours = dict(zip(fitted["criterion"], fitted["weight"], strict=True))
    if len(fitted):
        ours[_ERROR] = fitted["mse"].iloc[0]
    cells = []
    for facet, _, _, quantity, value, note in rows(printed, *USED):
        row = facet or _ERROR
        if row in ours:
            cells.append(Cell(row, quantity, ours[row], float(value), note))
    return as_frame(cells, reason=_COMPUTED, tolerance=0.0005)


# Our numbers beside those that papers printed. Nothing here is tuned to make them agree.

__all__ = ["COMPARISONS", "Compared", "Comparison", "agrees", "compare_all"]


@dataclass(frozen=True)
class Comparison:
    """A printed table: its title, its files in `reports/published/`, how cells are matched.

    `compare(printed, tables)` gives a frame of row, column, ours, published, difference (ours less
    published) and note (why they differ, where they do). Where `ours` is of a part of the documents
    alone, as the print is, `ours_all` has the same of all of them. Without it these are claim
    scores of several evaluators, which stand beside those of our judges.
    """

    title: str
    files: tuple[str, ...]
    says: str
    compare: Compare | None
    decimals: int = 2  # that are printed


@dataclass(frozen=True)
class Compared:
    """A comparison that was made; `n_not_run` printed cells have no counterpart here."""

    name: str
    title: str
    says: str
    cells: pd.DataFrame
    n_not_run: int
    decimals: int = 2

    @property
    def tolerance(self) -> float:
        """Half a unit of the last printed digit."""
        return 0.5 * 10.0**-self.decimals

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """What lies beside the page, by file name."""
        return {f"published_{self.name}": self.cells}


def compare_all(names: Iterable[str], folder: Path, tables: Ours) -> list[Compared | ClaimScores]:
    """Make the named comparisons; BadInput for an unknown name or an unreadable file."""
    made: list[Compared | ClaimScores] = []
    for name in names:
        if name not in COMPARISONS:
            raise BadInput(
                f"published: {name!r} is not known; choose from {sorted(COMPARISONS)} in the"
                " benchmark's params.yaml"
            )
        one = COMPARISONS[name]
        printed = pd.concat([read_printed(folder / file) for file in one.files])
        if one.compare is None:
            found = compare_claims(printed, tables.leaderboard)
            made.append(ClaimScores(name, one.title, one.says, *found))
        else:
            cells = one.compare(printed, tables)
            n_not_run = int((printed["value"] != "").sum()) - len(cells)
            made.append(Compared(name, one.title, one.says, cells, n_not_run, one.decimals))
    return made


ROUGE_VARIANTS = {
    f"ROUGE-{n}-{kind[0].upper()}": f"rouge{n}_{kind}"
    for n in ("1", "2", "L")
    for kind in ("precision", "recall", "fmeasure")
}
FACT_CRITERIA = {
    "Factual Precision": "factual_precision",
    "Factual Recall": "factual_recall",
    "Factual F1": "factual_f1",
    "Hallucination Rate": "hallucination_rate",
    "Omission Rate": "omission_rate",
}
AGGREGATE = "Aggregate Score"
_OTHER_ROUGE = (
    "Another ROUGE: ours is the rouge-score package, lower-cased words and counted n-grams. The"
    " authors' own was not released and no variant we know of gives their whole table; theirs"
    " seems to keep case and punctuation and to compare sets of n-grams. Ours is never tuned"
    " towards it."
)


def _compare_benabacha(printed: pd.DataFrame, tables: Ours) -> pd.DataFrame:
    """Pearson over all texts; aggregate = (2F - H - O) / 4 of a metric's correlations (sec. 5)."""
    ours = correlation_values(tables.correlations, study="mts_dialog")
    cells = []
    for _, name, _, quantity, value, note in rows(printed, *USED):
        metric = ROUGE_VARIANTS.get(name)
        if metric is None:
            continue
        if quantity == AGGREGATE:
            parts = ("factual_f1", "hallucination_rate", "omission_rate")
            if not all((metric, criterion) in ours for criterion in parts):
                continue
            number = _aggregate(*(ours[metric, criterion] for criterion in parts))
        elif (metric, FACT_CRITERIA.get(quantity)) in ours:
            number = ours[metric, FACT_CRITERIA[quantity]]
        else:
            continue
        cells.append(Cell(name, quantity, number, float(value), note))
    return as_frame(cells, reason=_OTHER_ROUGE)


def _aggregate(f: float | None, h: float | None, o: float | None) -> float | None:
    return None if f is None or h is None or o is None else (2 * f - h - o) / 4


_ROUGE = {"Rouge-1": "rouge1_fmeasure", "Rouge-2": "rouge2_fmeasure"}
COMPARISONS: dict[str, Comparison] = {
    "benabacha_table2": Comparison(
        "Ben Abacha et al., table 2: metrics against annotators on MTS-Dialog",
        ("benabacha_table2.csv",),
        "Pearson correlation over all 400 summaries; the aggregate is (2F - H - O) / 4 of a"
        " metric's correlations with factual F1, hallucination and omission.",
        _compare_benabacha,
    ),
    "doclens_table20": Comparison(
        "DocLens, table 20: ROUGE of full notes on ACI-BENCH test 1",
        ("doclens_table20.csv", "acibench_rouge.csv"),
        "F1 x 100, mean over the 40 notes; what is printed there as Rouge-L is rougeLsum. The"
        " rows ChatGPT and GPT-4 are printed in the ACI-BENCH paper, not in DocLens.",
        compare_scores({**_ROUGE, "Rouge-L": "rougeLsum_fmeasure"}),
    ),
    "doclens_table24": Comparison(
        "DocLens, table 24: ROUGE of sections on ACI-BENCH test 1",
        ("doclens_table24.csv",),
        "F1 x 100, mean over the 40 notes, sections prepared as the original does (compat"
        " doclens-table24): a section that both texts lack counts, which is right for comparing"
        " with the print and for nothing else.",
        compare_scores({**_ROUGE, "Rouge-L": "rougeL_fmeasure"}),
    ),
    "doclens_claims": Comparison(
        "DocLens, tables 21 to 23 and 25 to 27: claim scores on ACI-BENCH test 1",
        tuple(f"doclens_table{number}.csv" for number in (21, 25, 22, 26, 23, 27)),
        "Each of our judges stands beside the evaluators of the paper, GPT-4, Mistral and TRUE."
        " Another judge means another level, so values are not comparable from judge to judge. What"
        " is: the order of the systems. Only four have the same texts here and in print, BART +"
        " SAMSum and BioBART, each on full notes and by section. The paper’s own notes by GPT-3.5"
        " and GPT-4 were not released; chatgpt and gpt4 here are ACI-BENCH’s notes (their ROUGE is"
        " another), which have no printed claim scores, as our other systems have none. The claims"
        " of a system’s text were cut by GPT-4 for the paper, which reads a claim against the same"
        " section of the other note. What is done here is in the recipe: against:part is as there,"
        " against:full reads the whole note.",
        compare=None,
    ),
    "maynez_spearman": Comparison(
        "Maynez et al.: metrics against faithfulness and factuality on XSum",
        ("maynez_spearman.csv",),
        "Spearman correlation over the 1,992 summaries that have released scores, with the means"
        " over raters that were released beside them (faithful_released, factual_released). What"
        " the raters' own spans and answers give is among the correlations (faithfulness,"
        " factuality); the page on datasets says why it differs.",
        compare_maynez,
        decimals=3,
    ),
    "unieval_topical_chat": Comparison(
        "UniEval: its scores against people on Topical-Chat",
        ("unieval_topical_chat.csv",),
        "Correlation over all 360 turns, each dimension with the same one by people, as printed in"
        " the authors' repository.",
        compare_unieval("topical_chat"),
        decimals=6,
    ),
    "unieval_sfres": Comparison(
        "UniEval: its scores against people on SFRES",
        ("unieval_sfres.csv",),
        "Correlation over all 1,181 sentences, each dimension with the same one by people, as"
        " printed in the authors' repository.",
        compare_unieval("sfres"),
        decimals=6,
    ),
    "fm_table4": Comparison(
        "ScholarSum, table 4: mean scores of 4 systems on arXiv",
        ("fm_table4.csv",),
        "Means over the first 44 of the 50 released papers, which give 26 of the 32 printed means"
        " to four digits; below each stands ours over all 50, which the rest of this page is about."
        " Correlations on this page rest"
        " on numbers of 12 digits, in which .5 and .49999999999999994, both released, are tied: the"
        " Spearman correlation of scholarsum_rougeL with `overall` is .262, and .258 with the"
        " released digits.",
        compare_scholarsum,
        decimals=4,
    ),
    "fm_weights": Comparison(
        "ScholarSum, section 4.2: weights of the facets in the overall score",
        ("fm_weights.csv",),
        "Ours: least squares of the released overall scores on the released scores of the facets,"
        " over the texts that have all four.",
        compare_scholarsum_weights,
        decimals=3,
    ),
}


# Ours beside what a paper printed, as a matrix like the paper's own table.


class PublishedCell(NamedTuple):
    """One printed number with ours; `mark` names the note that says why they differ."""

    ours: str
    published: str
    difference: str
    agrees: bool
    mark: str
    ours_all: str = ""  # ours of all documents, where `ours` is of those that the print is of


class PublishedTable(NamedTuple):
    """One comparison; `notes` are (mark, text)."""

    name: str
    title: str
    says: str
    columns: list[str]
    rows: list[tuple[str, list[PublishedCell | None]]]
    notes: list[tuple[str, str]]
    n_cells: int
    n_agreeing: int
    n_not_run: int
    largest: str  # the largest difference and where it is


def published_view(compared: Compared) -> PublishedTable:
    """The comparison as rows by columns in the paper's order."""
    named = ["row", "column", "ours", "published", "difference", "note"]
    lines = list(rows(compared.cells, *named))
    every = [""] * len(lines)
    if "ours_all" in compared.cells:
        every = [_fixed(value, compared.decimals + 1) for value in compared.cells["ours_all"]]
    notes = list(dict.fromkeys(note for *_, note in lines if note))
    marks = {note: str(place + 1) for place, note in enumerate(notes)}
    columns = list(dict.fromkeys(column for _, column, *_ in lines))
    cells = {
        (row, column): _cell(ours, published, difference, marks.get(note, ""), compared)._replace(
            ours_all=all_of_them
        )
        for (row, column, ours, published, difference, note), all_of_them in zip(
            lines, every, strict=True
        )
    }
    names = list(dict.fromkeys(row for row, *_ in lines))
    return PublishedTable(
        compared.name,
        compared.title,
        compared.says,
        columns,
        [(row, [cells.get((row, column)) for column in columns]) for row in names],
        [(mark, note) for note, mark in marks.items()],
        len(lines),
        sum(cell.agrees for cell in cells.values()),
        compared.n_not_run,
        _largest(lines, compared.decimals + 1),
    )


def _cell(
    ours: float | None, published: float, difference: float | None, mark: str, compared: Compared
) -> PublishedCell:
    more = compared.decimals + 1
    return PublishedCell(
        "undefined" if ours is None else _fixed(ours, more),
        _fixed(published, compared.decimals),
        _signed(difference, more),
        agrees(difference, compared.tolerance),
        mark,
    )


def _signed(difference: float | None, decimals: int) -> str:
    if difference is None:
        return ""
    text = _fixed(difference, decimals)
    return text if text.startswith(MINUS) or float(text) == 0 else f"+{text}"


def _fixed(value: float, decimals: int) -> str:
    """One more decimal than the paper prints shows on which side of rounding ours lies."""
    text = f"{value:.{decimals}f}"
    return text.replace("-", "" if float(text) == 0 else MINUS)


def _largest(
    lines: list[tuple[str, str, float | None, float, float | None, str]], decimals: int
) -> str:
    defined = [(abs(d), row, column, d) for row, column, _, _, d, _ in lines if d is not None]
    if not defined:
        return ""
    size = max(entry[0] for entry in defined)
    _, row, column, difference = next(entry for entry in defined if entry[0] == size)
    return f"{_signed(difference, decimals)} ({row}, {column})"
