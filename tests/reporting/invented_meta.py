"""Hand-made rows of the tables about meta-evaluation, hostile names among them."""

from typing import Any

from metassay.tables.names import NO_JUDGE

Rows = list[dict[str, Any]]

SCRIPT = "<script>alert(1)</script>"
HOSTILE = f"metric {SCRIPT}"
KEY = {"study": "invented", "criterion": "completeness", "part": "full"}
ODD = {**KEY, "criterion": f"odd {SCRIPT}"}
SENTENCE = "Use: for any two texts, claim_recall follows completeness."
FOUND = "2 of 25 documents have exactly the scores of another one."
LEVELS = ("global", "document", "system")
PEARSON = {"coefficient": "pearson"}


def lines(heads: str, *values: tuple[Any, ...], **shared: Any) -> Rows:
    """Rows of these columns and of what all of them share; what is left out is null."""
    return [{**shared, **dict(zip(heads.split(), row, strict=True))} for row in values]


def of_metrics(rows: Rows, *metrics: str, **shared: Any) -> Rows:
    """The rows for each of the metrics, which need no judge."""
    every = [{**KEY, "metric": name, "judge": NO_JUDGE, **shared} for name in metrics]
    return [{**of_metric, **row} for of_metric in every for row in rows]


def certificates() -> Rows:
    """Per criterion three metrics at every level; the hostile one is undefined.

    Of eight systems; two of the 25 documents are equal.
    """
    metrics = lines(
        "metric judge verdict advice trusted sentence",
        ("claim_recall", "lexical", "use", "use it", True, SENTENCE),
        ("bleu", NO_JUDGE, "cannot tell", "rate more systems", False, f"Weak. {SCRIPT}"),
        (HOSTILE, NO_JUDGE, "undefined", "nothing to compare", False, "It is constant."),
    )
    strong, weak, _ = metrics
    strong |= {"value": 0.52, "low": 0.31, "high": 0.69, "p": 0.0001, "shown_by": "within"}
    strong |= {"low_these_systems": 0.41, "high_these_systems": 0.62, "accuracy": 0.71}
    strong |= {"chance": 0.41, "epsilon": 0.025, "with_raters": 0.5104, "rater": 0.5596}
    strong |= {"corrected": 0.47, "corrected_low": 0.2004, "corrected_high": 0.71}
    strong |= {"against_rater": -0.0492, "against_rater_low": -0.15, "against_rater_high": 0.07}
    weak |= {"value": 0.13, "low": -0.08, "high": 0.33, "p": 0.25, "shown_by": "between_systems"}
    weak |= {"low_these_systems": -0.0002, "high_these_systems": 0.25, "accuracy": 0.44}
    weak |= {"chance": 0.4, "epsilon": 0.0, "needed_systems": 12, "needed_documents": 1200}
    weak |= {"corrected": 0.19, "corrected_low": -0.2, "corrected_high": 0.5}
    weak |= {"confound": "words", "given_confound": 0.02, "given_confound_p": 0.8}
    unsure = {"verdict": "promising", "trusted": False, "p": 0.0833, "needed_systems": 20}
    unsure |= {"advice": "rate more systems", "needed_documents": 25}
    counts = {"n": 97, "n_missing": 3, "n_systems": 8, "n_families": 8, "n_documents": 25}
    counts |= {"n_clusters": 24, "n_strata": 1, "n_pairs": 1234, "n_raters": 3, "n_tied": 0}
    counts |= {"n_against_rater": 80, "smallest_p": 0.0004, "design": "crossed", "primary": False}
    counts |= {"as_good_as_rater": False, "only_between_systems": False, "recipe": "invented"}
    return [
        {
            **{**key, **PEARSON, **counts, "level": level},
            **{"n_undefined": 4 if level == "document" else 0, **metric},
            **(unsure if level == "system" and metric is strong else {}),
        }
        for key in (KEY, ODD)
        for metric in metrics
        for level in LEVELS
    ]


def designs() -> Rows:
    """Both criteria are of one study, whose documents have two doubles."""
    counts = {"n_systems": 8, "n_families": 8, "n_documents": 25, "n_clusters": 25, "n_strata": 1}
    more = {"design": "crossed", "given": "", "found": FOUND, "suspected": ""}
    return [{**key, **counts, **more} for key in (KEY, ODD)]


