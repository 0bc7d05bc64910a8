"""DocLens (Xie et al. 2024): notes of ACI-BENCH test 1, scored by metrics and by claims."""

from dataclasses import replace

from metassay.paper_figures.record import Each, Form, Line, Numbers, Record
from metassay.reporting.doclens import AUTHORS, SECTIONS
from metassay.tables.names import FULL, NO_JUDGE

_PAPER = "doclens"
_SYSTEMS = tuple(
    Line(
        f"{system}, {setting}",
        ours={"author": author},
        printed={"system_or_metric": system, "setting": setting},
    )
    for (system, setting), author in AUTHORS.items()
    if not system.startswith("Reported")
)
# Of claims, and the paper of ACI-BENCH has none either.
_WITHOUT_PRINT = tuple(replace(line, printed=None) for line in _SYSTEMS[4:])
# What DocLens prints as "Reported": the notes that ACI-BENCH released, which are chatgpt and gpt4.
_AND_REPORTED = (
    *_SYSTEMS[:4],
    *(
        Line(
            system,
            ours={"author": AUTHORS[system, "full, 0-shot"]},
            printed={"system_or_metric": system, "setting": "full, 0-shot"},
        )
        for system in ("Reported GPT-3.5-turbo", "Reported GPT-4")
    ),
)
_MORE = Each("author", but=(*AUTHORS.values(), "reference"))  # systems that the paper doesn't have
_PARTS = tuple(
    Line(printed, ours={"part": part}, printed={"split_or_section": printed})
    for printed, part in SECTIONS.items()
    if part != FULL
)
_WHOLE = (Line("", ours={"part": FULL}, printed={"split_or_section": "full note"}),)


def _board(benchmark: str) -> Numbers:
    return Numbers(
        *(benchmark, "leaderboard", "macro", "low", "high"),
        n="n_documents",
        n_undefined="n_undefined",
        scale=100,
    )


def _rouge(lcs: str) -> tuple[Line, ...]:
    metrics = {"Rouge-1": "rouge1", "Rouge-2": "rouge2", "Rouge-L": lcs}
    return tuple(
        Line(
            title,
            ours={"metric": f"{metric}_fmeasure", "judge": NO_JUDGE},
            printed={"quantity": title},
        )
        for title, metric in metrics.items()
    )


def _claims(evaluator: str) -> tuple[Line, ...]:
    """Recall and precision by our judges; the printed ones stand beside the semantic judge's."""
    titles = {"claim_recall": "Claim Recall", "claim_precision": "Claim Precision"}
    return tuple(
        Line(
            f"{title}, {judge}",
            ours={"metric": metric, "judge": judge},
            printed={"quantity": title, "evaluator": evaluator} if judge == "semantic" else None,
        )
        for metric, title in titles.items()
        for judge in ("semantic", "lexical")
    )


_NOT_RELEASED = (
    "The notes of ChatGPT and GPT-4 are those that ACI-BENCH released; DocLens's own notes by GPT"
    " models were not released."
)
_BY_ACI = "What is printed of ChatGPT and GPT-4 is in the paper of ACI-BENCH, not in DocLens."
_OTHER_JUDGE = (
    "ours are by other judges than the paper's, and another judge means another level; what can be"
    " compared is the order of the systems."
)
_ON_MIMIC = (
    "needs MIMIC-III, which is only for credentialed users, and the systems' outputs on it, which"
    " were not released"
)
_ON_MEQSUM = (
    "no benchmark of question summaries is here yet, and the systems' outputs on it were not"
    " released"
)
_EXPERTS = "the experts' scores and preferences were not released"
_PAIRS = (
    f"{_EXPERTS}. MTS-Dialog is no substitute: claim recall by the semantic judge and ROUGE-L"
    " recall order 15 of the 600 pairs of its summaries in opposite ways"
)
_CLAIM_LABELS = "people's labels of these claims were not released"
_DEFINED = (
    "those of 40 notes in which it is defined (column n of the .csv: systems that leave a section"
    " out have few)"
)
_NLI = (
    "needs a test of judges on MedNLI, which is only for credentialed users, and on ANLI, which no"
    " folder of benchmarks/ uses yet"
)


