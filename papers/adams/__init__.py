"""Figures and tables of Adams et al. 2023: metrics of faithfulness for hospital courses.

The paper's data are only for credentialed users. What is here is of other data: whole
summaries of MTS-Dialog, and single statements of invented hospital stays (the names of
these figures end in `_hospital` where there are both).

Correlations are with rates of errors, and printed with their signs turned: `scale=-1`.

`shared` has what several of them show; `figures` and `tables` are the records.
"""

from collections.abc import Sequence

from papers.adams.figures import FIGURES
from papers.adams.tables import TABLES
from papers.record import Record

RECORDS: Sequence[Record] = [*FIGURES, *TABLES]
