"""Our numbers beside those that papers printed. Nothing here is tuned to make them agree.

A comparison picks, from a transcribed table in `reports/published/`, the cells that we compute
too. What a paper printed for metrics or systems that were not run here is counted, not shown.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.errors import BadInput
from metassay.reporting.tables import rows
from metassay.tables import FULL, NO_JUDGE

TOLERANCE = 0.005  # half a unit of the second decimal: the papers' tables print two

_COLUMNS = ["row", "column", "ours", "published", "difference", "note"]
_USED = ["split_or_section", "system_or_metric", "setting", "quantity", "value", "note"]


class Cell(NamedTuple):
    """One printed number with ours; `ours` is None where it is undefined here."""

    row: str
    column: str
    ours: float | None
    published: float
    note: str  # what the transcriber of the table had to say


Compare = Callable[[pd.DataFrame, pd.DataFrame, pd.DataFrame], pd.DataFrame]


@dataclass(frozen=True)
class Comparison:
    """A printed table: its title, its files in `reports/published/`, how cells are matched.

    `compare(printed, leaderboard, correlations)` gives a frame of row, column, ours, published,
    difference (ours less published) and note (why they differ, where they do).
    """

    title: str
    files: tuple[str, ...]
    says: str
    compare: Compare


@dataclass(frozen=True)
class Compared:
    """A comparison that was made; `n_not_run` printed cells have no counterpart here."""

    name: str
    title: str
    says: str
    cells: pd.DataFrame
    n_not_run: int


def compare_all(
    names: Iterable[str], folder: Path, leaderboard: pd.DataFrame, correlations: pd.DataFrame
) -> list[Compared]:
    """Make the named comparisons; BadInput for an unknown name or an unreadable file."""
    made = []
    for name in names:
        if name not in COMPARISONS:
            raise BadInput(
                f"published: {name!r} is not known; choose from {sorted(COMPARISONS)} in"
                " params.yaml > benchmarks > published"
            )
        comparison = COMPARISONS[name]
        printed = pd.concat([_read(folder / file) for file in comparison.files])
        cells = comparison.compare(printed, leaderboard, correlations)
        n_not_run = int((printed["value"] != "").sum()) - len(cells)
        made.append(Compared(name, comparison.title, comparison.says, cells, n_not_run))
    return made


_ROUGE_VARIANTS = {
    "ROUGE-1-P": "rouge1_precision",
    "ROUGE-1-R": "rouge1_recall",
    "ROUGE-1-F": "rouge1_fmeasure",
    "ROUGE-2-P": "rouge2_precision",
    "ROUGE-2-R": "rouge2_recall",
    "ROUGE-2-F": "rouge2_fmeasure",
    "ROUGE-L-P": "rougeL_precision",
    "ROUGE-L-R": "rougeL_recall",
    "ROUGE-L-F": "rougeL_fmeasure",
}
_CRITERIA = {
    "Factual Precision": "factual_precision",
    "Factual Recall": "factual_recall",
    "Factual F1": "factual_f1",
    "Hallucination Rate": "hallucination_rate",
    "Omission Rate": "omission_rate",
}
_AGGREGATE = "Aggregate Score"
_OTHER_ROUGE = (
    "Another ROUGE: ours is the rouge-score package, lower-cased words and counted n-grams. The"
    " authors' own was not released and no variant we know of gives their whole table; theirs"
    " seems to keep case and punctuation and to compare sets of n-grams. Ours is never tuned"
    " towards it."
)


def _compare_benabacha(
    printed: pd.DataFrame, _leaderboard: pd.DataFrame, correlations: pd.DataFrame
) -> pd.DataFrame:
    """Pearson over all texts; aggregate = (2F - H - O) / 4 of a metric's correlations (sec. 5)."""
    ours = _correlation_values(correlations, study="mts_dialog")
    cells = []
    for _, name, _, quantity, value, note in rows(printed, *_USED):
        metric = _ROUGE_VARIANTS.get(name)
        if metric is None:
            continue
        if quantity == _AGGREGATE:
            parts = ("factual_f1", "hallucination_rate", "omission_rate")
            if not all((metric, criterion) in ours for criterion in parts):
                continue
            number = _aggregate(*(ours[metric, criterion] for criterion in parts))
        elif (metric, _CRITERIA.get(quantity)) in ours:
            number = ours[metric, _CRITERIA[quantity]]
        else:
            continue
        cells.append(Cell(name, quantity, number, float(value), note))
    return _as_frame(cells, reason=_OTHER_ROUGE)


def _aggregate(f: float | None, h: float | None, o: float | None) -> float | None:
    return None if f is None or h is None or o is None else (2 * f - h - o) / 4


