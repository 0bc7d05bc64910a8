"""The facet-aware metric (ScholarSum, Guo et al. 2024): abstracts of papers on arXiv and PubMed."""

from metassay.paper_figures.of_texts import FACETS
from metassay.paper_figures.record import Form, Line, Lines, Numbers, Record
from metassay.reporting.released import SCHOLARSUM, SCHOLARSUM_AUTHORS, SCHOLARSUM_STUDY
from metassay.tables.names import FULL, REFERENCE

_PAPER = "fm"
_ARXIV = "scholarsum_arxiv"
_SYSTEMS = tuple(
    Line(name, ours={"author": author}, printed={"system_or_metric": name})
    for name, author in SCHOLARSUM_AUTHORS.items()
)
_AND_REFERENCE = (
    Line("Reference", ours={"author": REFERENCE}, printed=None),
    *_SYSTEMS,
)
_FOUR_SYSTEMS = "The 50 arXiv papers, four systems."
_PUBMED = (
    "needs the PubMed part of ScholarSum, whose licence its authors don't state: no dataset of"
    " data/registry.yaml has it (docs/datasets.md says how to read a copy of one's own)"
)
# Of figure 8, in its order: the name there, and ours.
_SCORERS = {
    "Human": "overall",
    "FM (GPT-4)": "scholarsum_fm_gpt4",
    "FM (GPT-3.5)": "scholarsum_fm_gpt35",
    "FM (Llama2)": "scholarsum_fm_llama",
    "GPT-4": "scholarsum_gpt4",
    "ROUGE-L": "scholarsum_rougeL",
    "BERTScore": "scholarsum_bertscore",
    "QuestEval": "scholarsum_questeval",
    "ACU": "scholarsum_acu",
    "DELTA": "scholarsum_delta",
}
_ANNOTATORS = "only the grades that both annotators agreed on were released, not each one's own"
_TEXTS = (
    "shows texts of the data, which may not be passed on; the benchmark's report shows facets in"
    " their texts to those who have the data"
)


def _facet(name: str) -> Line:
    return Line(name.capitalize(), ours={"criterion": name}, printed=None)


def _title(quantity: str, evaluator: str) -> str:
    name = f"FM ({evaluator})" if quantity == "FM" else quantity.split(" (", maxsplit=1)[0]
    return f"{name} {'↓' if quantity == 'DELTA' else '↑'}"


def _metrics_of_table4() -> Lines:
    """The metrics in the paper's order, then people; with the direction that is better."""
    return tuple(
        Line(
            _title(quantity, evaluator),
            ours={"metric": metric},
            printed={"quantity": quantity, "evaluator": evaluator},
        )
        for (quantity, evaluator), metric in SCHOLARSUM.items()
    )


def _case(number: int, doc_id: str, system: str, facet: str) -> Line:
    where = {"doc_id": doc_id, "author": SCHOLARSUM_AUTHORS[system], "facet": facet}
    title = f"Case {number}: {facet} of {doc_id} by {system}"
    return Line(title, ours=where, printed={"setting": f"case {number}"})


def _weights(value: str, low: str = "", high: str = "") -> Numbers:
    fitted = {"study": SCHOLARSUM_STUDY, "method": "complete"}
    return Numbers(_ARXIV, "facet_weights", value, low, high, n="n", where=fitted)


def _open(name: str, title: str, form: Form, missing: str) -> Record:
    return Record(_PAPER, name, title, form, open=missing)


