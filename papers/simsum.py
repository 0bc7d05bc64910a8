"""The SimSUM expert study: grades of generated clinical notes."""

from collections.abc import Sequence

from papers.record import Line, Missing, Numbers, Record

ALL_NOTES = {"study": "simsum", "part": "full", "of": "all"}


def criterion(title: str, name: str) -> Line:
    """Return the row of a criterion, which the print calls as we do."""
    return Line(
        title=title,
        ours={"criterion": name},
        printed={"system_or_metric": name},
    )


RECORDS: Sequence[Record] = [
    Record(
        paper="simsum",
        name="summary",
        title="Experts' grades of generated notes, and how far they agree",
        rows=[
            criterion("Consistency with the prompt", "consistency"),
            criterion("Realism of the history", "realism_hist"),
            criterion("Realism of the physical examination", "realism_phys"),
            criterion("Clinical accuracy", "clinical_accuracy"),
            criterion("Content of the compact version", "compact_content"),
            criterion("Readability of the compact version", "compact_readability"),
        ],
        columns=[
            Line(
                title="Mean",
                printed={"quantity": "mean"},
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
                printed=None,
                numbers=Numbers(
                    benchmark="simsum",
                    table="rating_summaries",
                    value="sd",
                    where=ALL_NOTES,
                ),
            ),
            Line(
                title="Alpha",
                printed={"quantity": "Krippendorff's alpha, ordinal"},
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
        printed_files=["simsum_summary.csv"],
        caption="""
            Grades from 1 to 5, more is better; mean and standard deviation over raters and
            notes (30 of them by five raters in the study), with a bootstrap interval over
            notes; ordinal Krippendorff's alpha over raters. The print is in the study's
            notebook; its spread is of the five raters' means.
        """,
        open=Missing(
            kind="data",
            what="""
                needs the raters' sheets, which the study's authors released. With a network,
                copy papers/benchmarks/simsum into benchmarks/ and run it
            """,
        ),
    )
]
