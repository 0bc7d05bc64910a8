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


def certificates() -> Rows:
    """Per criterion three metrics at every level; the hostile one is undefined.

    Of eight systems; two of the 25 documents are equal.
    """
    blank = (
        *("value", "low", "high", "low_these_systems", "high_these_systems", "p", "shown_by"),
        *("corrected", "corrected_low", "corrected_high", "accuracy", "chance", "epsilon"),
        *("with_raters", "rater", "against_rater", "against_rater_low", "against_rater_high"),
        *("confound", "given_confound", "given_confound_p", "needed_systems", "needed_documents"),
        *("within_systems", "within_systems_p"),
    )
    strong = {
        **{"verdict": "use", "advice": "use it", "trusted": True},
        **{"value": 0.52, "low": 0.31, "high": 0.69},
        **{"low_these_systems": 0.41, "high_these_systems": 0.62, "p": 0.0001},
        **{"shown_by": "within", "accuracy": 0.71, "chance": 0.41, "epsilon": 0.025},
        **{"corrected": 0.47, "corrected_low": 0.2004, "corrected_high": 0.71},
        **{"with_raters": 0.5104, "rater": 0.5596, "against_rater": -0.0492},
        **{"against_rater_low": -0.15, "against_rater_high": 0.07},
        "sentence": SENTENCE,
    }
    weak = {
        **{"verdict": "cannot tell", "advice": "rate more systems", "trusted": False},
        **{"value": 0.13, "low": -0.08, "high": 0.33},
        **{"low_these_systems": -0.0002, "high_these_systems": 0.25, "p": 0.25},
        **{"shown_by": "between_systems", "accuracy": 0.44, "chance": 0.4, "epsilon": 0.0},
        **{"corrected": 0.19, "corrected_low": -0.2, "corrected_high": 0.5},
        **{"confound": "words", "given_confound": 0.02, "given_confound_p": 0.8},
        **{"needed_systems": 12, "needed_documents": 1200, "sentence": f"Weak. {SCRIPT}"},
    }
    undefined = {"verdict": "undefined", "trusted": False, "sentence": "It is constant."}
    undefined["advice"] = "nothing to compare"
    unsure = {"verdict": "promising", "trusted": False, "p": 0.0833, "needed_systems": 20}
    unsure |= {"advice": "rate more systems", "needed_documents": 25}
    metrics = (("claim_recall", "lexical", strong), ("bleu", NO_JUDGE, weak))
    return [
        {
            **key,
            **{"metric": metric, "judge": judge, "level": level, "coefficient": "pearson"},
            **{"n": 97, "n_undefined": 4 if level == "document" else 0, "n_missing": 3},
            **{"n_systems": 8, "n_families": 8, "n_documents": 25, "n_clusters": 24},
            **{"n_strata": 1, "n_pairs": 1234, "n_raters": 3, "n_against_rater": 80},
            **{"n_tied": 0, "design": "crossed", "smallest_p": 0.0004, "primary": False},
            **{"as_good_as_rater": False, "only_between_systems": False},
            **dict.fromkeys(blank),
            **values,
            **(unsure if level == "system" and values is strong else {}),
            "recipe": "invented",
        }
        for key in (KEY, ODD)
        for metric, judge, values in (*metrics, (HOSTILE, NO_JUDGE, undefined))
        for level in ("global", "document", "system")
    ]


def designs() -> Rows:
    """Both criteria are of one study, whose documents have two doubles."""
    counts = {"n_systems": 8, "n_families": 8, "n_documents": 25, "n_clusters": 25, "n_strata": 1}
    more = {"design": "crossed", "given": "", "found": FOUND, "suspected": ""}
    return [{**key, **counts, **more} for key in (KEY, ODD)]


def strata() -> Rows:
    """Two strata, of which a name is hostile; the metric is of use in one."""
    values = (("news", 0.7, 0.5, 0.8, 4), (SCRIPT, -0.1, None, None, 2))
    names = ("stratum", "value", "low", "high", "n")
    return [
        {
            **{**KEY, "metric": "bleu", "judge": NO_JUDGE, "level": level},
            **{**dict(zip(names, row, strict=True)), "coefficient": "pearson"},
            **{"n_undefined": 0, "n_missing": 1},
        }
        for level in ("global", "document", "system")
        for row in values
    ]


