"""Figures and tables of Ben Abacha et al. 2023: metrics of clinical notes.

Only MTS-Dialog is public. The tables on CONSULT and MEDIQA-RRS show invented notes
beside the print (data/sample_facts).
"""

from collections.abc import Sequence

from papers.record import Line, Numbers, Record, estimate, lines_by


def ranked_correlations(benchmark: str) -> Numbers:
    """Return metrics' correlations with people, and which metric is best."""
    return Numbers(
        benchmark=benchmark,
        table="metrics_of_notes",
        value="value",
        low="low",
        high="high",
        n="n",
        place="place",
        p="p",
    )


INVENTED_SETS = ranked_correlations("sample_facts")
COUNTS = estimate("sample_facts", "agreement_of_counts")

# ---- rows: metrics -----------------------------------------------------------------------

PRINTED_METRICS = lines_by(
    "metric",
    {
        "ROUGE-1-P": "rouge1_precision",
        "ROUGE-1-R": "rouge1_recall",
        "ROUGE-1-F": "rouge1_fmeasure",
        "ROUGE-2-P": "rouge2_precision",
        "ROUGE-2-R": "rouge2_recall",
        "ROUGE-2-F": "rouge2_fmeasure",
        "ROUGE-L-P": "rougeL_precision",
        "ROUGE-L-R": "rougeL_recall",
        "ROUGE-L-F": "rougeL_fmeasure",
        "BERTScore-P": "bertscore_precision",
        "BERTScore-R": "bertscore_recall",
        "BERTScore-F": "bertscore_f1",
        "BLEURT": "bleurt",
        "BARTScore": "bartscore_precision",
        "MedBERTScore-P": "med_bertscore_precision",
        "MedBERTScore-SP": "med_bertscore_window_precision",
        "MedBARTScore": "med_bartscore_precision",
        "ClinicalBLEURT": "clinical_bleurt",
        "MIST": "mist",
        "MIST-Comb1": "mist_comb1",
        "MIST-Comb2": "mist_comb2",
    },
    ours={"judge": "none"},
    printed_column="system_or_metric",
)
FURTHER_METRICS = lines_by(
    "metric",
    {
        "MedBERTScore-R": "med_bertscore_recall",
        "MedBERTScore-F": "med_bertscore_f1",
        "MedBERTScore-S, recall": "med_bertscore_window_recall",
        "MedBERTScore-S, F": "med_bertscore_window_f1",
        "MEDCON-P": "medcon_precision",
        "MEDCON-R": "medcon_recall",
        "MEDCON-F": "medcon_f1",
        "ROUGE-Lsum-P": "rougeLsum_precision",
        "ROUGE-Lsum-R": "rougeLsum_recall",
        "ROUGE-Lsum-F": "rougeLsum_fmeasure",
        "BLEU": "bleu",
        "Edit distance": "edit_distance",
        "Edit distance, characters": "edit_distance_characters",
    },
    ours={"judge": "none"},
)


def judged_metric(title: str, metric: str) -> list[Line]:
    """Return the rows of a metric by the lexical and by the semantic judge."""
    return [
        Line(
            title=f"{title}, {judge} judge",
            ours={"judge": judge, "metric": metric},
            printed=None,
        )
        for judge in ("lexical", "semantic")
    ]


ALL_METRICS = [
    *PRINTED_METRICS,
    *FURTHER_METRICS,
    *judged_metric("Claim recall", "claim_recall"),
    *judged_metric("Claim precision", "claim_precision"),
    *judged_metric("Faithfulness", "faithfulness"),
]

# ---- columns: what people counted --------------------------------------------------------

COUNTS_OF_FACTS = [
    Line(
        title="Factual Precision ↑",
        ours={"criterion": "factual_precision"},
        printed={"quantity": "Factual Precision"},
    ),
    Line(
        title="Factual Recall ↑",
        ours={"criterion": "factual_recall"},
        printed={"quantity": "Factual Recall"},
    ),
    Line(
        title="Factual F1 ↑",
        ours={"criterion": "factual_f1"},
        printed={"quantity": "Factual F1"},
    ),
    Line(
        title="Hallucination Rate ↓",
        ours={"criterion": "hallucination_rate"},
        printed={"quantity": "Hallucination Rate"},
    ),
    Line(
        title="Omission Rate ↓",
        ours={"criterion": "omission_rate"},
        printed={"quantity": "Omission Rate"},
    ),
    Line(
        title="Aggregate Score ↑",
        ours={"criterion": "aggregate"},
        printed={"quantity": "Aggregate Score"},
    ),
]


