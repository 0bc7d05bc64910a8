"""Ben Abacha et al. 2023: metrics against counts of facts, on MTS-Dialog and sets not released."""

from metassay.paper_figures.record import Line, Numbers, Record
from metassay.reporting.published import AGGREGATE, FACT_CRITERIA, ROUGE_VARIANTS
from metassay.tables.names import FULL, NO_JUDGE

_PAPER = "benabacha"
_CORRELATIONS = Numbers(
    "mts_dialog",
    "correlations",
    "value",
    "low_these_systems",
    "high_these_systems",
    n="n",
    where={"part": FULL, "level": "global", "coefficient": "pearson"},
)
_LENGTHS = Numbers(
    "mts_dialog", "by_kind_of_author", "value", "low", "high", n="n", where={"metric": "words"}
)
_OURS_ALONE = {
    "BLEU": ("bleu", NO_JUDGE),
    "Claim recall, lexical judge": ("claim_recall", "lexical"),
    "Claim recall, semantic judge": ("claim_recall", "semantic"),
    "Claim precision, lexical judge": ("claim_precision", "lexical"),
    "Claim precision, semantic judge": ("claim_precision", "semantic"),
    "Faithfulness, lexical judge": ("faithfulness", "lexical"),
    "Faithfulness, semantic judge": ("faithfulness", "semantic"),
}
_IN_HOUSE = "CONSULT's notes are in-house data and were not released"
_RRS = (
    "the paper's authors announce MEDIQA-RRS's annotations in their repository; no dataset of"
    " data/registry.yaml has them yet"
)
_ONE_RATE = (
    "agreement needs what each annotator counted. MTS-Dialog is no substitute: one rate per summary"
    " was released, nothing by annotator"
)


def _metrics() -> tuple[Line, ...]:
    printed = (
        Line(name, ours={"metric": metric, "judge": NO_JUDGE}, printed={"system_or_metric": name})
        for name, metric in ROUGE_VARIANTS.items()
    )
    alone = (
        Line(title, ours={"metric": metric, "judge": judge}, printed=None)
        for title, (metric, judge) in _OURS_ALONE.items()
    )
    return (*printed, *alone)


def _criteria() -> tuple[Line, ...]:
    own = (
        Line(
            f"{name} {'↑' if name.startswith('Factual') else '↓'}",
            ours={"criterion": criterion},
            printed={"quantity": name},
        )
        for name, criterion in FACT_CRITERIA.items()
    )
    parts = (
        (0.5, {"criterion": "factual_f1"}),
        (-0.25, {"criterion": "hallucination_rate"}),
        (-0.25, {"criterion": "omission_rate"}),
    )
    return (*own, Line(f"{AGGREGATE} ↑", printed={"quantity": AGGREGATE}, parts=parts))


def _open(number: int, title: str, missing: str) -> Record:
    return Record(_PAPER, f"table{number}", title, "table", open=missing)


RECORDS = (
    Record(
        _PAPER,
        "table1",
        "Size of the correlation study on MTS-Dialog",
        "table",
        numbers=_LENGTHS,
        rows=(Line("MTS-Dialog", printed={"dataset": "MTS-DIALOG"}),),
        columns=(
            Line(
                "Summaries",
                ours={"metric": "words", "author": "systems"},
                numbers=Numbers("mts_dialog", "by_kind_of_author", "n"),
                printed={"quantity": "summary pairs"},
            ),
            Line(
                "Words per summary",
                ours={"author": "systems"},
                printed={"quantity": "words per summary"},
            ),
            Line(
                "Words per reference",
                ours={"author": "reference"},
                printed={"quantity": "words per reference"},
            ),
        ),
        printed=("benabacha_table1.csv",),
        decimals=0,
        says="Words are what white space separates; means with a bootstrap interval over the 100"
        " conversations. Of the other sets nothing is here.",
    ),
    Record(
        _PAPER,
        "table2",
        "Metrics against experts' counts of facts on MTS-Dialog",
        "table",
        numbers=_CORRELATIONS,
        rows=_metrics(),
        columns=_criteria(),
        printed=("benabacha_table2.csv",),
        says="Pearson's r over all 400 summaries, with the interval for these four systems and"
        " other conversations. Arrows: which sign a good metric has; the aggregate is (2 F1 -"
        " hallucination - omission) / 4. Our ROUGE is the package rouge-score; the authors' own was"
        " not released, and no variant we know of gives their whole table. The last"
        " seven rows are ours alone.",
    ),
    _open(3, "Metrics against counts of facts on CONSULT-FACTS", _IN_HOUSE),
    _open(4, "Metrics against counts of facts on MEDIQA-RRS", _RRS),
    _open(5, "Metrics against counts of key phrases on CONSULT-FULL", _IN_HOUSE),
    _open(6, "Metrics averaged over all sets", f"needs the sets of tables 3 to 5: {_IN_HOUSE}"),
    _open(7, "Agreement of annotators on CONSULT-FACTS", f"{_IN_HOUSE}; {_ONE_RATE}"),
    _open(8, "Agreement of annotators on MEDIQA-RRS", f"{_RRS}; {_ONE_RATE}"),
    _open(
        9,
        "Weights of errors that ClinicalBLEURT was tuned on",
        "a definition, and no number of ours; it waits for a metric that is tuned so",
    ),
)