def _claim_table(name: str, evaluator: str, *, whole: bool) -> Record:
    return Record(
        _PAPER,
        name,
        f"Claim scores of {'whole notes' if whole else 'sections'} on ACI-BENCH test 1, beside"
        f" those by {evaluator}",
        "table",
        numbers=_board("aci_bench"),
        panels=_WHOLE if whole else _PARTS,
        rows=(*_SYSTEMS[:4], *_WITHOUT_PRINT),
        columns=_claims(evaluator),
        printed=(f"doclens_{name}.csv",),
        says=f"Per cent of claims, mean over {'40 notes' if whole else _DEFINED}, with a bootstrap"
        f" interval over notes. {_NOT_RELEASED}",
        apart=_OTHER_JUDGE,
    )


def _test(title: str, benchmark: str, study: str) -> Line:
    """A column: a test of judges, whose statistics are in its judge cards."""
    where = {"study": study, "criterion": "entailed", "part": FULL, "metric": "verdict"}
    ends = ("value", "low", "high")
    numbers = Numbers(benchmark, "judge_cards", *ends, n="n", scale=100, where=where)
    return Line(title, numbers=numbers)


def _judge(title: str, name: str) -> Line:
    return Line(title, ours={"judge": name, "statistic": "agreement"})


def _open(name: str, title: str, form: Form, missing: str) -> Record:
    return Record(_PAPER, name, title, form, open=missing)


