"""The comparisons that a benchmark or a test of judges may name, and how they are made."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from metassay.core.errors import BadInput
from metassay.labelled.results import Cards
from metassay.reporting.page import ExtraTables
from metassay.reporting.published import (
    benabacha,
    doclens,
    maynez,
    scholarsum,
    unieval,
)
from metassay.reporting.published.cells import CellComparison, Ours
from metassay.reporting.published.claims import ClaimComparison
from metassay.reporting.published.judges import JudgeComparison

COMPARISONS: Mapping[str, CellComparison | ClaimComparison] = {
    "benabacha_table2": benabacha.TABLE_2,
    "doclens_table20": doclens.TABLE_20,
    "doclens_table24": doclens.TABLE_24,
    "doclens_claims": doclens.CLAIMS,
    "maynez_spearman": maynez.SPEARMAN,
    "unieval_topical_chat": unieval.TOPICAL_CHAT,
    "unieval_sfres": unieval.SFRES,
    "fm_table4": scholarsum.TABLE_4,
    "fm_weights": scholarsum.WEIGHTS,
}
JUDGE_COMPARISONS: Mapping[str, JudgeComparison] = {
    "doclens_table1": doclens.TABLE_1,
    "doclens_table4": doclens.TABLE_4,
    "doclens_table5": doclens.TABLE_5,
    "doclens_table6": doclens.TABLE_6,
    "doclens_table7": doclens.TABLE_7,
}


def compare_all(names: Iterable[str], folder: Path, ours: Ours) -> ExtraTables:
    """Put our numbers of a benchmark beside the printed ones of the named comparisons.

    Parameters
    ----------
    names
        Names of COMPARISONS; BadInput for another.
    folder
        The folder of the printed tables; BadInput for one that cannot be read.
    ours
        Our tables.
    """
    compared = ExtraTables({}, {})
    for name in names:
        if name not in COMPARISONS:
            raise _unknown(name, COMPARISONS, "benchmark")
        COMPARISONS[name].add_to(compared, name, folder, ours)
    return compared


def compare_judges(names: Iterable[str], folder: Path, cards: Cards) -> ExtraTables:
    """Put our judges' accuracies in a test beside the printed ones of the named comparisons.

    Parameters
    ----------
    names
        Names of JUDGE_COMPARISONS; BadInput for another.
    folder
        The folder of the printed tables; BadInput for one that cannot be read.
    cards
        The cards of our judges.
    """
    compared = ExtraTables({}, {})
    for name in names:
        if name not in JUDGE_COMPARISONS:
            raise _unknown(name, JUDGE_COMPARISONS, "test")
        JUDGE_COMPARISONS[name].add_to(compared, name, folder, cards)
    return compared


def _unknown(name: str, known: Iterable[str], owner: str) -> BadInput:
    return BadInput(
        f"published: {name!r} is not known; choose from {sorted(known)} in the {owner}'s"
        " params.yaml"
    )
