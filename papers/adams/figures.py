"""The figures of the paper."""

from collections.abc import Sequence

from papers.adams.shared import (
    ANY_ERROR,
    BARTSCORE_TUNED,
    BARTSCORE_UNTRAINED,
    BERTSCORE,
    BY_SUMMARY,
    BY_SUMMARY_AND_BY_SENTENCE,
    CATEGORIES_OF_ERROR,
    CLAIM_PRECISION_SEMANTIC,
    CLUSTERED,
    COVERAGE,
    CTC_TUNED,
    DISTILLED,
    FAITHFULNESS_LEXICAL,
    FAITHFULNESS_SEMANTIC,
    HOSPITAL_ERRORS,
    HOSPITAL_LEAST_COPIED,
    HOSPITAL_PEOPLE,
    HOSPITAL_SPREAD,
    INVENTED,
    JUDGED,
    METRICS,
    MTS_ALL_TEXTS,
    MTS_LEAST_COPIED,
    MTS_PEOPLE,
    MTS_SIGN,
    OTHER_COURSES,
    OTHER_SYSTEMS,
    SHARES_COPIED_LEAST,
    SIGN,
    STATEMENT_COVERAGE,
    STATEMENT_METRICS,
    TUNED_BARTSCORE,
    TWO_ALIGNMENTS,
)
from papers.record import (
    Line,
    Record,
    estimate,
)


def confounds_of_summaries(confound: str) -> Record:
    """Return one half of figure 8 on MTS-Dialog, by coverage or density."""
    return Record(
        paper="adams",
        name=f"fig8_{confound}",
        title=f"Metrics' correlation with people, by their correlation with {confound}",
        form="scatter",
        panels=MTS_ALL_TEXTS,
        rows=METRICS,
        columns=[
            Line(
                title=f"Correlation with {confound}",
                ours={"confound": confound, "statistic": "metric"},
                numbers=estimate("mts_dialog", "confounds"),
            ),
            Line(title="Correlation with people", numbers=MTS_PEOPLE),
        ],
        caption=f"""
            {MTS_SIGN}
            Intervals are for other systems and other conversations. Not of the paper's
            data, which are for credentialed users.
        """,
    )


def confound_of_statements(benchmark: str, confound: str) -> Line:
    """Return the column of metrics' correlation with coverage or density."""
    return Line(
        title=f"Correlation with {confound}",
        ours={
            "confound": f"{confound}@rouge_gain",
            "statistic": "metric",
            "part": "statement",
            "level": "global",
            "coefficient": "pearson",
            "criterion": "error",
        },
        numbers=estimate(benchmark, "confounds"),
    )


def confounds_of_statements(confound: str) -> Record:
    """Return one half of figure 8 on the invented stays, by coverage or density."""
    return Record(
        paper="adams",
        name=f"fig8_{confound}_hospital",
        title=(
            "Metrics' correlation with people, by their correlation with"
            f" {confound}, of sentences"
        ),
        form="scatter",
        rows=STATEMENT_METRICS,
        columns=[
            confound_of_statements("hospital_course", confound),
            Line(title="Correlation with people", numbers=HOSPITAL_ERRORS),
        ],
        caption=f"{SIGN} {OTHER_SYSTEMS} {INVENTED}",
    )


def place_in_summary(place: int) -> Line:
    """Return the column of a sentence's place in the summary, from 1."""
    return Line(title=str(place), ours={"place": str(place)}, x=place)


