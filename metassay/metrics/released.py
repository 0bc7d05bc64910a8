"""Scores that a dataset brings with it: what they mean, as far as their authors say.

They are not computed here and never compared with ours of a similar name: another version, other
settings. `metassay/datasets/` reads them; the table `measurements` has them in `given.parquet`.
"""

from metassay.metrics.describe import RELEASED, Description

_MEANINGS = {
    "xsum_rouge1": "ROUGE-1 with the reference, as released",
    "xsum_rouge2": "ROUGE-2 with the reference, as released",
    "xsum_rougeL": "ROUGE-L with the reference, as released",
    "xsum_bertscore": "BERTScore with the reference, as released",
    "xsum_entailment": "probability that the article entails the summary",
    "unieval_naturalness": "UniEval's answer to: is it natural?",
    "unieval_informativeness": "UniEval's answer to: is it informative?",
    "unieval_coherence": "UniEval's answer to: does it continue the dialogue?",
    "unieval_engagingness": "UniEval's answers to: is it engaging? Summed over sentences",
    "unieval_groundedness": "UniEval's answer to: does it use the fact?",
    "unieval_understandability": "UniEval's answer to: is it understandable?",
    "unieval_overall": "mean of UniEval's dimensions",
    "scholarsum_rouge1": "ROUGE-1 with the abstract, as released",
    "scholarsum_rouge2": "ROUGE-2 with the abstract, as released",
    "scholarsum_rougeL": "ROUGE-L with the abstract, as released",
    "scholarsum_bertscore": "BERTScore with the abstract, as released",
    "scholarsum_delta": "DELTA; its paper says lower is better",
    "scholarsum_questeval": "QuestEval with the article",
    "scholarsum_acu": "share of the abstract's atomic content units",
    "scholarsum_fm_llama": "facet-aware score by Llama",
    "scholarsum_fm_gpt35": "facet-aware score by GPT-3.5",
    "scholarsum_fm_gpt4": "facet-aware score by GPT-4",
    "scholarsum_gpt4": "one grade by GPT-4, without facets",
    "scholarsum_geval": "G-Eval; its scale is not stated",
}
_SOURCES = {
    "xsum": "Maynez et al. 2020; released with the annotations",
    "unieval": "UniEval, Zhong et al. 2022; released with the code",
    "scholarsum": "ScholarSum, Guo et al. 2024; released with the data",
}
_RANGES: dict[str, tuple[float, float | None]] = {
    "xsum_bertscore": (-1, 1),
    "scholarsum_bertscore": (-1, 1),
    "unieval_engagingness": (0, None),
    "unieval_overall": (0, None),
    "scholarsum_geval": (0, None),
}
_FACETS = {
    f"scholarsum_fm_{judge}_{facet}": (
        f"facet-aware grade of the {facet} by {name}, as a share of the best grade"
    )
    for judge, name in (("gpt35", "GPT-3.5"), ("gpt4", "GPT-4"))
    for facet in ("background", "method", "result", "conclusion")
}
_NULL = "as released; null where "

DESCRIPTIONS: dict[str, Description] = {
    name: Description(
        name,
        meaning,
        "lower" if name == "scholarsum_delta" else "higher",
        _RANGES.get(name, (0, 1)),
        _NULL
        + (
            "people did not score the facet, which the abstract lacks"
            if name in _FACETS
            else "it is not"
        ),
        _SOURCES[name.split("_")[0]],
        RELEASED,
    )
    for name, meaning in {**_MEANINGS, **_FACETS}.items()
}