def strata() -> Rows:
    """Two strata, of which a name is hostile; the metric is of use in one."""
    values = (("news", 0.7, 0.5, 0.8, 4), (SCRIPT, -0.1, None, None, 2))
    rows = lines("stratum value low high n", *values, n_undefined=0, n_missing=1, **PEARSON)
    return [{**row, "level": level} for level in LEVELS for row in of_metrics(rows, "bleu")]


def components() -> Rows:
    """bleu agrees between systems only; people's ratings vary mostly text by text."""
    rows = lines(
        "component value low high n metric_share people_share",
        ("between_systems", 0.9, -0.4, 1.0, 4, 0.4, 0.12),
        ("between_documents", 0.2, -0.1, 0.45, 25, 0.1, 0.3),
        ("within", None, None, None, 97, 0.5, 0.58),
        n_missing=3,
    )
    return of_metrics(rows, "bleu", HOSTILE, **PEARSON)


def significance() -> Rows:
    """Three pairs: one difference holds after Holm's correction, one doesn't, one is undefined."""
    return lines(
        "metric_a metric_b difference p p_holm p_benjamini_hochberg n",
        ("bleu", "claim_recall (lexical)", -0.39, 0.001, 0.003, 0.003, 90),
        ("bleu", HOSTILE, None, None, None, None, 91),
        ("claim_recall (lexical)", "rouge1_fmeasure", 0.21, 0.03, 0.06, 0.06, 92),
        **{**KEY, **PEARSON, "level": "global", "test": "permutation_documents"},
        **{"n_undefined": 0, "n_missing": 7},
    )


def agreement() -> Rows:
    """All raters together with an interval, and one pair of raters without a value."""
    return lines(
        "rater_a rater_b value low high",
        ("all", "all", 0.654321987654, 0.5, 0.75),
        ("one", f"two {SCRIPT}", None, None, None),
        **{"study": "invented", "criterion": "completeness", "n": 6, "n_missing": 1},
        **{"coefficient": "krippendorff_alpha_interval", "n_resamples": 100},
    )


def preferences() -> Rows:
    """25 comparisons with an outcome on both sides: 12 the same, 3 opposite, 10 with ties."""
    shared = {"n_same": 12, "n_opposite": 3, "n_metric_tie": 4, "n_human_tie": 1, "n_both_tie": 5}
    shared |= {"n_abstained": 2, "n_missing": 6, "recipe": "invented", "judge": NO_JUDGE, **KEY}
    values = (("bleu", 0.68, 0.8), (HOSTILE, None, None))
    return lines("metric value decisive", *values, **shared)


def ensembles() -> Rows:
    """Three subsets of two metrics, the mean in ensembles of each, and the best subset."""
    return lines(
        "kind members size value low high low_of_values high_of_values in_sample",
        ("subset", "bleu", 1, 0.13, *(None,) * 5),
        ("subset", HOSTILE, 1, *(None,) * 6),
        ("subset", f"bleu + {HOSTILE}", 2, 0.47, *(None,) * 5),
        ("containing", "bleu", 1, 0.3, 0.1, 0.5, 0.25, 0.35, None),
        ("best", f"bleu + {HOSTILE}", 2, 0.38, *(None,) * 4, 0.47),
        **{**KEY, **PEARSON, "n": 88, "n_missing": 9},
    )


def conflicts() -> Rows:
    """Two documents: bleu and the hostile metric disagree on 3 of 9 pairs; another never meets."""
    return lines(
        "metric_a metric_b doc_id n_pairs n_disagreements",
        ("bleu", HOSTILE, "doc-1", 6, 3),
        ("bleu", HOSTILE, "doc-2", 3, 0),
        ("bleu", "rouge1_fmeasure", "doc-1", 0, 0),
        part="full",
    )


def disagreements() -> Rows:
    """One pair of texts to annotate."""
    heads = "metric_a metric_b doc_id author_a author_b conflict"
    return lines(heads, ("bleu", HOSTILE, "doc-1", "plain", "other", 3.0), part="full")