def components() -> Rows:
    """bleu agrees between systems only; people's ratings vary mostly text by text."""
    found = (
        ("between_systems", 0.9, -0.4, 1.0, 4, 0.4, 0.12),
        ("between_documents", 0.2, -0.1, 0.45, 25, 0.1, 0.3),
        ("within", None, None, None, 97, 0.5, 0.58),
    )
    names = ("component", "value", "low", "high", "n", "metric_share", "people_share")
    return [
        {
            **{**KEY, "metric": metric, "judge": NO_JUDGE, "coefficient": "pearson", "p": None},
            **{**dict(zip(names, row, strict=True)), "n_missing": 3},
        }
        for metric in ("bleu", HOSTILE)
        for row in found
    ]


def significance() -> Rows:
    """Three pairs: one difference holds after Holm's correction, one doesn't, one is undefined."""
    pairs = (
        ("bleu", "claim_recall (lexical)", -0.39, 0.001, 0.003),
        ("bleu", HOSTILE, None, None, None),
        ("claim_recall (lexical)", "rouge1_fmeasure", 0.21, 0.03, 0.06),
    )
    return [
        {
            **KEY,
            **{"level": "global", "coefficient": "pearson", "test": "permutation_documents"},
            **{"metric_a": a, "metric_b": b, "difference": difference, "low": None, "high": None},
            **{"p": p, "p_holm": p_holm, "p_benjamini_hochberg": p_holm},
            **{"n": 90 + place, "n_undefined": 0, "n_missing": 7},
        }
        for place, (a, b, difference, p, p_holm) in enumerate(pairs)
    ]


def agreement() -> Rows:
    """All raters together with an interval, and one pair of raters without a value."""
    values = (
        ("all", "all", 0.654321987654, 0.5, 0.75),
        ("one", f"two {SCRIPT}", None, None, None),
    )
    return [
        {
            **{"study": "invented", "criterion": "completeness"},
            "coefficient": "krippendorff_alpha_interval",
            **{"rater_a": a, "rater_b": b, "value": value, "low": low, "high": high},
            **{"n": 6, "n_missing": 1, "n_resamples": 100},
        }
        for a, b, value, low, high in values
    ]


def preferences() -> Rows:
    """25 comparisons with an outcome on both sides: 12 the same, 3 opposite, 10 with ties."""
    counts = {"n_same": 12, "n_opposite": 3, "n_metric_tie": 4, "n_human_tie": 1, "n_both_tie": 5}
    return [
        {
            **KEY,
            **{"metric": metric, "judge": NO_JUDGE, "value": value, "decisive": decisive},
            **{**counts, "n_abstained": 2, "n_missing": 6, "recipe": "invented"},
        }
        for metric, value, decisive in (("bleu", 0.68, 0.8), (HOSTILE, None, None))
    ]


def ensembles() -> Rows:
    """Three subsets of two metrics, the mean in ensembles of each, and the best subset."""
    blank = dict.fromkeys(("low", "high", "low_of_values", "high_of_values", "in_sample"))
    subsets = (("bleu", 1, 0.13), (HOSTILE, 1, None), (f"bleu + {HOSTILE}", 2, 0.47))
    made: Rows = [
        {"kind": "subset", "members": members, "size": size, "value": value}
        for members, size, value in subsets
    ]
    made.append(
        {
            **{"kind": "containing", "members": "bleu", "size": 1, "value": 0.3},
            **{"low": 0.1, "high": 0.5, "low_of_values": 0.25, "high_of_values": 0.35},
        }
    )
    made.append(
        {
            **{"kind": "best", "members": f"bleu + {HOSTILE}", "size": 2},
            **{"value": 0.38, "in_sample": 0.47},
        }
    )
    shared = {**KEY, "coefficient": "pearson", **blank, "n": 88, "n_missing": 9}
    return [{**shared, **row} for row in made]


