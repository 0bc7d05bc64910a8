"""Adams et al. 2023: what copying does to metrics of faithfulness; here on MTS-Dialog.

The paper's hospital courses are for credentialed users only, so that none of its numbers is of our
data: ours and theirs stand side by side, and are not subtracted.
"""

from metassay.paper_figures.of_texts import SYSTEMS, WHOLE_SOURCE
from metassay.paper_figures.record import Form, Line, Lines, Numbers, Record
from metassay.paper_figures.scorers import ALONE, BEST, LARGEST, WITHIN
from metassay.tables.names import FULL, NO_JUDGE, REFERENCE

_PAPER = "adams"
_CRITERION = "hallucination_rate"  # what is nearest to the paper's rate of errors
_METRICS = {
    "Faithfulness, lexical judge": ("faithfulness", "lexical"),
    "Faithfulness, semantic judge": ("faithfulness", "semantic"),
    "Claim precision, lexical judge": ("claim_precision", "lexical"),
    "Claim precision, semantic judge": ("claim_precision", "semantic"),
    "ROUGE-1 precision": ("rouge1_precision", NO_JUDGE),
    "ROUGE-1 F": ("rouge1_fmeasure", NO_JUDGE),
    "ROUGE-2 F": ("rouge2_fmeasure", NO_JUDGE),
    "ROUGE-L F": ("rougeL_fmeasure", NO_JUDGE),
    "BLEU": ("bleu", NO_JUDGE),
}
_IN_ENSEMBLES = {
    "Faithfulness, lexical judge": "faithfulness (lexical)",
    "Faithfulness, semantic judge": "faithfulness (semantic)",
    "Claim precision, lexical judge": "claim_precision (lexical)",
    "Claim precision, semantic judge": "claim_precision (semantic)",
    "Claim recall, lexical judge": "claim_recall (lexical)",
    "Claim recall, semantic judge": "claim_recall (semantic)",
    "ROUGE-1 F": "rouge1_fmeasure",
    "ROUGE-2 F": "rouge2_fmeasure",
    "ROUGE-Lsum F": "rougeLsum_fmeasure",
    "BLEU": "bleu",
    "Word edit distance": "edit_distance",
}
_COVERAGE = Line(
    "Coverage",
    ours={"metric": "coverage", "judge": NO_JUDGE},
    printed={"system_or_metric": "Coverage"},
)
_OTHER_DATA = (
    "the print is of hospital courses for credentialed users, ours of 400 summaries of MTS-Dialog."
)
_SIGN = (
    "Pearson's r with the rate of hallucinated facts over 400 summaries of MTS-Dialog, its sign"
    " turned as in the paper: above 0, more of the metric goes with fewer errors."
)
_TRAINED = (
    "needs metrics that are not here yet: BARTScore, CTC, SummaC and those trained on clinical text"
)
_ELEMENTS = (
    "needs the labels of single elements of the hospital courses, which are for credentialed users"
)
_ALIGNMENTS = "needs more than one alignment: of the paper's seven, ROUGE-TopK alone is here"


def _copied(share: str = "", what: str = "alone") -> Numbers:
    where = {"criterion": _CRITERION, "what": what} | ({"share": share} if share else {})
    return Numbers(
        "mts_dialog", "least_copied", "value", "low", "high", n="n", scale=-1, where=where
    )


def _metrics(names: tuple[str, ...] = tuple(_METRICS)) -> Lines:
    return tuple(
        Line(name, ours={"metric": _METRICS[name][0], "judge": _METRICS[name][1]}, printed=None)
        for name in names
    )


_ENSEMBLES = Numbers(
    "mts_dialog",
    "in_ensembles",
    "value",
    "low",
    "high",
    n="n",
    where={"criterion": _CRITERION, "part": FULL, "coefficient": "pearson"},
)


def _open(name: str, title: str, form: Form, missing: str) -> Record:
    return Record(_PAPER, name, title, form, open=missing)


def _scatter(confound: str) -> Record:
    texts = {"criterion": _CRITERION, "part": FULL, "level": "global", "coefficient": "pearson"}
    copying = {**texts, "confound": confound, "statistic": "metric"}
    ends = ("value", "low", "high")
    metric = Numbers("mts_dialog", "confounds", *ends, n="n", where=copying)
    people = Numbers("mts_dialog", "correlations", *ends, n="n", scale=-1, where=texts)
    return Record(
        _PAPER,
        f"fig8_{confound}",
        f"Metrics' correlation with people, by their correlation with {confound}",
        "scatter",
        rows=_metrics(),
        columns=(
            Line(f"Correlation with {confound}", numbers=metric),
            Line("Correlation with people", numbers=people),
        ),
        says=f"{_SIGN} Intervals are for other systems and other conversations. Not of the paper's"
        " data, which are for credentialed users.",
    )


