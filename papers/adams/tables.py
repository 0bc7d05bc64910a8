"""The tables of the paper."""

from collections.abc import Sequence
from dataclasses import replace

from papers.adams.shared import (
    ANY_ERROR,
    BARTSCORE_TUNED,
    BARTSCORE_UNTRAINED,
    BERTSCORE,
    BY_SUMMARY,
    BY_SUMMARY_AND_BY_SENTENCE,
    CLUSTERED,
    COVERAGE,
    COVERAGE_AND_DENSITY,
    COVERAGE_EXPLAINED,
    CTC_TUNED,
    DISTILLED,
    HOSPITAL_LEAST_COPIED,
    HOSPITAL_PEOPLE,
    INVENTED,
    JUDGED,
    METRICS,
    MTS_LEAST_COPIED,
    MTS_OTHER_DATA,
    MTS_SIGN,
    OTHER_COURSES,
    OTHER_SYSTEMS,
    REFERENCE_AND_SYSTEMS,
    SIGN,
    STATEMENT_COVERAGE,
    TUNED_BARTSCORE,
    TWO_ALIGNMENTS,
    printed_row,
)
from papers.record import (
    Line,
    Numbers,
    Record,
    estimate,
)


def size_of(benchmark: str) -> Numbers:
    """Return the sizes of a benchmark's texts."""
    return Numbers(benchmark=benchmark, table="sizes", value="value", n="n")


def alignment(title: str, name: str, printed: str | None = None) -> Line:
    """Return the row of an alignment in table 10, and the printed row beside it."""
    return Line(
        title=title,
        ours={"method": name},
        printed=printed_row(printed or title),
    )


def teacher(title: str, metric: str) -> Line:
    """Return the row of a metric that the distilled one learnt from; none was printed."""
    return Line(
        title=f"Teacher: {title}",
        ours={"which": "other", "metric": f"{metric} (tuned_rouge_gain)"},
        printed=None,
    )


def compared_with_distilled(title: str, which: str, printed: str) -> Line:
    """Return a row of table 8."""
    return Line(title=title, ours={"which": which}, printed=printed_row(printed))


def member(title: str, name: str, printed: str | None = None) -> Line:
    """Return the row of a metric in ensembles, and the printed row beside it, if there is one."""
    return Line(
        title=title,
        ours={"members": name},
        printed=printed_row(printed) if printed else None,
    )