RECORDS = (
    _open("fig3", "How metrics and people correlate on PubMed", "heatmap", _PUBMED),
    Record(
        _PAPER,
        "fig4a",
        "Shares of the facets in abstracts",
        "bars",
        numbers=Numbers(_ARXIV, "facet_shares", "share", "low", "high", n="n_shares", scale=100),
        rows=_AND_REFERENCE,
        columns=tuple(Line(f.capitalize(), ours={"facet": f}) for f in FACETS),
        axis="per cent of an abstract's words",
        says=f"{_FOUR_SYSTEMS} Facets as GPT-4 extracted them for the data's authors; words that no"
        " facet holds are the rest to 100 per cent. Mean over abstracts, with a bootstrap interval"
        " over papers.",
    ),
    Record(
        _PAPER,
        "fig4b",
        "Numbers in abstracts",
        "dots",
        numbers=Numbers(_ARXIV, "text_numbers", "value", "low", "high", n="n"),
        rows=_AND_REFERENCE,
        columns=(Line("Numbers per abstract", ours={"quantity": "numbers"}),),
        axis="numbers, mean over abstracts",
        says=f"{_FOUR_SYSTEMS} Mean over abstracts, with a bootstrap interval over papers.",
    ),
    Record(
        _PAPER,
        "fig4c",
        "How common the words of abstracts are",
        "violins",
        numbers=Numbers(_ARXIV, "text_numbers", "value", "low", "high", draws="draws", n="n"),
        rows=_AND_REFERENCE,
        columns=(Line("How common the words are", ours={"quantity": "popularity"}),),
        axis="mean log10 of occurrences per million words",
        says=f"{_FOUR_SYSTEMS} How often an abstract's content words occur in the other papers and"
        " their abstracts; the paper does not say what it counted in. Body: the abstracts; dot:"
        " their mean, with a bootstrap interval over papers.",
    ),
    Record(
        _PAPER,
        "fig4d",
        "Systems' mean ratings with other papers",
        "violins",
        numbers=Numbers(
            _ARXIV,
            "rating_draws",
            "mean",
            "low",
            "high",
            draws="draws",
            n="n_documents",
            where={"part": FULL, "study": SCHOLARSUM_STUDY},
        ),
        rows=_SYSTEMS,
        columns=(Line("Rated facet by facet", ours={"criterion": "overall"}),),
        axis="mean overall rating, 0 (worst) to 1 (best)",
        says=f"{_FOUR_SYSTEMS} Body: the means of 1,000 samples of papers. The paper sets beside it"
        " ratings of whole abstracts without facets, which were not released; nor does it say of"
        " which numbers its interquartile ranges, .26 and .40, are.",
    ),
    Record(
        _PAPER,
        "fig8",
        "How metrics and people correlate on arXiv",
        "heatmap",
        numbers=Numbers(
            _ARXIV,
            "pairs_of_scorers",
            "value",
            n="n",
            where={"part": FULL, "coefficient": "pearson", "study": SCHOLARSUM_STUDY},
        ),
        rows=tuple(Line(name, ours={"row": ours}) for name, ours in _SCORERS.items()),
        columns=tuple(Line(name, ours={"column": ours}) for name, ours in _SCORERS.items()),
        axis="Pearson's r over 200 abstracts",
        says=f"{_FOUR_SYSTEMS} Pearson's r, which the paper's figure shows under the name of"
        " Spearman. All are turned so that more is better: of DELTA less is, so that its signs are"
        " the opposite of the paper's.",
    ),
    Record(
        _PAPER,
        "fig9",
        "Systems facet by facet, as people see them",
        "bars",
        numbers=Numbers(
            _ARXIV,
            "rating_summaries",
            "mean",
            "low",
            "high",
            n="n",
            where={"part": FULL, "study": SCHOLARSUM_STUDY, "of": "author"},
        ),
        rows=tuple(map(_facet, FACETS)),
        columns=tuple(
            Line(name, ours={"name": author}) for name, author in SCHOLARSUM_AUTHORS.items()
        ),
        axis="mean rating, 0 (worst) to 1 (best)",
        says=f"{_FOUR_SYSTEMS} Grades as shares of their scales' ends; facets that a reference"
        " lacks are not graded. With a bootstrap interval over papers.",
    ),
    _open("fig5", "How well GPT-4 extracts facets", "bars", "people's checks were not released"),
    _open("fig10", "Facets marked in abstracts", "table", _TEXTS),
    Record(
        _PAPER,
        "fig11",
        "Cases that the facet-aware metric graded",
        "table",
        numbers=Numbers(_ARXIV, "facet_grades", "value", scale=4),  # of method and result
        rows=(
            _case(2, "arxiv_34", "GPT-3.5", "result"),
            _case(3, "arxiv_32", "BART-Large", "method"),
        ),
        columns=(
            Line("FM (GPT-4), as released", ours={"by": "scholarsum_fm_gpt4"}),
            Line("People", ours={"by": "people"}, printed=None),
        ),
        printed=("fm_fig11.csv",),
        decimals=0,
        says="Grades from 1 to 4, without the texts, which may not be passed on. Cases were found"
        " in the data by their words, and the facet of case 3 by its grade's words; case 1 is of"
        " PubMed. In print the columns of reference and generated text are swapped.",
    ),
    _open("table2", "Systems' means by each metric on PubMed", "table", _PUBMED),
    _open("table3", "Agreement of the annotators by facet", "table", _ANNOTATORS),
    Record(
        _PAPER,
        "table4",
        "Systems' means by each metric on arXiv",
        "table",
        numbers=Numbers(
            _ARXIV, "means_of_first", "value", "low", "high", n="n", where={"documents": "first"}
        ),
        rows=_metrics_of_table4(),
        columns=_SYSTEMS,
        printed=("fm_table4.csv",),
        decimals=4,
        says="Means over the first 44 of the 50 released papers, which are those of the print, with"
        " a bootstrap interval over papers. Arrows: which end is better, by the paper's words; its"
        " table 2 ranks a high DELTA first. Where ours differ, no number of papers, counted from"
        " the first, has the printed mean.",
    ),
    Record(
        _PAPER,
        "weights",
        "Weights of the facets in the overall score (section 4.2)",
        "table",
        numbers=_weights("weight", "low", "high"),
        rows=(
            *(
                Line(
                    f"Weight of {facet}",
                    ours={"criterion": facet},
                    printed={"split_or_section": facet},
                )
                for facet in FACETS
            ),
            Line(
                "Mean squared error",
                ours={"criterion": FACETS[0]},  # each facet's row has that of the whole fit
                printed={"quantity": "mean squared error"},
                numbers=_weights("mse"),
            ),
        ),
        columns=(Line("Fitted"),),
        printed=("fm_weights.csv",),
        decimals=3,
        says="Least squares of the overall scores on the facets' over abstracts that have all four,"
        " with a bootstrap interval over papers. The released overall scores were computed with the"
        " printed weights; those that the paper fitted were not released.",
    ),
)