_AUTHORS = {
    ("BART + SAMSum FT", "full"): "bart_samsum_full",
    ("BART + SAMSum FT", "section"): "bart_samsum_section",
    ("BioBART", "full"): "biobart_full",
    ("BioBART", "section"): "biobart_section",
    ("ChatGPT", "full"): "chatgpt",
    ("GPT-4", "full"): "gpt4",
    ("Reported GPT-3.5-turbo", "full, 0-shot"): "chatgpt",
    ("Reported GPT-4", "full, 0-shot"): "gpt4",
}
_SECTIONS = {
    "full note": FULL,
    "Subjective": "subjective",
    "Objective-Exam": "objective_exam",
    "Objective-Results": "objective_results",
    "Assessment and Plan": "assessment_and_plan",
}
_NOT_EXPECTED = (
    "Unexpected: the same texts under rouge-score 0.1.2 without stemming gave the printed digits."
    " Look for another version, other texts, or another segmentation."
)


def _compare_doclens(metrics: dict[str, str]) -> Compare:
    """100 x our macro value of the metric that stands for each printed quantity."""

    def compare(
        printed: pd.DataFrame, leaderboard: pd.DataFrame, _correlations: pd.DataFrame
    ) -> pd.DataFrame:
        ours = _macro_values(leaderboard)
        cells = []
        for section, system, setting, quantity, value, note in rows(printed, *_USED):
            author = _AUTHORS.get((system, setting))
            key = (_SECTIONS.get(section), metrics.get(quantity), author)
            if key in ours:
                number = ours[key]
                row = f"{system}, {setting}"
                column = quantity if section == "full note" else f"{section} {quantity}"
                scaled = None if number is None else 100 * number
                cells.append(Cell(row, column, scaled, float(value), note))
        return _as_frame(cells, reason=_NOT_EXPECTED)

    return compare


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
        _compare_doclens(
            {
                "Rouge-1": "rouge1_fmeasure",
                "Rouge-2": "rouge2_fmeasure",
                "Rouge-L": "rougeLsum_fmeasure",
            }
        ),
    ),
    "doclens_table24": Comparison(
        "DocLens, table 24: ROUGE of sections on ACI-BENCH test 1",
        ("doclens_table24.csv",),
        "F1 x 100, mean over the 40 notes, sections prepared as the original does (compat"
        " doclens-table24): a section that both texts lack counts, which is right for comparing"
        " with the print and for nothing else.",
        _compare_doclens(
            {
                "Rouge-1": "rouge1_fmeasure",
                "Rouge-2": "rouge2_fmeasure",
                "Rouge-L": "rougeL_fmeasure",
            }
        ),
    ),
}


def _read(file: Path) -> pd.DataFrame:
    if not file.exists():
        raise BadInput(f"published: {file} does not exist; restore it from the repository")
    printed = pd.read_csv(file, dtype=str, keep_default_na=False, encoding="utf-8")
    lacking = [name for name in _USED if name not in printed.columns]
    if lacking:
        raise BadInput(f"published: {file} lacks the columns {lacking}; restore the file")
    return printed


def _correlation_values(
    correlations: pd.DataFrame, *, study: str
) -> dict[tuple[str, str | None], float | None]:
    chosen = correlations[
        (correlations["study"] == study)
        & (correlations["part"] == FULL)
        & (correlations["judge"] == NO_JUDGE)
        & (correlations["level"] == "global")
        & (correlations["coefficient"] == "pearson")
    ]
    return {(m, c): value for m, c, value in rows(chosen, "metric", "criterion", "value")}


def _macro_values(
    leaderboard: pd.DataFrame,
) -> dict[tuple[str | None, str | None, str | None], float | None]:
    chosen = leaderboard[leaderboard["judge"] == NO_JUDGE]
    return {(p, m, a): v for p, m, a, v in rows(chosen, "part", "metric", "author", "macro")}


def _as_frame(cells: list[Cell], *, reason: str) -> pd.DataFrame:
    made = []
    for cell in cells:
        difference = None if cell.ours is None else round(cell.ours - cell.published, 12)
        made.append([*cell[:4], difference, _note(difference, cell.note, reason)])
    frame = pd.DataFrame(made, columns=_COLUMNS)
    numbers = ["ours", "published", "difference"]
    return frame.astype({name: "float64" for name in numbers})


def _note(difference: float | None, transcription: str, reason: str) -> str:
    if difference is None:
        return "Undefined here."
    if agrees(difference):
        return ""
    return f"{reason} The transcribed row notes: {transcription}." if transcription else reason


def agrees(difference: float | None) -> bool:
    """Whether ours rounds to the printed digits (two decimals)."""
    return difference is not None and abs(difference) <= TOLERANCE + 1e-9
