"""The expert study of SimSUM (Rabaey et al.): five raters graded 30 generated clinical notes."""

from metassay.datasets.simsum import CRITERIA, STUDY
from metassay.paper_figures.record import Line, Numbers, Record
from metassay.tables.names import FULL

_OF_STUDY = {"study": STUDY}
_TITLES = {
    "consistency": "Consistency with the prompt",
    "realism_hist": "Realism of the history",
    "realism_phys": "Realism of the physical examination",
    "clinical_accuracy": "Clinical accuracy",
    "compact_content": "Content of the compact version",
    "compact_readability": "Readability of the compact version",
}
_MEANS = {**_OF_STUDY, "part": FULL, "of": "all"}
_ALPHA = {
    **_OF_STUDY,
    "coefficient": "krippendorff_alpha_ordinal",
    "rater_a": "all",
    "rater_b": "all",
}

RECORDS = (
    Record(
        "simsum",
        "summary",
        "Experts' grades of generated notes, and how far they agree",
        "table",
        rows=tuple(
            Line(_TITLES[criterion], ours={"criterion": criterion}) for criterion in CRITERIA
        ),
        columns=(
            Line(
                "Mean",
                numbers=Numbers(
                    "simsum", "rating_summaries", "mean", "low", "high", n="n", where=_MEANS
                ),
            ),
            Line("SD", numbers=Numbers("simsum", "rating_summaries", "sd", where=_MEANS)),
            Line(
                "Alpha",
                numbers=Numbers("simsum", "agreement", "value", "low", "high", where=_ALPHA),
            ),
        ),
        says="Grades from 1 to 5, more is better; mean and standard deviation over raters and notes"
        " (30 of them by five raters in the study), with a bootstrap interval over notes; ordinal"
        " Krippendorff's alpha over raters.",
        open="the raters' sheets, which the study's authors released, are in no dataset of"
        " data/registry.yaml yet; docs/own-data.md says how to read a copy of one's own (reader"
        " simsum). The record is whole: with a benchmark `simsum` it is drawn without this line",
    ),
)
