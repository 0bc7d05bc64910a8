"""The papers whose figures and tables there are records of."""

from collections.abc import Mapping

from metassay.paper_figures import adams, benabacha, doclens, fm, simsum
from metassay.paper_figures.record import Record

PAPERS: Mapping[str, tuple[Record, ...]] = {
    "doclens": doclens.RECORDS,
    "fm": fm.RECORDS,
    "adams": adams.RECORDS,
    "benabacha": benabacha.RECORDS,
    "simsum": simsum.RECORDS,
}
