"""Descriptions of scores that datasets bring with them.

They mean what their authors say, as far as they say it. They are not computed here and
never compared with ours of a similar name: another version, other settings.
`metassay/datasets/` reads them; table `measurements` has them in `given.parquet`.
"""

from typing import Literal

from metassay.metrics.describe import RELEASED, Description

XSUM = "Maynez et al. 2020; released with the annotations"
UNIEVAL = "UniEval, Zhong et al. 2022; released with the code"
SCHOLARSUM = "ScholarSum, Guo et al. 2024; released with the data"
FRANK = "FRANK, Pagnoni et al. 2021; released with the annotations"
_NOT_THERE = "as released; null where it is not"
_NO_FACET = (
    "as released; null where people did not score the facet, which the abstract lacks"
)


def _score(
    name: str,
    meaning: str,
    source: str,
    *,
    better: Literal["higher", "lower"] = "higher",
    range: tuple[float, float | None] = (0, 1),
    missing: str = _NOT_THERE,
) -> Description:
    """Describe a released score; an end of None in its range is no limit."""
    return Description(
        name=name,
        meaning=meaning,
        better=better,
        range=range,
        missing=missing,
        source=source,
        family=RELEASED,
    )


def _rouges(dataset: str, compared: str, source: str) -> list[Description]:
    """Describe ROUGE-1, ROUGE-2 and ROUGE-L with what `compared` says."""
    return [
        _score(
            f"{dataset}_rouge{variant}",
            f"ROUGE-{variant} with {compared}, as released",
            source,
        )
        for variant in ("1", "2", "L")
    ]


def _frank_bertscores(name: str, compared: str) -> list[Description]:
    """Describe precision, recall and F1 of FRANK's BERTScore with what `compared` says."""
    return [
        _score(
            f"frank_{name}_{statistic.lower()}",
            f"BERTScore {statistic} with {compared}",
            FRANK,
            range=(-1, 1),
        )
        for statistic in ("precision", "recall", "F1")
    ]


_SCORES = [
    *_rouges("xsum", "the reference", XSUM),
    _score(
        "xsum_bertscore",
        "BERTScore with the reference, as released",
        XSUM,
        range=(-1, 1),
    ),
    _score("xsum_entailment", "probability that the article entails the summary", XSUM),
    _score("unieval_naturalness", "UniEval's answer to: is it natural?", UNIEVAL),
    _score(
        "unieval_informativeness", "UniEval's answer to: is it informative?", UNIEVAL
    ),
    _score(
        "unieval_coherence",
        "UniEval's answer to: does it continue the dialogue?",
        UNIEVAL,
    ),
    _score(
        "unieval_engagingness",
        "UniEval's answers to: is it engaging? Summed over sentences",
        UNIEVAL,
        range=(0, None),
    ),
    _score(
        "unieval_groundedness", "UniEval's answer to: does it use the fact?", UNIEVAL
    ),
    _score(
        "unieval_understandability",
        "UniEval's answer to: is it understandable?",
        UNIEVAL,
    ),
    _score("unieval_overall", "mean of UniEval's dimensions", UNIEVAL, range=(0, None)),
    *_rouges("scholarsum", "the abstract", SCHOLARSUM),
    _score(
        "scholarsum_bertscore",
        "BERTScore with the abstract, as released",
        SCHOLARSUM,
        range=(-1, 1),
    ),
    _score(
        "scholarsum_delta",
        "DELTA; its paper says lower is better",
        SCHOLARSUM,
        better="lower",
    ),
    _score("scholarsum_questeval", "QuestEval with the article", SCHOLARSUM),
    _score(
        "scholarsum_acu", "share of the abstract's atomic content units", SCHOLARSUM
    ),
    _score("scholarsum_fm_llama", "facet-aware score by Llama", SCHOLARSUM),
    _score("scholarsum_fm_gpt35", "facet-aware score by GPT-3.5", SCHOLARSUM),
    _score("scholarsum_fm_gpt4", "facet-aware score by GPT-4", SCHOLARSUM),
    _score("scholarsum_gpt4", "one grade by GPT-4, without facets", SCHOLARSUM),
    _score(
        "scholarsum_geval",
        "G-Eval; its scale is not stated",
        SCHOLARSUM,
        range=(0, None),
    ),
    *_rouges("frank", "the reference", FRANK),
    _score("frank_bleu", "BLEU with the reference, as released", FRANK, range=(0, 100)),
    _score("frank_meteor", "METEOR with the reference, as released", FRANK),
    *_frank_bertscores("bertscore", "the reference"),
    *_frank_bertscores("bertscore_article", "the article"),
    _score(
        "frank_factcc",
        "share of sentences that FactCC finds consistent with the article",
        FRANK,
    ),
    _score("frank_feqa", "FEQA: answers from summary and article that agree", FRANK),
    _score("frank_dep_entail", "dependency arcs that the article entails (DAE)", FRANK),
    _score("frank_qags", "QAGS: answers from summary and article that agree", FRANK),
]
_FACET_GRADES = [
    _score(
        f"scholarsum_fm_{judge}_{facet}",
        f"facet-aware grade of the {facet} by {name}, as a share of the best grade",
        SCHOLARSUM,
        missing=_NO_FACET,
    )
    for judge, name in (("gpt35", "GPT-3.5"), ("gpt4", "GPT-4"))
    for facet in ("background", "method", "result", "conclusion")
]

DESCRIPTIONS: dict[str, Description] = {
    score.name: score for score in (*_SCORES, *_FACET_GRADES)
}
