"""Our numbers beside those that papers printed. Nothing here is tuned to make them agree.

A comparison picks, from a transcribed table in `reports/published/`, the cells that we compute
too. What a paper printed for metrics or systems that were not run here is counted, not shown.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from metassay.errors import BadInput
from metassay.reporting import doclens, released
from metassay.reporting.cells import (
    USED,
    Cell,
    Compare,
    Ours,
    agrees,
    as_frame,
    correlation_values,
    read_printed,
)
from metassay.reporting.published_claims import ClaimScores, compare_claims
from metassay.reporting.tables import rows

__all__ = ["COMPARISONS", "Compared", "Comparison", "agrees", "compare_all"]


@dataclass(frozen=True)
class Comparison:
    """A printed table: its title, its files in `reports/published/`, how cells are matched.

    `compare(printed, tables)` gives a frame of row, column, ours, published, difference (ours less
    published) and note (why they differ, where they do). Where `ours` is of a part of the documents
    alone, as the print is, `ours_all` has the same of all of them.
    """

    title: str
    files: tuple[str, ...]
    says: str
    compare: Compare
    decimals: int = 2  # that are printed


@dataclass(frozen=True)
class ClaimComparison:
    """Printed claim scores of several evaluators, which stand beside those of our judges."""

    title: str
    files: tuple[str, ...]
    says: str


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
        comparison = COMPARISONS[name]
        printed = pd.concat([read_printed(folder / file) for file in comparison.files])
        title, says = comparison.title, comparison.says
        if isinstance(comparison, ClaimComparison):
            made.append(
                ClaimScores(name, title, says, *compare_claims(printed, tables.leaderboard))
            )
            continue
        cells = comparison.compare(printed, tables)
        n_not_run = int((printed["value"] != "").sum()) - len(cells)
        made.append(Compared(name, title, says, cells, n_not_run, comparison.decimals))
    return made


ROUGE_VARIANTS = {
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


COMPARISONS: dict[str, Comparison | ClaimComparison] = {
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
        doclens.compare_scores(
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
        doclens.compare_scores(
            {
                "Rouge-1": "rouge1_fmeasure",
                "Rouge-2": "rouge2_fmeasure",
                "Rouge-L": "rougeL_fmeasure",
            }
        ),
    ),
    "doclens_claims": ClaimComparison(
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
    ),
    "maynez_spearman": Comparison(
        "Maynez et al.: metrics against faithfulness and factuality on XSum",
        ("maynez_spearman.csv",),
        "Spearman correlation over the 1,992 summaries that have released scores, with the means"
        " over raters that were released beside them (faithful_released, factual_released). What"
        " the raters' own spans and answers give is among the correlations (faithfulness,"
        " factuality); the page on datasets says why it differs.",
        released.compare_maynez,
        decimals=3,
    ),
    "unieval_topical_chat": Comparison(
        "UniEval: its scores against people on Topical-Chat",
        ("unieval_topical_chat.csv",),
        "Correlation over all 360 turns, each dimension with the same one by people, as printed in"
        " the authors' repository.",
        released.compare_unieval("topical_chat"),
        decimals=6,
    ),
    "unieval_sfres": Comparison(
        "UniEval: its scores against people on SFRES",
        ("unieval_sfres.csv",),
        "Correlation over all 1,181 sentences, each dimension with the same one by people, as"
        " printed in the authors' repository.",
        released.compare_unieval("sfres"),
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
        released.compare_scholarsum,
        decimals=4,
    ),
    "fm_weights": Comparison(
        "ScholarSum, section 4.2: weights of the facets in the overall score",
        ("fm_weights.csv",),
        "Ours: least squares of the released overall scores on the released scores of the facets,"
        " over the texts that have all four.",
        released.compare_scholarsum_weights,
        decimals=3,
    ),
}
