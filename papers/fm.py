"""Figures and tables of the facet-aware metric and ScholarSum (Guo et al. 2024)."""

from collections.abc import Sequence

from papers.record import (
    Line,
    Missing,
    Numbers,
    Record,
    estimate,
    lines_by,
)

# The benchmarks, and the studies of the ratings in them.
ARXIV = "scholarsum_arxiv"
PUBMED = "scholarsum_pubmed"

# ---- systems, facets and scorers: the paper's name, and ours -----------------------------

SYSTEMS = {
    "GPT-3.5": "gpt35",
    "Llama2": "llama2_70b",
    "FactSum": "factsum",
    "BART-Large": "bart_large",
}
PUBMED_SYSTEMS = {
    "GPT-3.5": "gpt35",
    "Llama2": "llama2_70b",
    "LongT5": "longt5",
    "LongT5-block": "longt5_block",
    "BigBird": "bigbird_pegasus",
    "BigBird-block": "bigbird_pegasus_block",
}
FACETS = {
    "Background": "background",
    "Method": "method",
    "Result": "result",
    "Conclusion": "conclusion",
}
# In the order of figure 8.
SCORERS = {
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

EACH_SYSTEM = lines_by("author", SYSTEMS, printed_column="system_or_metric")
REFERENCE = Line(title="Reference", ours={"author": "reference"}, printed=None)

# ---- captions ----------------------------------------------------------------------------

FOUR_SYSTEMS = "The 50 arXiv papers, four systems."
NO_PUBMED = Missing(
    kind="data",
    what="""
        needs the PubMed part of ScholarSum, whose licence its authors don't state. With a copy
        of yours, copy papers/benchmarks/scholarsum_pubmed into benchmarks/; docs/datasets.md
        says more
    """,
)
ALL_TURNED = """
    Pearson's r, which the paper's figure shows under the name of Spearman. All are turned so
    that more is better: of DELTA less is, so that its signs are the opposite of the paper's.
"""

# ---- tables 2 and 4, and the weights ------------------------------------


def correlate_scorers(benchmark: str) -> Numbers:
    """Return the correlations of metrics and people with each other."""
    return Numbers(
        benchmark=benchmark,
        table="pairs_of_scorers",
        value="value",
        n="n",
        where={"part": "full", "coefficient": "pearson", "study": benchmark},
    )


def mean_score(title: str, metric: str, printed: str, evaluator: str = "") -> Line:
    """Return a row of table 2 or 4: a metric of ours, and the printed quantity and evaluator."""
    return Line(
        title=title,
        ours={"metric": metric},
        printed={"quantity": printed, "evaluator": evaluator},
    )


METRICS_AND_PEOPLE = [
    mean_score("ROUGE-L ↑", "scholarsum_rougeL", "ROUGE-L"),
    mean_score("BERTScore ↑", "scholarsum_bertscore", "BERTScore"),
    mean_score("DELTA ↓", "scholarsum_delta", "DELTA"),
    mean_score("QuestEval ↑", "scholarsum_questeval", "QuestEval"),
    mean_score("ACU ↑", "scholarsum_acu", "ACU"),
    mean_score("FM (GPT-3.5) ↑", "scholarsum_fm_gpt35", "FM", "GPT-3.5"),
    mean_score("FM (GPT-4) ↑", "scholarsum_fm_gpt4", "FM", "GPT-4"),
    mean_score(
        "Human ↑",
        "overall",
        "Human (facet-aware overall score)",
        "human",
    ),
]

FITTED_TO_ALL_FACETS = {"study": ARXIV, "method": "complete"}
WEIGHTS = Numbers(
    benchmark=ARXIV,
    table="facet_weights",
    value="weight",
    low="low",
    high="high",
    n="n",
    where=FITTED_TO_ALL_FACETS,
)
# Each facet's row of the table has the error of the whole fit; we take the first.
ERROR_OF_WEIGHTS = Line(
    title="Mean squared error",
    ours={"criterion": "background"},
    printed={"quantity": "mean squared error"},
    numbers=Numbers(
        benchmark=ARXIV,
        table="facet_weights",
        value="mse",
        n="n",
        where=FITTED_TO_ALL_FACETS,
    ),
)


def weight(facet: str) -> Line:
    """Return the row of a facet's weight."""
    return Line(
        title=f"Weight of {facet}",
        ours={"criterion": facet},
        printed={"split_or_section": facet},
    )


RECORDS: Sequence[Record] = [
    Record(
        paper="fm",
        name="fig3",
        title="How metrics and people correlate on PubMed",
        form="heatmap",
        numbers=correlate_scorers(PUBMED),
        rows=lines_by("row", SCORERS),
        columns=lines_by("column", SCORERS),
        axis="Pearson's r over all abstracts",
        caption=f"49 PubMed papers, six systems. {ALL_TURNED}",
        open=NO_PUBMED,
    ),
    Record(
        paper="fm",
        name="fig4a",
        title="Shares of the facets in abstracts",
        form="bars",
        numbers=Numbers(
            benchmark=ARXIV,
            table="facet_shares",
            value="share",
            low="low",
            high="high",
            n="n_shares",
            scale=100,
        ),
        rows=[REFERENCE, *EACH_SYSTEM],
        columns=lines_by("facet", FACETS),
        axis="per cent of an abstract's words",
        caption=f"""
            {FOUR_SYSTEMS} Facets as GPT-4 extracted them for the data's authors; words that
            no facet holds are the rest to 100 per cent. Mean over abstracts, with a
            bootstrap interval over papers.
        """,
    ),
    Record(
        paper="fm",
        name="fig4b",
        title="Numbers in abstracts",
        form="dots",
        numbers=estimate(ARXIV, "text_numbers"),
        rows=[REFERENCE, *EACH_SYSTEM],
        columns=[Line(title="Numbers per abstract", ours={"quantity": "numbers"})],
        axis="numbers, mean over abstracts",
        caption=f"""
            {FOUR_SYSTEMS} Mean over abstracts, with a bootstrap interval over papers.
        """,
    ),
    Record(
        paper="fm",
        name="fig4c",
        title="How common the words of abstracts are",
        form="violins",
        numbers=estimate(ARXIV, "text_numbers", draws="draws"),
        rows=[REFERENCE, *EACH_SYSTEM],
        columns=[
            Line(title="How common the words are", ours={"quantity": "popularity"})
        ],
        axis="mean log10 of occurrences per million words",
        caption=f"""
            {FOUR_SYSTEMS} How often an abstract's content words occur in the other papers
            and their abstracts; the paper does not say what it counted in. Body: the
            abstracts; dot: their mean, with a bootstrap interval over papers.
        """,
    ),
    Record(
        paper="fm",
        name="fig4d",
        title="Systems' overall ratings",
        form="violins",
        numbers=Numbers(
            benchmark=ARXIV,
            table="rating_violins",
            value="mean",
            low="low",
            high="high",
            draws="all_ratings",
            n="n_documents",
            where={"part": "full", "study": ARXIV},
        ),
        rows=EACH_SYSTEM,
        columns=[Line(title="Rated facet by facet", ours={"criterion": "overall"})],
        axis="overall rating, 0 (worst) to 1 (best)",
        caption=f"""
            {FOUR_SYSTEMS} Body: the ratings; dot: their mean, with a bootstrap interval over
            papers. The paper sets beside it ratings of whole abstracts without facets, which
            were not released; nor does it say of which numbers its interquartile ranges, .26
            and .40, are.
        """,
    ),
    Record(
        paper="fm",
        name="fig8",
        title="How metrics and people correlate on arXiv",
        form="heatmap",
        numbers=correlate_scorers(ARXIV),
        rows=lines_by("row", SCORERS),
        columns=lines_by("column", SCORERS),
        axis="Pearson's r over 200 abstracts",
        caption=f"""
            {FOUR_SYSTEMS}
            {ALL_TURNED}
        """,
    ),
    Record(
        paper="fm",
        name="fig9",
        title="Systems facet by facet, as people see them",
        form="bars",
        numbers=Numbers(
            benchmark=ARXIV,
            table="rating_summaries",
            value="mean",
            low="low",
            high="high",
            n="n",
            where={"part": "full", "study": ARXIV, "of": "author"},
        ),
        rows=lines_by("criterion", FACETS),
        columns=lines_by("name", SYSTEMS),
        axis="mean rating, 0 (worst) to 1 (best)",
        caption=f"""
            {FOUR_SYSTEMS} Grades as shares of their scales' ends; facets that a reference
            lacks are not graded. With a bootstrap interval over papers.
        """,
    ),
    Record(
        paper="fm",
        name="fig5",
        title="How well GPT-4 extracts facets",
        form="bars",
        open=Missing(kind="data", what="people's checks were not released"),
    ),
    Record(
        paper="fm",
        name="fig10",
        title="Facets marked in abstracts",
        open=Missing(
            kind="data",
            what="""
                shows texts of the data, which may not be passed on; the benchmark's report
                shows facets in their texts to those who have the data
            """,
        ),
    ),
    Record(
        paper="fm",
        name="fig11",
        title="Cases that the facet-aware metric graded",
        numbers=Numbers(
            benchmark=ARXIV,
            table="facet_grades",
            value="value",
            scale=4,
        ),
        rows=[
            Line(
                title="Case 2: result of arxiv_34 by GPT-3.5",
                ours={"doc_id": "arxiv_34", "author": "gpt35", "facet": "result"},
                printed={"setting": "case 2"},
            ),
            Line(
                title="Case 3: method of arxiv_32 by BART-Large",
                ours={"doc_id": "arxiv_32", "author": "bart_large", "facet": "method"},
                printed={"setting": "case 3"},
            ),
        ],
        columns=[
            Line(title="FM (GPT-4), as released", ours={"by": "scholarsum_fm_gpt4"}),
            Line(title="People", ours={"by": "people"}, printed=None),
        ],
        printed_files=["fm_fig11.csv"],
        decimals=0,
        caption="""
            Grades from 1 to 4, without the texts, which may not be passed on. Cases were
            found in the data by their words, and the facet of case 3 by its grade's words;
            case 1 is of PubMed. In print the columns of reference and generated text are
            swapped.
        """,
    ),
    Record(
        paper="fm",
        name="table2",
        title="Systems' means by each metric on PubMed",
        numbers=estimate(PUBMED, "means_of_first", where={"documents": "all"}),
        rows=[
            *METRICS_AND_PEOPLE[:5],
            mean_score("FM (Llama2) ↑", "scholarsum_fm_llama", "FM", "Llama2"),
            *METRICS_AND_PEOPLE[5:],
        ],
        columns=lines_by(
            "author",
            PUBMED_SYSTEMS,
            printed_column="system_or_metric",
        ),
        printed_files=["fm_table2.csv"],
        decimals=4,
        caption="""
            Means over the 49 papers, of which one is released twice, with a bootstrap
            interval over papers. Arrows: which end is better, by the paper's words; the
            printed table ranks a high DELTA first.
        """,
        open=NO_PUBMED,
    ),
    Record(
        paper="fm",
        name="table3",
        title="Agreement of the annotators by facet",
        open=Missing(
            kind="data",
            what="""
                only the grades that both annotators agreed on were released, not each one's
                own
            """,
        ),
    ),
    Record(
        paper="fm",
        name="table4",
        title="Systems' means by each metric on arXiv",
        numbers=estimate(ARXIV, "means_of_first", where={"documents": "first"}),
        rows=METRICS_AND_PEOPLE,
        columns=EACH_SYSTEM,
        printed_files=["fm_table4.csv"],
        decimals=4,
        caption="""
            Means over the first 44 of the 50 released papers, which are those of the print,
            with a bootstrap interval over papers. Arrows: which end is better, by the
            paper's words; its table 2 ranks a high DELTA first. Where ours differ, no number
            of papers, counted from the first, has the printed mean.
        """,
    ),
    Record(
        paper="fm",
        name="weights",
        title="Weights of the facets in the overall score (section 4.2)",
        numbers=WEIGHTS,
        rows=[
            weight("background"),
            weight("method"),
            weight("result"),
            weight("conclusion"),
            ERROR_OF_WEIGHTS,
        ],
        columns=[Line(title="Fitted")],
        printed_files=["fm_weights.csv"],
        decimals=3,
        caption="""
            Least squares of the overall scores on the facets' over abstracts that have all
            four, with a bootstrap interval over papers. The released overall scores were
            computed with the printed weights; those that the paper fitted were not released.
        """,
    ),
]