def conflicts() -> Rows:
    """Two documents: bleu and the hostile metric disagree on 3 of 9 pairs; another never meets."""
    found = (
        ("bleu", HOSTILE, "doc-1", 6, 3),
        ("bleu", HOSTILE, "doc-2", 3, 0),
        ("bleu", "rouge1_fmeasure", "doc-1", 0, 0),
    )
    names = ("metric_a", "metric_b", "doc_id", "n_pairs", "n_disagreements")
    return [{"part": "full", **dict(zip(names, row, strict=True))} for row in found]


def disagreements() -> Rows:
    """One pair of texts to annotate."""
    return [
        {
            **{"part": "full", "metric_a": "bleu", "metric_b": HOSTILE, "doc_id": "doc-1"},
            **{"author_a": "plain", "author_b": "other", "conflict": 3.0},
        }
    ]


def confounds() -> Rows:
    """bleu follows people at .13, at .02 given the length; a user named `zeal` as a confound."""
    found = (
        ("words", "global", "metric", 0.8, None, None, None),
        ("words", "global", "people", 0.4, None, None, None),
        ("words", "global", "partial", 0.03, -0.2, 0.24, None),
        ("words", "global", "partial_of_any_shape", 0.02, -0.2, 0.24, 0.75),
        ("words", "global", "lowest_100", 0.35, None, None, None),
        ("zeal", "global", "partial_of_any_shape", 0.12, -0.1, 0.3, None),
        ("system", "global", "partial", None, None, None, None),
        ("words", "system", "partial_of_any_shape", 0.5, -1.0, 1.0, None),
    )
    names = ("confound", "level", "statistic", "value", "low", "high", "p")
    return [
        {
            **{**KEY, "metric": metric, "judge": NO_JUDGE, "coefficient": "pearson"},
            **{**dict(zip(names, row, strict=True)), "n": 95, "n_missing": 5},
        }
        for metric in ("bleu", HOSTILE)
        for row in found
    ]


def corrected() -> Rows:
    """Both corrections of one system's mean."""
    blank = dict.fromkeys(("weight", "sensitivity", "specificity"))
    found: Rows = [
        {"method": "prediction_powered", "value": 3.21, "weight": 0.625},
        {"method": "rogan_gladen", "value": None, "sensitivity": 0.9, "specificity": 0.7},
    ]
    return [
        {
            **{**KEY, "metric": "claim_recall", "judge": "lexical", "author": f"sys {SCRIPT}"},
            **blank,
            **{"low": 3.01, "high": 3.41, "metric_mean": 0.77, "human_mean": 3.15},
            **{"n": 40, "n_judged": 207, "n_missing": 2, "recipe": "invented"},
            **row,
            **({"low": None, "high": None} if row["value"] is None else {}),
        }
        for row in found
    ]


def judge_cards() -> Rows:
    """A verdict of a hostile judge: 120 texts that people passed, 40 that they failed."""
    blank = {"low": None, "high": None, "width": None, "n": 160, "n_effective": 120.4}
    found: dict[str, dict[str, Any]] = {
        **{"true_pass": {"value": 109.0}, "false_pass": {"value": 8.0}},
        **{"false_fail": {"value": 11.0}, "true_fail": {"value": 32.0}},
        "sensitivity": {"value": 0.908, "low": 0.846, "high": 0.951, "n": 120},
        "specificity": {"value": 0.8, "low": 0.656, "high": 0.9996, "n": 40},
        "precision": {"value": None, "n": 0},
        "negative_predictive_value": {"value": 0.744, "low": 0.6, "high": 0.86, "n": 43},
        "balanced_accuracy": {"value": 0.854, "low": 0.77, "high": 0.9},
        "cohen_kappa": {"value": 0.691, "low": 0.55, "high": 0.8},
        "mcc": {"value": None},
        "agreement": {"value": 0.881, "low": 0.82, "high": 0.925},
        "agreement_by_chance": {"value": 0.616, "low": 0.55, "high": 0.68},
        "judge_pass_rate": {"value": 0.731, "low": 0.69, "high": 0.77, "n": 900},
        "people_pass_rate": {"value": 0.75, "low": 0.67, "high": 0.81, "n": 165},
        "rogan_gladen_pass_rate": {"value": None},
        "prediction_powered_pass_rate": {"value": 0.76, "low": 0.71, "high": 0.81},
        "brier": {"value": 0.1, "low": 0.08, "high": 0.13},
        **{"bias": {"value": -0.02, "low": -0.06, "high": 0.02}, "ece": {"value": 0.07}},
        "ece_by_chance": {"value": 0.04, "low": 0.02, "high": 0.08},
        "labels_pass_rate": {"value": 1200.0, "width": 0.1},
        "labels_sensitivity": {"value": 201.0, "width": 0.1},
        "labels_specificity": {"value": None, "width": 0.1},
    }
    return [
        {
            **{**KEY, "metric": "right", "judge": f"gpt {SCRIPT}", "statistic": name},
            **{"n_judged": 900, "n_missing": 5, "n_split": 2, "threshold": 0.5},
            **{"recipe": "invented"},
            **blank,
            **row,
        }
        for name, row in found.items()
    ]


