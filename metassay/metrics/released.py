"""Scores that a dataset brings with it: what they mean, as far as their authors say.

They are not computed here and never compared with ours of a similar name: another version, other
settings. `metassay/datasets/` reads them; the table `measurements` has them in `given.parquet`.
"""

from metassay.metrics.describe import RELEASED, Description

_NULL = "as released; null where it is not"
_XSUM = "Maynez et al. 2020; released with the annotations"
_UNIEVAL = "UniEval, Zhong et al. 2022; released with the code"
_SCHOLARSUM = "ScholarSum, Guo et al. 2024; released with the data"


def _given(
    name: str,
    meaning: str,
    source: str,
    *,
    range: tuple[float, float | None] = (0, 1),
    lower: bool = False,
    missing: str = _NULL,
) -> Description:
    return Description(
        name, meaning, "lower" if lower else "higher", range, missing, source, RELEASED
    )


_ALL = (
    _given("xsum_rouge1", "ROUGE-1 with the reference, as released", _XSUM),
    _given("xsum_rouge2", "ROUGE-2 with the reference, as released", _XSUM),
    _given("xsum_rougeL", "ROUGE-L with the reference, as released", _XSUM),
    _given("xsum_bertscore", "BERTScore with the reference, as released", _XSUM, range=(-1, 1)),
    _given("xsum_entailment", "probability that the article entails the summary", _XSUM),
    _given("unieval_naturalness", "UniEval's answer to: is it natural?", _UNIEVAL),
    _given("unieval_informativeness", "UniEval's answer to: is it informative?", _UNIEVAL),
    _given("unieval_coherence", "UniEval's answer to: does it continue the dialogue?", _UNIEVAL),
    _given(
        "unieval_engagingness",
        "UniEval's answers to: is it engaging? Summed over sentences",
        _UNIEVAL,
        range=(0, None),
    ),
    _given("unieval_groundedness", "UniEval's answer to: does it use the fact?", _UNIEVAL),
    _given("unieval_understandability", "UniEval's answer to: is it understandable?", _UNIEVAL),
    _given("unieval_overall", "mean of UniEval's dimensions", _UNIEVAL, range=(0, None)),
    _given("scholarsum_rouge1", "ROUGE-1 with the abstract, as released", _SCHOLARSUM),
    _given("scholarsum_rouge2", "ROUGE-2 with the abstract, as released", _SCHOLARSUM),
    _given("scholarsum_rougeL", "ROUGE-L with the abstract, as released", _SCHOLARSUM),
    _given(
        "scholarsum_bertscore",
        "BERTScore with the abstract, as released",
        _SCHOLARSUM,
        range=(-1, 1),
    ),
    _given("scholarsum_delta", "DELTA; its paper says lower is better", _SCHOLARSUM, lower=True),
    _given("scholarsum_questeval", "QuestEval with the article", _SCHOLARSUM),
    _given("scholarsum_acu", "share of the abstract's atomic content units", _SCHOLARSUM),
    _given("scholarsum_fm_llama", "facet-aware score by Llama", _SCHOLARSUM),
    _given("scholarsum_fm_gpt35", "facet-aware score by GPT-3.5", _SCHOLARSUM),
    _given("scholarsum_fm_gpt4", "facet-aware score by GPT-4", _SCHOLARSUM),
    _given("scholarsum_gpt4", "one grade by GPT-4, without facets", _SCHOLARSUM),
    _given("scholarsum_geval", "G-Eval; its scale is not stated", _SCHOLARSUM, range=(0, None)),
    *(
        _given(
            f"scholarsum_fm_{judge}_{facet}",
            f"facet-aware grade of the {facet} by {name}, as a share of the best grade",
            _SCHOLARSUM,
            missing="as released; null where people did not score the facet, which the abstract"
            " lacks",
        )
        for judge, name in (("gpt35", "GPT-3.5"), ("gpt4", "GPT-4"))
        for facet in ("background", "method", "result", "conclusion")
    ),
)
DESCRIPTIONS: dict[str, Description] = {one.name: one for one in _ALL}
