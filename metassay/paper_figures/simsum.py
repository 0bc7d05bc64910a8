"""The SimSUM expert study: grades of generated clinical notes."""

from collections.abc import Sequence

from metassay.paper_figures.record import Line, Missing, Numbers, Record, lines_by

ALL_NOTES = {"study": "simsum", "part": "full", "of": "all"}

RECORDS: Sequence[Record] = [
    Record(
        paper="simsum",
        name="summary",
        title="Experts' grades of generated notes, and how far they agree",
        rows=lines_by(
            "criterion",
            {
                "Consistency with the prompt": "consistency",
                "Realism of the history": "realism_hist",
                "Realism of the physical examination": "realism_phys",
                "Clinical accuracy": "clinical_accuracy",
                "Content of the compact version": "compact_content",
                "Readability of the compact version": "compact_readability",
            },
        ),
        columns=[
            Line(
                title="Mean",
                numbers=Numbers(
                    benchmark="simsum",
                    table="rating_summaries",
                    value="mean",
                    low="low",
                    high="high",
                    n="n",
                    where=ALL_NOTES,
                ),
            ),
            Line(
                title="SD",
                numbers=Numbers(
                    benchmark="simsum",
                    table="rating_summaries",
                    value="sd",
                    where=ALL_NOTES,
                ),
            ),
            Line(
                title="Alpha",
                numbers=Numbers(
                    benchmark="simsum",
                    table="agreement",
                    value="value",
                    low="low",
                    high="high",
                    where={
                        "study": "simsum",
                        "coefficient": "krippendorff_alpha_ordinal",
                        "rater_a": "all",
                        "rater_b": "all",
                    },
                ),
            ),
        ],
        caption="""
            Grades from 1 to 5, more is better; mean and standard deviation over raters and
            notes (30 of them by five raters in the study), with a bootstrap interval over
            notes; ordinal Krippendorff's alpha over raters.
        """,
        open=Missing(
            kind="data",
            what="""
                the raters' sheets, which the study's authors released, are in no dataset of
                data/registry.yaml yet; docs/own-data.md says how to read a copy of one's own
                (reader simsum)
            """,
        ),
    )
]
