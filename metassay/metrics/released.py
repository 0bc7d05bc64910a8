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
    "frank_rouge1": "ROUGE-1 with the reference, as released",
    "frank_rouge2": "ROUGE-2 with the reference, as released",
    "frank_rougeL": "ROUGE-L with the reference, as released",
    "frank_bleu": "BLEU with the reference, as released",
    "frank_meteor": "METEOR with the reference, as released",
    "frank_bertscore_precision": "BERTScore precision with the reference",
    "frank_bertscore_recall": "BERTScore recall with the reference",
    "frank_bertscore_f1": "BERTScore F1 with the reference",
    "frank_bertscore_article_precision": "BERTScore precision with the article",
    "frank_bertscore_article_recall": "BERTScore recall with the article",
    "frank_bertscore_article_f1": "BERTScore F1 with the article",
    "frank_factcc": "share of sentences that FactCC finds consistent with the article",
    "frank_feqa": "FEQA: answers from summary and article that agree",
    "frank_dep_entail": "dependency arcs that the article entails (DAE)",
    "frank_qags": "QAGS: answers from summary and article that agree",
}
_SOURCES = {
    "xsum": "Maynez et al. 2020; released with the annotations",
    "unieval": "UniEval, Zhong et al. 2022; released with the code",
    "scholarsum": "ScholarSum, Guo et al. 2024; released with the data",
    "frank": "FRANK, Pagnoni et al. 2021; released with the annotations",
}
_RANGES: dict[str, tuple[float, float | None]] = {
    "xsum_bertscore": (-1, 1),
    "scholarsum_bertscore": (-1, 1),
    "unieval_engagingness": (0, None),
    "unieval_overall": (0, None),
    "scholarsum_geval": (0, None),
    "frank_bleu": (0, 100),
    **dict.fromkeys((name for name in _MEANINGS if name.startswith("frank_bertscore")), (-1, 1)),
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