def calibration() -> Rows:
    """Two bins of its probabilities."""
    ends = {"lowest": (0.0, 0.5), "highest": (0.45, 1.0), "mean": (0.2, 0.9)}
    passed = {"passed": (0.25, 0.9), "low": (0.15, 0.8), "high": (0.4, 0.95), "n": (80, 80)}
    return [
        {
            **{**KEY, "metric": "right", "judge": f"gpt {SCRIPT}", "bin": place},
            **{name: values[place] for name, values in (ends | passed).items()},
            "recipe": "invented",
        }
        for place in (0, 1)
    ]


def rating_summaries() -> Rows:
    """One text of a system was rated once, and once the rater abstained."""
    numbers = {"mean": 80.0, "low": None, "high": None, "sd": 0.0, "n": 1}
    counts = {"n_missing": 1, "n_documents": 1}
    found = (("all", ""), ("author", "sys\"><b>'& $x_1$"), ("rater", f"rater {SCRIPT}"))
    return [{**KEY, "of": of, "name": name, **numbers, **counts} for of, name in found]


def metric_correlations() -> Rows:
    """A criterion and two metrics; one pair is undefined."""
    people, right, odd = ("people", "completeness"), ("metric", "claim_recall"), ("metric", HOSTILE)
    found = ((people, right, 0.5), (people, odd, None), (right, odd, -0.25))
    ends = ("first_is", "first", "second_is", "second", "value")
    shared = {"study": "invented", "part": "full", "coefficient": "pearson", "n": 6, "n_missing": 0}
    return [
        {**shared, **dict(zip(ends, (*one, *other, value), strict=True))}
        for one, other, value in found
    ]


def facet_weights() -> Rows:
    """The same weights by every method; one of them cannot be told."""
    shared = {"study": "invented", "part": "full", "rubric": f"r {SCRIPT}"}
    ways = ("complete", "renormalised")
    methods = [*ways, *(f"{way}_non_negative" for way in ways)]
    counts = {"n": 40, "n_missing": 2, "n_documents": 10, "n_resamples": 100}
    errors = {"mse": 0.0125, "mse_given": 0.0375}
    found = (("method", 0.35, 0.2, 0.5, 0.3), ("result", None, None, None, 0.7))
    return [
        {
            **shared,
            "method": method,
            "criterion": name,
            "weight": weight,
            "low": low,
            "high": high,
            "given": given,
        }
        | counts
        | errors
        for method in methods
        for name, weight, low, high, given in found
    ]


def rows() -> dict[str, Rows]:
    """Every table's rows, before any check."""
    tables = (
        *(certificates, designs, strata, components, significance, agreement),
        *(preferences, ensembles),
        *(conflicts, disagreements, confounds, corrected, judge_cards, calibration),
        *(rating_summaries, metric_correlations, facet_weights),
    )
    return {table.__name__: table() for table in tables}
