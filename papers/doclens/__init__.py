"""Figures and tables of DocLens (Xie et al. 2024).

`notes` has those on ACI-BENCH, `by_model` the same by a language model of one's own,
`reports_and_questions` those on MIMIC-III and MeQSum, `judges` those on sets of known
labels; `shared` has what several of them show.
"""

from collections.abc import Sequence

from papers.doclens.by_model import BY_MODEL
from papers.doclens.judges import JUDGES
from papers.doclens.notes import NOTES
from papers.doclens.reports_and_questions import REPORTS_AND_QUESTIONS
from papers.record import Record

RECORDS: Sequence[Record] = [*NOTES, *BY_MODEL, *REPORTS_AND_QUESTIONS, *JUDGES]