def confounds() -> Rows:
    """bleu follows people at .13, at .02 given the length; a user named `zeal` as a confound."""
    rows = lines(
        "confound level statistic value low high p",
        ("words", "global", "metric", 0.8, None, None, None),
        ("words", "global", "people", 0.4, None, None, None),
        ("words", "global", "partial", 0.03, -0.2, 0.24, None),
        ("words", "global", "partial_of_any_shape", 0.02, -0.2, 0.24, 0.75),
        ("words", "global", "lowest_100", 0.35, None, None, None),
        ("zeal", "global", "partial_of_any_shape", 0.12, -0.1, 0.3, None),
        ("system", "global", "partial", None, None, None, None),
        ("words", "system", "partial_of_any_shape", 0.5, -1.0, 1.0, None),
        **{**PEARSON, "n": 95, "n_missing": 5},
    )
    return of_metrics(rows, "bleu", HOSTILE)


def corrected() -> Rows:
    """Both corrections of one system's mean."""
    return lines(
        "method value low high weight sensitivity specificity",
        ("prediction_powered", 3.21, 3.01, 3.41, 0.625, None, None),
        ("rogan_gladen", None, None, None, None, 0.9, 0.7),
        **{**KEY, "metric": "claim_recall", "judge": "lexical", "author": f"sys {SCRIPT}"},
        **{"metric_mean": 0.77, "human_mean": 3.15, "n": 40, "n_judged": 207, "n_missing": 2},
        recipe="invented",
    )


JUDGED = {**KEY, "metric": "right", "judge": f"gpt {SCRIPT}", "recipe": "invented"}


def judge_cards() -> Rows:
    """Of a hostile judge: 120 texts that people passed, 40 that they failed."""
    return lines(
        "statistic value low high width n",
        ("true_pass", 109.0, None, None, None, 160),
        ("sensitivity", 0.908, 0.846, 0.951, None, 120),
        ("specificity", 0.8, 0.656, 0.9996, None, 40),
        ("precision", None, None, None, None, 0),
        ("bias", -0.02, -0.06, 0.02, None, 160),
        ("labels_pass_rate", 1200.0, None, None, 0.1, 160),
        **{**JUDGED, "n_judged": 900, "n_missing": 5, "n_split": 2, "threshold": 0.5},
        n_effective=120.4,
    )


def calibration() -> Rows:
    """Two bins of its probabilities."""
    return lines(
        "bin lowest highest mean passed low high n",
        (0, 0.0, 0.45, 0.2, 0.25, 0.15, 0.4, 80),
        (1, 0.5, 1.0, 0.9, 0.9, 0.8, 0.95, 80),
        **JUDGED,
    )


def rating_summaries() -> Rows:
    """One text of a system was rated once, and once the rater abstained."""
    names = (("all", ""), ("author", "sys\"><b>'& $x_1$"), ("rater", f"rater {SCRIPT}"))
    numbers = {"mean": 80.0, "sd": 0.0, "n": 1, "n_missing": 1, "n_documents": 1}
    return lines("of name", *names, **KEY, **numbers)


def metric_correlations() -> Rows:
    """A criterion and two metrics; one pair is undefined."""
    return lines(
        "first_is first second_is second value",
        ("people", "completeness", "metric", "claim_recall", 0.5),
        ("people", "completeness", "metric", HOSTILE, None),
        ("metric", "claim_recall", "metric", HOSTILE, -0.25),
        **{"study": "invented", "part": "full", **PEARSON, "n": 6, "n_missing": 0},
    )


def facet_weights() -> Rows:
    """The same weights by every method; one of them cannot be told."""
    values = (("method", 0.35, 0.2, 0.5, 0.3), ("result", None, None, None, 0.7))
    shared = {"study": "invented", "part": "full", "rubric": f"r {SCRIPT}", "n": 40}
    shared |= {"n_missing": 2, "n_documents": 10, "n_resamples": 100, "mse": 0.0125}
    shared["mse_given"] = 0.0375
    return [
        {**row, "method": f"{way}{sign}"}
        for way in ("complete", "renormalised")
        for sign in ("", "_non_negative")
        for row in lines("criterion weight low high given", *values, **shared)
    ]


def rows() -> dict[str, Rows]:
    """Every table's rows, before any check."""
    tables = (
        *(certificates, designs, strata, components, significance, agreement, preferences),
        *(ensembles, conflicts, disagreements, confounds, corrected, judge_cards, calibration),
        *(rating_summaries, metric_correlations, facet_weights),
    )
    return {table.__name__: table() for table in tables}