def key_phrases(title: str, study: str) -> list[Line]:
    """Return the columns of hallucinated and of omitted key phrases in a section of notes."""
    dataset = f"CONSULT-{title.upper()}"
    return [
        Line(
            title=f"{title}, hallucination ↓",
            ours={"study": study, "criterion": "hallucination_count"},
            printed={"dataset": dataset, "quantity": "Hallucination Count"},
        ),
        Line(
            title=f"{title}, omission ↓",
            ours={"study": study, "criterion": "omission_count"},
            printed={"dataset": dataset, "quantity": "Omission Count"},
        ),
    ]


# ---- tables 7 and 8: agreement of annotators ---------------------------------------------

COUNTED = lines_by(
    "criterion",
    {
        "critical omissions": "omitted_facts",
        "hallucinations": "hallucinated_facts",
        "correct facts": "correct_facts",
        "incorrect facts": "incorrect_facts",
    },
    printed_column="system_or_metric",
)
COEFFICIENTS = lines_by(
    "coefficient",
    {
        "kappa": "kappa",
        "F1": "equal",
        "F1 (tolerance 1)": "within_1",
        "F1 (tolerance 2)": "within_2",
        "Pearson r": "pearson",
    },
    printed_column="quantity",
)

# ---- captions ----------------------------------------------------------------------------

ROWS_ALONE = "Rows without a printed number are ours alone."
AGREEMENT = """
    Mean over pairs of annotators, two here, three in print, with a bootstrap interval over
    documents. F1 of counts is the share of notes whose two counts are equal, or apart by 1
    or 2 at most.
"""
INVENTED_NOTES = """
    ours are of invented notes, whose faults were planted and whose annotators were
    simulated; CONSULT's notes are in-house data and were not released. Ours show that the
    way is there, and nothing about metrics or people.
"""
INVENTED_REPORTS = """
    ours are of invented reports with planted faults and simulated annotators; the paper's
    authors announced MEDIQA-RRS's annotations in their repository, and no dataset of
    data/registry.yaml has them.
"""


def study(name: str) -> list[Line]:
    """Return the panel of one of the invented sets."""
    return [Line(title="", ours={"study": name})]