RECORDS = (
    _open("fig2", "Correlation with people by alignment", "violins", _ALIGNMENTS),
    _open("fig3", "BARTScore by sentence and by summary", "bars", _TRAINED),
    Record(
        _PAPER,
        "fig4",
        "Metrics on the summaries that copy least",
        "lines",
        numbers=_copied(),
        rows=(
            _COVERAGE,
            *_metrics(
                (
                    "Faithfulness, lexical judge",
                    "Faithfulness, semantic judge",
                    "Claim precision, semantic judge",
                    "ROUGE-1 F",
                )
            ),
        ),
        columns=tuple(
            Line(f"{share} %", ours={"share": str(share)}, x=share) for share in (25, 50, 75, 100)
        ),
        axis="Pearson's r with people",
        across="per cent of the summaries, those that copy least by coverage",
        says=f"{_SIGN} Across: the summaries that copy least, by coverage. With a"
        " bootstrap interval over conversations. Not of the paper's data, which are for"
        " credentialed users.",
    ),
    _open("fig6", "Rate of errors by place in the summary", "lines", _ELEMENTS),
    _open("fig7", "How the distilled metric is made", "scatter", _TRAINED),
    _scatter("coverage"),
    _scatter("density"),
    _open("fig9", "Correlation with people by category of error", "violins", _ELEMENTS),
    _open("fig10", "Metrics by category of error", "bars", _ELEMENTS),
    _open("table1", "Size of the hospital courses", "table", _ELEMENTS),
    _open("table2", "Errors that clinicians marked", "table", _ELEMENTS),
    _open("table3", "Alignments in tuning and in use", "table", _TRAINED),
    _open("table4", "BARTScore by sentence and by summary", "table", _TRAINED),
    _open("table5", "Metrics by adaptation to the domain", "table", _TRAINED),
    Record(
        _PAPER,
        "table6",
        "How much of the source references and systems copy",
        "table",
        numbers=Numbers("mts_dialog", "by_kind_of_author", "value", "low", "high", n="n"),
        panels=(
            Line("MTS-Dialog, 400 summaries"),
            Line(
                "ACI-BENCH test 1, 480 notes",
                printed=None,
                numbers=Numbers("aci_bench", "by_kind_of_author", "value", "low", "high", n="n"),
            ),
        ),
        rows=(
            Line(
                "Reference",
                ours={"author": REFERENCE},
                printed={"system_or_metric": "Reference"},
            ),
            Line(
                "Systems",
                ours={"author": SYSTEMS},
                printed={"system_or_metric": "Model-Generated"},
            ),
        ),
        columns=(
            Line(
                "Coverage",
                ours={"metric": "coverage"},
                printed={"quantity": "extractive coverage"},
            ),
            Line("Density", ours={"metric": "density"}, printed={"quantity": "extractive density"}),
        ),
        printed=("adams_table6.csv",),
        says="Coverage: share of words in stretches that are in the source, 0 to 1. Density: sum of"
        " the squares of these stretches' lengths, per word. With a bootstrap interval over"
        " documents. Two of ACI-BENCH's 12 systems copy whole turns, hence its systems' density.",
        apart=_OTHER_DATA,
    ),
    Record(
        _PAPER,
        "table7",
        "Metrics alone, and with coverage added",
        "table",
        rows=(_COVERAGE, *_metrics()),
        columns=(
            Line("Alone", numbers=_copied("100")),
            Line("With coverage", numbers=_copied("100", "with coverage"), printed=None),
        ),
        printed=("adams_table7.csv",),
        decimals=3,
        says=f"{_SIGN} With coverage: the mean of both, each standardised by its standard deviation"
        " (the printed formula divides by the variance). With a bootstrap interval over"
        " conversations. BARTScore, CTC and SummaC are not here yet.",
        apart=_OTHER_DATA,
    ),
    _open("table8", "The distilled metric", "table", _TRAINED),
    Record(
        _PAPER,
        "table9",
        "Metrics alone, and in ensembles",
        "table",
        numbers=_ENSEMBLES,
        rows=(
            Line(
                "Coverage",
                ours={"metric": "coverage"},
                printed={"system_or_metric": "Coverage"},
                numbers=_copied("100"),
            ),
            *(
                Line(name, ours={"members": members}, printed=None)
                for name, members in _IN_ENSEMBLES.items()
            ),
            Line("Best ensemble, on other summaries", ours={"members": BEST}, printed=None),
            Line(
                "Best ensemble, on the same summaries",
                ours={"members": LARGEST},
                printed={"setting": "best-performing ensemble"},
            ),
        ),
        columns=(
            Line("Alone", ours={"what": ALONE}, printed={"setting": "single"}),
            Line("In ensembles", ours={"what": WITHIN}),
        ),
        printed=("adams_table9.csv",),
        decimals=3,
        says=f"{_SIGN} Word edit distance, of which less is better, is turned first. All subsets of"
        " these metrics, means of standardised values; in ensembles: the mean of all that contain"
        " the metric. The best ensemble on the same summaries has the largest value of all subsets,"
        " as in print, which is too good. With a bootstrap interval over summaries (of coverage,"
        " over conversations). Coverage has no direction, and is in no ensemble of ours.",
        apart=_OTHER_DATA,
    ),
    Record(
        _PAPER,
        "table10",
        "Passages of the source that a statement is read against",
        "table",
        numbers=Numbers("mts_dialog", "aligned_passages", "value", "low", "high", n="n"),
        panels=(
            Line("MTS-Dialog"),
            Line(
                "ACI-BENCH test 1",
                printed=None,
                numbers=Numbers("aci_bench", "aligned_passages", "value", "low", "high", n="n"),
            ),
        ),
        rows=(
            Line(
                "ROUGE-TopK, k = 5",
                ours={"method": "rouge_topk"},
                printed={"system_or_metric": "ROUGE-TopK"},
            ),
            Line(
                "The whole source",
                ours={"method": WHOLE_SOURCE},
                printed={"system_or_metric": "Full"},
            ),
        ),
        columns=(Line("Passages"),),
        printed=("adams_table10.csv",),
        decimals=1,
        says="Mean over the statements of systems' texts, with a bootstrap interval over documents."
        " A passage is a turn of the conversation, in print a sentence; one that shares no word"
        " with the statement is not aligned, so that there can be fewer than five. The paper's"
        " other five alignments are not here yet.",
        apart=_OTHER_DATA,
    ),
)