RECORDS = (
    Record(
        _PAPER,
        "fig4",
        "Systems on whole notes of ACI-BENCH test 1, by ROUGE and by claims",
        "dots",
        numbers=_board("aci_bench"),
        panels=_WHOLE,
        rows=(*_SYSTEMS, _MORE),
        columns=(_rouge("rougeLsum")[2], *_claims("GPT-4")[::2]),
        printed=("doclens_table20.csv", "doclens_table21.csv", "acibench_rouge.csv"),
        axis="per cent",
        says="Mean over 40 notes, with a bootstrap interval over notes. What is printed as Rouge-L"
        f" is rougeLsum. {_BY_ACI} {_NOT_RELEASED}",
        apart=f"of claim scores, {_OTHER_JUDGE}",
    ),
    _open("fig5", "Systems on radiology reports", "dots", _ON_MIMIC),
    _open("fig6", "Systems on question summaries", "dots", _ON_MEQSUM),
    _open("fig7", "Agreement of metrics with experts' preferences", "bars", _PAIRS),
    *(
        Record(
            _PAPER,
            f"fig8_{group}",
            f"How alike metrics of {group} order notes of ACI-BENCH test 1",
            "heatmap",
            numbers=Numbers("aci_bench", "recall_precision", "tau", n="n", where={"group": group}),
            rows=tuple(Line(title, ours={"first": name}) for title, name in names.items()),
            columns=tuple(Line(title, ours={"second": name}) for title, name in names.items()),
            axis="Kendall's tau-b",
            says="Kendall's tau-b over all whole notes of 12 systems. Rouge-L is rougeLsum. The"
            " paper's figure is of other systems; its numbers are printed nowhere else.",
        )
        for group in ("recall", "precision")
        for names in (
            {
                f"Claim {group}, semantic": f"claim_{group} (semantic)",
                f"Claim {group}, lexical": f"claim_{group} (lexical)",
                f"Rouge-1 {group}": f"rouge1_{group}",
                f"Rouge-2 {group}": f"rouge2_{group}",
                f"Rouge-L {group}": f"rougeLsum_{group}",
            },
        )
    ),
    Record(
        _PAPER,
        "table1",
        "Judges in two labels, on the tests of judges here",
        "table",
        rows=(
            _judge("Lexical", "lexical"),
            _judge("Semantic", "semantic"),
            _judge("T5-3B tuned on ANLI, as released", "t5_3b_anli"),
            Line("Supported", ours={"judge": "lexical", "statistic": "people_pass_rate"}),
        ),
        columns=(
            _test("WiCE", "wice_dev", "items of t5_3b_anli"),
            _test("Changed sentences", "minimal_pairs_aci", "sentence"),
            _test("The same in their notes", "minimal_pairs_aci_notes", "text"),
        ),
        decimals=1,
        says="Per cent of items that a judge labels right: supported, or not. Last row: per cent"
        " that are supported. WiCE: the 100 claims with a released score of T5-3B. Changed"
        " sentences: 200 of ACI-BENCH test 1, as they are and in versions made by rule, with"
        " another meaning or the same, held against the original or its whole note. The semantic"
        " judge learnt from other claims of WiCE and from such sentences of other notes; its"
        " settings were chosen with these claims in sight. Intervals are for other documents. Not"
        " of the paper's data: MedNLI is only for credentialed users, and ANLI is not here yet.",
    ),
    _open("table2", "Correlation of metrics of recall with experts", "table", _PAIRS),
    _open("table4", "Judges on each test set of MedNLI and ANLI", "table", _NLI),
    _open("table5", "Judges on MedNLI in three labels", "table", _NLI),
    _open("table6", "Judges beside people on 20 claims", "table", _CLAIM_LABELS),
    _open("table7", "Judges beside people on 100 claims", "table", _CLAIM_LABELS),
    Record(
        _PAPER,
        "table11",
        "Pairs of notes on which two metrics of recall disagree",
        "table",
        numbers=Numbers("aci_bench", "recall_conflicts", "n_conflicts", n="n_pairs"),
        rows=(
            Line(
                "Claim Recall, semantic, and Rouge-L Recall",
                ours={"first": "claim_recall (semantic)", "second": "rougeL_recall"},
                printed={"system_or_metric": "Claim Recall (GPT-4) vs Rouge-L Recall"},
            ),
            Line(
                "Claim Recall, semantic and lexical",
                ours={"first": "claim_recall (semantic)", "second": "claim_recall (lexical)"},
                printed=None,
            ),
        ),
        columns=tuple(
            part
            if part.title in ("Objective-Exam", "Assessment and Plan")
            else replace(part, printed=None)
            for part in _PARTS
        ),
        printed=("doclens_table11.csv",),
        decimals=0,
        says="Of 2,640 pairs: 40 documents by 66 pairs of 12 systems; fewer of Objective-Results,"
        " where some references have no claims (column n of the .csv). A tie is no disagreement."
        " Rouge-L is rougeL, as in table 24. The paper's caption says 2,460, its appendix 2,640.",
        apart="eight of the 12 systems are other ones than the paper's, and so is the judge.",
    ),
    _open("table12", "Agreement of the experts with each other", "table", _EXPERTS),
    Record(
        _PAPER,
        "table20",
        "ROUGE of whole notes on ACI-BENCH test 1",
        "table",
        numbers=_board("aci_bench"),
        panels=_WHOLE,
        rows=_SYSTEMS,
        columns=_rouge("rougeLsum"),
        printed=("doclens_table20.csv", "acibench_rouge.csv"),
        says="F1 x 100, mean over 40 notes, with a bootstrap interval over notes. What is printed"
        f" as Rouge-L is rougeLsum. {_BY_ACI} {_NOT_RELEASED}",
    ),
    _claim_table("table21", "GPT-4", whole=True),
    _claim_table("table22", "Mistral", whole=True),
    _claim_table("table23", "TRUE", whole=True),
    Record(
        _PAPER,
        "table24",
        "ROUGE of sections on ACI-BENCH test 1",
        "table",
        numbers=_board("aci_bench_table24"),
        panels=_PARTS,
        rows=_AND_REPORTED,
        columns=_rouge("rougeL"),
        printed=("doclens_table24.csv",),
        says="F1 x 100, mean over 40 notes, with a bootstrap interval over notes. Sections are"
        " prepared as the original does: one that both texts lack counts, which is right for"
        " comparing with the print and for nothing else.",
    ),
    _claim_table("table25", "GPT-4", whole=False),
    _claim_table("table26", "Mistral", whole=False),
    _claim_table("table27", "TRUE", whole=False),
    *(
        _open(f"table{number}", f"Radiology reports, {by}", "table", _ON_MIMIC)
        for number, by in enumerate(
            ("existing metrics", "claims by GPT-4", "claims by Mistral", "claims by TRUE"), 28
        )
    ),
    *(
        _open(f"table{number}", f"Question summaries, {by}", "table", _ON_MEQSUM)
        for number, by in enumerate(
            ("existing metrics", "claims by GPT-4", "claims by Mistral", "claims by TRUE"), 32
        )
    ),
    _open("table36", "Radiology reports with and without citations", "table", _ON_MIMIC),
)