RECORDS: Sequence[Record] = [
    Record(
        paper="benabacha",
        name="table1",
        title="Size of the correlation study on MTS-Dialog",
        numbers=estimate("mts_dialog", "by_kind_of_author", where={"metric": "words"}),
        rows=[Line(title="MTS-Dialog", printed={"dataset": "MTS-DIALOG"})],
        columns=[
            Line(
                title="Summaries",
                ours={"metric": "words", "author": "systems"},
                printed={"quantity": "summary pairs"},
                numbers=Numbers(
                    benchmark="mts_dialog",
                    table="by_kind_of_author",
                    value="n",
                ),
            ),
            Line(
                title="Words per summary",
                ours={"author": "systems"},
                printed={"quantity": "words per summary"},
            ),
            Line(
                title="Words per reference",
                ours={"author": "reference"},
                printed={"quantity": "words per reference"},
            ),
        ],
        printed_files=["benabacha_table1.csv"],
        decimals=0,
        caption="""
            Words are what white space separates; means with a bootstrap interval over the
            100 conversations. Of the other sets nothing is here.
        """,
    ),
    Record(
        paper="benabacha",
        name="table2",
        title="Metrics against experts' counts of facts on MTS-Dialog",
        numbers=ranked_correlations("mts_dialog"),
        rows=ALL_METRICS,
        columns=COUNTS_OF_FACTS,
        printed_files=["benabacha_table2.csv"],
        caption=f"""
            Pearson's r over all 400 summaries, with a bootstrap interval for these four
            systems and other conversations; metrics of which less is better are turned.
            Arrows: which sign a good metric has; the aggregate is (2 F1 - hallucination -
            omission) / 4. Our ROUGE is the package rouge-score; the authors' own was not
            released, and no variant we know of gives their whole table. BERTScore and its
            medical variants read by all-MiniLM-L6-v2 here, by deberta-xlarge-mnli in print;
            concepts come from an invented list of 750 terms here, from the UMLS in print,
            and their vectors from the same encoder, in print from a knowledge graph. MIST is
            undefined where the reference names no concept of the list.
            {ROWS_ALONE}
        """,
    ),
    Record(
        paper="benabacha",
        name="table3",
        title="Metrics against counts of facts, beside those on CONSULT-FACTS",
        numbers=INVENTED_SETS,
        panels=study("facts"),
        rows=ALL_METRICS,
        columns=COUNTS_OF_FACTS,
        printed_files=["benabacha_table3.csv"],
        caption=f"""
            Pearson's r over the 120 notes, ratings averaged over two annotators, with a
            bootstrap interval for these four systems and other visits. Arrows and aggregate
            are those of table 2.
            {ROWS_ALONE}
        """,
        not_comparable=INVENTED_NOTES,
    ),
    Record(
        paper="benabacha",
        name="table4",
        title="Metrics against counts of facts, beside those on MEDIQA-RRS",
        numbers=INVENTED_SETS,
        panels=study("radiology"),
        rows=ALL_METRICS,
        columns=COUNTS_OF_FACTS,
        printed_files=["benabacha_table4.csv"],
        caption=f"""
            As table 3, of 120 impressions of radiology reports.
            {ROWS_ALONE}
        """,
        not_comparable=INVENTED_REPORTS,
    ),
    Record(
        paper="benabacha",
        name="table5",
        title="Metrics against key phrases per word, beside those on CONSULT-FULL",
        numbers=INVENTED_SETS,
        rows=ALL_METRICS,
        columns=[
            *key_phrases("HPI", "hpi"),
            *key_phrases("Assessment", "assessment"),
            *key_phrases("Exam", "exam"),
            *key_phrases("Results", "results"),
        ],
        printed_files=["benabacha_table5.csv"],
        caption=f"""
            Pearson's r over the 64 texts of each section. Hallucinated key phrases count per
            word of the text, omitted ones per word of the reference, averaged over two
            annotators.
            {ROWS_ALONE}
        """,
        not_comparable=INVENTED_NOTES,
    ),
    Record(
        paper="benabacha",
        name="table6",
        title="Metrics averaged over all sets",
        numbers=INVENTED_SETS,
        panels=study("average"),
        rows=ALL_METRICS,
        columns=COUNTS_OF_FACTS,
        printed_files=["benabacha_table6.csv"],
        caption=f"""
            Means over the invented sets: of precision, recall and F1 those of tables 3 and
            4; of hallucination and omission the mean of two means, that of tables 3 and 4
            and that of the four sections of table 5, by which the printed table can be
            computed from the others but for ClinicalBLEURT. The aggregate is that of these
            means. Intervals are of resamples of all documents.
            {ROWS_ALONE}
        """,
        not_comparable=INVENTED_NOTES,
    ),
    Record(
        paper="benabacha",
        name="table7",
        title="Agreement of annotators, beside that on CONSULT-FACTS",
        numbers=COUNTS,
        panels=study("facts"),
        rows=COUNTED,
        columns=COEFFICIENTS,
        printed_files=["benabacha_table7.csv"],
        caption=AGREEMENT,
        not_comparable=INVENTED_NOTES,
    ),
    Record(
        paper="benabacha",
        name="table8",
        title="Agreement of annotators, beside that on MEDIQA-RRS",
        numbers=COUNTS,
        panels=study("radiology"),
        rows=COUNTED,
        columns=COEFFICIENTS,
        printed_files=["benabacha_table8.csv"],
        caption=AGREEMENT,
        not_comparable=INVENTED_REPORTS,
    ),
    Record(
        paper="benabacha",
        name="table9",
        title="Weights of errors in the quality that ClinicalBLEURT is tuned on",
        numbers=estimate("sample_facts", "error_weights"),
        rows=lines_by(
            "error",
            {
                "critical": "critical",
                "non-critical": "non_critical",
                "spelling/grammar": "spelling",
            },
            printed_column="system_or_metric",
        ),
        columns=[
            Line(title="Weight", printed={"quantity": "normalized weight"}),
        ],
        printed_files=["benabacha_table9.csv"],
        caption="""
            What one error takes from the quality of a text of one sentence, beside a
            reference of one.
        """,
    ),
]