TABLES: Sequence[Record] = [
    Record(
        paper="adams",
        name="table1",
        title="Size of the hospital courses",
        rows=[
            Line(
                title="To train metrics",
                numbers=size_of("hospital_course_training"),
                printed={"split_or_section": "Training Data for Evaluation Metrics"},
            ),
            Line(
                title="To test metrics",
                numbers=size_of("hospital_course"),
                printed={"split_or_section": "Held-Out Human Annotation Data"},
            ),
        ],
        columns=[
            Line(
                title="Stays",
                ours={"what": "documents"},
                printed={"quantity": "admissions"},
            ),
            Line(
                title="Notes",
                ours={"what": "notes"},
                printed={"quantity": "source notes per admission"},
            ),
            Line(
                title="Words of notes",
                ours={"what": "source_words"},
                printed={"quantity": "source tokens per admission"},
            ),
            Line(
                title="Sentences of a reference",
                ours={"what": "reference_sentences"},
                printed={"quantity": "reference sentences per admission"},
            ),
            Line(
                title="Words of a reference",
                ours={"what": "reference_words"},
                printed={"quantity": "reference tokens per admission"},
            ),
        ],
        printed_files=["adams_table1.csv"],
        decimals=1,
        caption="""
            Means over the invented stays (data/hospital_course_training,
            data/hospital_course; the second has no references). Words stand between blanks.
            The paper's third set trains its summarizer; ours are made by a script.
        """,
        not_comparable=OTHER_COURSES,
    ),
    Record(
        paper="adams",
        name="table2",
        title="Errors that raters marked",
        numbers=Numbers(
            benchmark="hospital_course",
            table="rating_summaries",
            value="mean",
            low="low",
            high="high",
            n="n",
            scale=100,
            where={"part": "full", "of": "all"},
        ),
        rows=[
            Line(
                title="Incorrect",
                ours={"criterion": "incorrect"},
                printed=printed_row("Incorrect SE"),
            ),
            Line(
                title="Missing",
                ours={"criterion": "missing"},
                printed=printed_row("Missing SE"),
            ),
            Line(
                title="Not in notes",
                ours={"criterion": "not_in_notes"},
                printed=printed_row("Not In Notes SE"),
            ),
            Line(
                title="Any error",
                ours={"criterion": "error"},
                printed=printed_row("Any Mistake SE"),
            ),
            Line(title="Critical", ours={"criterion": "critical"}, printed=None),
        ],
        columns=[
            Line(
                title="Per cent of elements",
                printed={"quantity": "share of all summary elements"},
            )
        ],
        printed_files=["adams_table2.csv"],
        decimals=1,
        caption="""
            Mean over sentences and two raters of the share of a sentence's elements, with a
            bootstrap interval over the 24 invented stays; in print elements of all sentences
            together. How many elements a sentence has stands in no table here
            (data/hospital_course/planted has it).
        """,
        not_comparable=OTHER_COURSES,
    ),
    Record(
        paper="adams",
        name="table3",
        title="Alignments in tuning and in use",
        numbers=Numbers(
            benchmark="hospital_course",
            table="tuning_by_use",
            value="value",
            n="n",
            scale=-1,
            where=ANY_ERROR,
        ),
        rows=[
            Line(
                title="Tuned by ROUGE-Gain",
                ours={"tuning": "rouge_gain"},
                printed=printed_row("tune: R-Gain"),
            ),
            Line(
                title="Tuned by BS-Gain",
                ours={"tuning": "bs_gain"},
                printed=printed_row("tune: BS-Gain"),
            ),
            Line(
                title="Tuned by ROUGE-TopK",
                ours={"tuning": "rouge_topk"},
                printed=printed_row("tune: R-TopK"),
            ),
            Line(
                title="Average",
                ours={"tuning": "average"},
                printed=printed_row("tune: average"),
            ),
        ],
        columns=[
            Line(
                title="ROUGE-Gain",
                ours={"use": "rouge_gain"},
                printed={"setting": "usage: R-Gain"},
            ),
            Line(
                title="BS-Gain",
                ours={"use": "bs_gain"},
                printed={"setting": "usage: BS-Gain"},
            ),
            Line(
                title="ROUGE-TopK",
                ours={"use": "rouge_topk"},
                printed={"setting": "usage: R-TopK"},
            ),
            Line(
                title="BS-TopK",
                ours={"use": "bs_topk"},
                printed={"setting": "usage: BS-TopK"},
            ),
            Line(
                title="Top Section",
                ours={"use": "top_section"},
                printed={"setting": "usage: Top Section"},
            ),
            Line(
                title="Entity Chain",
                ours={"use": "entity_chain"},
                printed={"setting": "usage: Entity Chain"},
            ),
            Line(title="Full", ours={"use": "full"}, printed=None),
            Line(
                title="Average",
                ours={"use": "average"},
                printed={"setting": "usage: average"},
            ),
        ],
        printed_files=["adams_table3.csv"],
        decimals=3,
        caption=f"""
            {SIGN}
            Means of BARTScore's and CTC's, each tuned by an alignment (down) and used with
            one (across); our averages are of three alignments down and of seven across. Here
            are three of the paper's six trainings.
            {INVENTED}
        """,
        not_comparable=OTHER_COURSES,
    ),
    Record(
        paper="adams",
        name="table4",
        title="BARTScore by sentence and by summary",
        numbers=TUNED_BARTSCORE,
        rows=TWO_ALIGNMENTS,
        columns=BY_SUMMARY_AND_BY_SENTENCE,
        printed_files=["adams_table4.csv"],
        decimals=3,
        caption=BY_SUMMARY,
        not_comparable=OTHER_COURSES,
    ),
    Record(
        paper="adams",
        name="table5",
        title="Metrics by adaptation to the domain",
        numbers=replace(
            HOSPITAL_PEOPLE,
            benchmark="hospital_adaptation",
            # It has one alignment, ROUGE-Gain, so that metrics are not named after it.
            where={"criterion": "error", "alignment": "", "by": "statement"},
        ),
        rows=[
            Line(
                title="BARTScore",
                ours={"base": "bartscore_source"},
                printed=printed_row("BARTScore"),
            ),
            Line(
                title="CTC",
                ours={"base": "ctc_consistency"},
                printed=printed_row("CTC"),
            ),
            Line(
                title="Average",
                parts=[
                    (0.5, {"base": "bartscore_source"}),
                    (0.5, {"base": "ctc_consistency"}),
                ],
                printed=None,
            ),
        ],
        columns=[
            Line(
                title="Untrained",
                ours={"judge": "untrained"},
                printed={"setting": "domain adaptation: Off The Shelf"},
            ),
            Line(
                title="Tuned",
                ours={"judge": "tuned_rouge_gain"},
                printed={"setting": "domain adaptation: Tuned In-Domain"},
            ),
            Line(
                title="Double",
                ours={"judge": "double_rouge_gain"},
                printed={"setting": "domain adaptation: Double In-Domain"},
            ),
        ],
        printed_files=["adams_table5.csv"],
        decimals=3,
        caption=f"""
            {SIGN}
            Tuned by ROUGE-Gain and used with it. Off the shelf a model knows other texts;
            ours that takes its place knows none, and CTC has no untrained form. Double: tuned
            from a base that was itself tuned on these stays, by ROUGE-TopK, where the
            paper's bases were trained on other clinical text. Nothing here is tuned for
            entailment.
            {OTHER_SYSTEMS}
            {INVENTED}
        """,
        not_comparable=OTHER_COURSES,
    ),
    Record(
        paper="adams",
        name="table6",
        title="How much of the source references and systems copy",
        numbers=estimate("mts_dialog", "by_kind_of_author"),
        panels=[
            Line(title="MTS-Dialog, 400 summaries"),
            Line(
                title="ACI-BENCH test 1, 480 notes",
                numbers=estimate("aci_bench", "by_kind_of_author"),
                printed=None,
            ),
        ],
        rows=REFERENCE_AND_SYSTEMS,
        columns=COVERAGE_AND_DENSITY,
        printed_files=["adams_table6.csv"],
        caption=f"""
            {COVERAGE_EXPLAINED}
            With a bootstrap interval over documents. Two of ACI-BENCH's 12 systems copy
            whole turns, hence its systems' density.
        """,
        not_comparable=MTS_OTHER_DATA,
    ),
    Record(
        paper="adams",
        name="table6_hospital",
        title="How much of the source references and systems copy, of the invented stays",
        numbers=estimate("hospital_course_training", "by_kind_of_author"),
        rows=REFERENCE_AND_SYSTEMS,
        columns=COVERAGE_AND_DENSITY,
        printed_files=["adams_table6.csv"],
        caption=f"""
            {COVERAGE_EXPLAINED}
            With a bootstrap interval over the 40 invented stays of
            data/hospital_course_training; those that metrics are tested on have no
            references. References copy 30 per cent of their elements, systems 51 on average.
        """,
        not_comparable=OTHER_COURSES,
    ),
    Record(
        paper="adams",
        name="table7",
        title="Metrics alone, and with coverage added",
        numbers=MTS_LEAST_COPIED,
        rows=[COVERAGE, *METRICS],
        columns=[
            Line(title="Alone", ours={"what": "alone", "share": "100"}),
            Line(
                title="With coverage",
                ours={"what": "with coverage", "share": "100"},
                printed=None,
            ),
        ],
        printed_files=["adams_table7.csv"],
        decimals=3,
        caption=f"""
            {MTS_SIGN}
            With coverage: the mean of both, each standardised by its standard deviation (the
            printed formula divides by the variance). With a bootstrap interval over
            conversations. BARTScore and CTC are in table7_hospital.
        """,
        not_comparable=MTS_OTHER_DATA,
    ),
    Record(
        paper="adams",
        name="table7_hospital",
        title="Metrics of sentences alone, and with coverage added",
        numbers=HOSPITAL_LEAST_COPIED,
        rows=[
            STATEMENT_COVERAGE,
            *JUDGED,
            BERTSCORE,
            replace(
                BARTSCORE_UNTRAINED,
                printed={
                    "system_or_metric": "BARTScore + Cov",
                    "setting": "domain adaptation: Off The Shelf",
                },
            ),
            replace(
                BARTSCORE_TUNED,
                printed={
                    "system_or_metric": "BARTScore + Cov",
                    "setting": "domain adaptation: Tuned In-Domain",
                },
            ),
            replace(
                CTC_TUNED,
                printed={
                    "system_or_metric": "CTC + Cov",
                    "setting": "domain adaptation: Tuned In-Domain",
                },
            ),
            DISTILLED,
        ],
        columns=[
            Line(
                title="Alone",
                ours={"what": "alone", "share": "100"},
                printed=None,
            ),
            Line(
                title="With coverage",
                ours={"what": "with coverage", "share": "100"},
            ),
        ],
        printed_files=["adams_table7.csv"],
        decimals=3,
        caption=f"""
            {SIGN}
            With coverage: the mean of both, each standardised by its standard deviation (the
            printed formula divides by the variance).
            {CLUSTERED}
            {INVENTED}
        """,
        not_comparable=OTHER_COURSES,
    ),
    Record(
        paper="adams",
        name="table8",
        title="The distilled metric",
        numbers=estimate("hospital_course", "distilled", scale=-1, where=ANY_ERROR),
        rows=[
            teacher("BARTScore, ROUGE-Gain", "bartscore_source@rouge_gain"),
            teacher("BARTScore, BS-Gain", "bartscore_source@bs_gain"),
            teacher("BARTScore, ROUGE-TopK", "bartscore_source@rouge_topk"),
            teacher("CTC, ROUGE-Gain", "ctc_consistency@rouge_gain"),
            teacher("CTC, BS-Gain", "ctc_consistency@bs_gain"),
            teacher("CTC, ROUGE-TopK", "ctc_consistency@rouge_topk"),
            compared_with_distilled(
                "Best other metric",
                which="best other",
                printed="Best Single Metric",
            ),
            compared_with_distilled(
                "Best other metric with coverage",
                which="best other with coverage",
                printed="Best Single Metric + Cov",
            ),
            compared_with_distilled(
                "Distilled",
                which="distilled",
                printed="Distilled",
            ),
            compared_with_distilled(
                "Distilled with coverage",
                which="distilled with coverage",
                printed="Distilled + Cov",
            ),
        ],
        columns=[
            Line(
                title="Pearson's r",
                printed={
                    "quantity": (
                        "human error rate HErr (fraction of summary elements with any"
                        " error)"
                    )
                },
            ),
            Line(
                title="Distilled less it",
                numbers=Numbers(
                    benchmark="hospital_course",
                    table="distilled",
                    value="less",
                    low="less_low",
                    high="less_high",
                    n="n",
                    scale=-1,
                    where=ANY_ERROR,
                ),
                printed=None,
            ),
            Line(
                title="p",
                numbers=Numbers(
                    benchmark="hospital_course",
                    table="distilled",
                    value="p",
                    n="n",
                    where=ANY_ERROR,
                ),
                printed={
                    "quantity": (
                        "one-sided Williams test p, Best Single Metric + Cov vs Distilled"
                        " + Cov"
                    )
                },
            ),
        ],
        printed_files=["adams_table8.csv", "adams_scalars.csv"],
        decimals=3,
        caption=f"""
            {SIGN}
            Distilled less it: above 0, the distilled metric is closer to people than the
            metric of the row, and below 0 it is further away; both have coverage added where
            the row says so. p: by Williams' test, one-sided, that the distilled metric is
            closer. The test takes sentences for independent, so p is too small where
            sentences of a stay are alike; the interval draws whole stays. The teachers were
            chosen on other stays. The best other metric is chosen on these sentences, of all
            metrics under every model and with every alignment, so its r is somewhat too
            high.
            {CLUSTERED}
            {INVENTED}
        """,
        not_comparable=OTHER_COURSES,
    ),
    Record(
        paper="adams",
        name="table9",
        title="Metrics alone, and in ensembles",
        numbers=estimate(
            "mts_dialog",
            "in_ensembles",
            where={
                "criterion": "hallucination_rate",
                "part": "full",
                "coefficient": "pearson",
            },
        ),
        rows=[
            Line(
                title="Coverage",
                ours={"metric": "coverage", "share": "100"},
                printed=printed_row("Coverage"),
                numbers=MTS_LEAST_COPIED,
            ),
            member("Faithfulness, lexical judge", "faithfulness (lexical)"),
            member("Faithfulness, semantic judge", "faithfulness (semantic)"),
            member("Claim precision, lexical judge", "claim_precision (lexical)"),
            member("Claim precision, semantic judge", "claim_precision (semantic)"),
            member("Claim recall, lexical judge", "claim_recall (lexical)"),
            member("Claim recall, semantic judge", "claim_recall (semantic)"),
            member("ROUGE-1 F", "rouge1_fmeasure"),
            member("ROUGE-2 F", "rouge2_fmeasure"),
            member("ROUGE-Lsum F", "rougeLsum_fmeasure"),
            member("BLEU", "bleu"),
            member("Word edit distance", "edit_distance"),
            member("Best ensemble, on other summaries", "best ensemble"),
            Line(
                title="Best ensemble, on the same summaries",
                ours={"members": "largest of all subsets"},
                printed={"setting": "best-performing ensemble"},
            ),
        ],
        columns=[
            Line(title="Alone", ours={"what": "alone"}, printed={"setting": "single"}),
            Line(title="In ensembles", ours={"what": "in ensembles"}),
            Line(title="The best", ours={"what": "together"}),
        ],
        printed_files=["adams_table9.csv"],
        decimals=3,
        caption=f"""
            {MTS_SIGN}
            Word edit distance, of which less is better, is turned first. All subsets of
            these metrics, means of standardised values; in ensembles: the mean of all that
            contain the metric. The best ensemble on the same summaries has the largest value
            of all subsets, as in print, which is too good. With a bootstrap interval over
            summaries (of coverage, over conversations). Coverage has no direction, and is in
            no ensemble of ours.
        """,
        not_comparable=MTS_OTHER_DATA,
    ),
    Record(
        paper="adams",
        name="table9_hospital",
        title="Metrics of sentences alone, and in ensembles",
        numbers=estimate(
            "hospital_course",
            "in_ensembles",
            where={
                "criterion": "error",
                "part": "statement",
                "coefficient": "pearson",
            },
        ),
        rows=[
            member("Faithfulness, lexical judge", "faithfulness@rouge_gain (lexical)"),
            member(
                "Faithfulness, semantic judge", "faithfulness@rouge_gain (semantic)"
            ),
            member(
                "BERTScore",
                "bertscore_source_f1@rouge_gain (minilm)",
                printed="BERTScore",
            ),
            member("BARTScore, untrained", "bartscore_source@rouge_gain (untrained)"),
            member(
                "BARTScore, tuned",
                "bartscore_source@rouge_gain (tuned_rouge_gain)",
                printed="BARTScore",
            ),
            member(
                "BARTScore, tuned, by summary",
                "bartscore_source@rouge_gain@text (tuned_rouge_gain)",
            ),
            member(
                "CTC, tuned",
                "ctc_consistency@rouge_gain (tuned_rouge_gain)",
                printed="CTC",
            ),
            member(
                "Distilled",
                "regressor@rouge_gain (distilled)",
                printed="Distilled",
            ),
            member("Best ensemble, on other stays", "best ensemble"),
            member(
                "Best ensemble, on the same stays",
                "largest of all subsets",
                printed="Best Ensemble (Coverage, BARTScore, Distilled)",
            ),
        ],
        columns=[
            Line(title="Alone", ours={"what": "alone"}, printed={"setting": "single"}),
            Line(
                title="In ensembles",
                ours={"what": "in ensembles"},
                printed={
                    "setting": "average over ensembles that include the metric",
                },
            ),
            Line(
                title="The best",
                ours={"what": "together"},
                printed={"setting": "best-performing ensemble"},
            ),
        ],
        printed_files=["adams_table9.csv"],
        decimals=3,
        caption=f"""
            {SIGN}
            All 255 subsets of these metrics, means of standardised values; in ensembles: the
            mean of the 128 that contain the metric. The best ensemble on the same stays has
            the largest value of all subsets, as in print, which is too good. Coverage has no
            direction, and is in no ensemble of ours. With a bootstrap interval over
            sentences, which is narrower than one over stays.
            {INVENTED}
        """,
        not_comparable=OTHER_COURSES,
    ),
    Record(
        paper="adams",
        name="table10",
        title="Passages of the source that a statement is read against",
        numbers=estimate("mts_dialog", "aligned_passages"),
        panels=[
            Line(title="MTS-Dialog"),
            Line(
                title="ACI-BENCH test 1",
                numbers=estimate("aci_bench", "aligned_passages"),
                printed=None,
            ),
        ],
        rows=[
            alignment("ROUGE-TopK, k = 5", "rouge_topk", "ROUGE-TopK"),
            alignment("The whole source", "whole source", "Full"),
        ],
        columns=[Line(title="Passages")],
        printed_files=["adams_table10.csv"],
        decimals=1,
        caption="""
            Mean over the statements of systems' texts, with a bootstrap interval over
            documents. A passage is a turn of the conversation, in print a sentence; one that
            shares no word with the statement is not aligned, so that there can be fewer than
            five. The paper's other alignments are in table10_hospital.
        """,
        not_comparable=MTS_OTHER_DATA,
    ),
    Record(
        paper="adams",
        name="table10_hospital",
        title="Sentences of the notes that a statement is read against",
        numbers=estimate("hospital_course", "aligned_passages"),
        rows=[
            alignment("ROUGE-Gain", "rouge_gain"),
            alignment("BS-Gain, k = 5", "bs_gain", "BS-Gain"),
            alignment("ROUGE-TopK, k = 5", "rouge_topk", "ROUGE-TopK"),
            alignment("BS-TopK, k = 5", "bs_topk", "BS-TopK"),
            alignment("Top Section", "top_section"),
            alignment("Entity Chain", "entity_chain"),
            alignment("Full", "full"),
        ],
        columns=[Line(title="Sentences")],
        printed_files=["adams_table10.csv"],
        decimals=1,
        caption="""
            Mean over the statements of systems' texts, with a bootstrap interval over the 24
            invented stays, whose notes have 20 to 60 short sentences. A sentence that occurs
            twice counts once.
        """,
        not_comparable=OTHER_COURSES,
    ),
]