FIGURES: Sequence[Record] = [
    Record(
        paper="adams",
        name="fig2",
        title="Correlation with people by alignment",
        form="violins",
        numbers=HOSPITAL_SPREAD,
        rows=[
            Line(title="ROUGE-Gain", ours={"alignment": "rouge_gain"}),
            Line(title="BS-Gain", ours={"alignment": "bs_gain"}),
            Line(title="ROUGE-TopK", ours={"alignment": "rouge_topk"}),
            Line(title="BS-TopK", ours={"alignment": "bs_topk"}),
            Line(title="Top Section", ours={"alignment": "top_section"}),
            Line(title="Entity Chain", ours={"alignment": "entity_chain"}),
            Line(title="Full", ours={"alignment": "full"}),
        ],
        columns=[Line(title="Any error", ours={"criterion": "error"})],
        axis="Pearson's r with people",
        caption=f"""
            {SIGN}
            By what metrics read: the correlations of all metrics, each under every model.
            The dot is their mean. CTC and BARTScore are there three times, tuned by three
            alignments.
            {INVENTED}
        """,
    ),
    Record(
        paper="adams",
        name="fig3",
        title="BARTScore by sentence and by summary",
        form="bars",
        numbers=TUNED_BARTSCORE,
        rows=TWO_ALIGNMENTS,
        columns=BY_SUMMARY_AND_BY_SENTENCE,
        printed_files=["adams_table4.csv"],
        axis="Pearson's r with people",
        caption=BY_SUMMARY,
        not_comparable=OTHER_COURSES,
    ),
    Record(
        paper="adams",
        name="fig4",
        title="Metrics on the summaries that copy least",
        form="lines",
        numbers=MTS_LEAST_COPIED,
        rows=[
            COVERAGE,
            FAITHFULNESS_LEXICAL,
            FAITHFULNESS_SEMANTIC,
            CLAIM_PRECISION_SEMANTIC,
            Line(
                title="ROUGE-1 F",
                ours={"judge": "none", "metric": "rouge1_fmeasure"},
                printed=None,
            ),
        ],
        columns=SHARES_COPIED_LEAST,
        axis="Pearson's r with people",
        across="per cent of the summaries, those that copy least by coverage",
        caption=f"""
            {MTS_SIGN}
            Across: the summaries that copy least, by coverage. With a bootstrap interval
            over conversations. Not of the paper's data, which are for credentialed users.
        """,
    ),
    Record(
        paper="adams",
        name="fig4_hospital",
        title="Metrics on the sentences that copy least",
        form="lines",
        numbers=HOSPITAL_LEAST_COPIED,
        rows=[
            STATEMENT_COVERAGE,
            BARTSCORE_UNTRAINED,
            BARTSCORE_TUNED,
            CTC_TUNED,
            DISTILLED,
        ],
        columns=SHARES_COPIED_LEAST,
        axis="Pearson's r with people",
        across="per cent of the sentences, those that copy least by coverage",
        caption=f"{SIGN} {CLUSTERED} {INVENTED}",
    ),
    Record(
        paper="adams",
        name="fig6",
        title="Rate of errors by place in the summary",
        form="lines",
        numbers=estimate("hospital_course", "errors_by_position", where=ANY_ERROR),
        rows=[Line(title="All systems", ours={"author": "all"})],
        columns=[place_in_summary(place) for place in range(1, 10)],
        axis="share of elements with an error",
        across="sentence of the summary",
        caption="""
            Mean over sentences and raters, with a bootstrap interval over stays. Of the
            invented hospital stays (data/hospital_course), where errors were planted at a
            rate of .06 in the first sentence and .04 more in each further one, times 1 on
            average over systems; one rater in two gives one element in ten another label,
            which adds errors more often than it takes some away.
        """,
    ),
    Record(
        paper="adams",
        name="fig7",
        title="How the distilled metric is chosen",
        form="scatter",
        rows=[
            *JUDGED,
            BERTSCORE,
            BARTSCORE_TUNED,
            CTC_TUNED,
            Line(
                title="Probability of support, semantic judge",
                ours={"metric": "support_probability@rouge_gain", "judge": "semantic"},
            ),
        ],
        columns=[
            confound_of_statements("hospital_course_training", "coverage"),
            Line(
                title="Correlation with people",
                numbers=estimate(
                    "hospital_course_training",
                    "statement_correlations",
                    scale=-1,
                    where=ANY_ERROR,
                ),
            ),
        ],
        caption=f"""
            {SIGN}
            Teachers are metrics high up and far to the left: benchmarks/hospital_distilled
            has the rule, which leaves held-out stays out; here are all. Of the invented
            stays to train on (data/hospital_course_training), not those that metrics are
            tested on.
        """,
    ),
    confounds_of_statements("coverage"),
    confounds_of_statements("density"),
    confounds_of_summaries("coverage"),
    confounds_of_summaries("density"),
    Record(
        paper="adams",
        name="fig9",
        title="Correlation with people by category of error",
        form="violins",
        numbers=HOSPITAL_SPREAD,
        rows=CATEGORIES_OF_ERROR,
        columns=[Line(title="All alignments", ours={"alignment": "all"})],
        axis="Pearson's r with people",
        caption=f"""
            {SIGN}
            The correlations of all metrics, each under every model and with every
            alignment. The dot is their mean.
            {INVENTED}
        """,
    ),
    Record(
        paper="adams",
        name="fig10",
        title="Metrics by category of error",
        form="bars",
        numbers=HOSPITAL_PEOPLE,
        rows=STATEMENT_METRICS,
        columns=CATEGORIES_OF_ERROR,
        axis="Pearson's r with people",
        caption=f"{SIGN} {OTHER_SYSTEMS} {INVENTED}",
    ),
]
