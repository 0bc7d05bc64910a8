"""Hand-made rows of the tables about meta-evaluation, hostile names among them."""

from typing import Any

from metassay.tables import NO_JUDGE

Rows = list[dict[str, Any]]

SCRIPT = "<script>alert(1)</script>"
HOSTILE = f"metric {SCRIPT}"
KEY = {"study": "invented", "criterion": "completeness", "part": "full"}
ODD = {**KEY, "criterion": f"odd {SCRIPT}"}
SENTENCE = "claim_recall orders any two texts as people do: 0.520 [0.310, 0.690], like a rater."


def certificates() -> Rows:
    """Per criterion three metrics at every level; the hostile one is undefined."""
    strong = {
        **{"verdict": "like a rater", "value": 0.52, "low": 0.31, "high": 0.69},
        **{"accuracy": 0.71, "chance": 0.41, "epsilon": 0.025, "confound": None},
        **{"against_ceiling": -0.04, "against_ceiling_low": -0.15, "against_ceiling_high": 0.07},
        **{"given_confound": None, "detectable": 0.275, "detectable_difference": 0.185},
        "sentence": SENTENCE,
    }
    weak = {
        **{"verdict": "not shown", "value": 0.13, "low": -0.08, "high": 0.33},
        **{"accuracy": 0.44, "chance": 0.4, "epsilon": 0.0, "confound": "words"},
        **{"against_ceiling": None, "against_ceiling_low": None, "against_ceiling_high": None},
        **{"given_confound": 0.02, "detectable": 0.275, "detectable_difference": None},
        "sentence": f"Weak. {SCRIPT}",
    }
    undefined = {
        **dict.fromkeys(weak),
        "verdict": "undefined",
        "sentence": "It is constant.",
    }
    metrics = (("claim_recall", "lexical", strong), ("bleu", NO_JUDGE, weak))
    return [
        {
            **key,
            **{"metric": metric, "judge": judge, "level": level, "coefficient": "pearson"},
            **{"n": 97, "n_undefined": 4 if level == "document" else 0, "n_missing": 3},
            **{"n_pairs": 1234, "ceiling": 0.56, "ceiling_low": 0.45, "ceiling_high": 0.65},
            **values,
            "recipe": "invented",
        }
        for key in (KEY, ODD)
        for metric, judge, values in (*metrics, (HOSTILE, NO_JUDGE, undefined))
        for level in ("global", "document", "system")
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
    """bleu follows people at 0.35, at 0.05 given the length; what is left within systems: null."""
    found = (
        ("words", "metric", 0.8),
        ("words", "people", 0.4),
        ("words", "partial", 0.05),
        ("words", "lowest_100", 0.35),
        ("system", "partial", None),
    )
    return [
        {
            **KEY,
            **{"metric": metric, "judge": NO_JUDGE, "confound": confound, "statistic": statistic},
            **{"coefficient": "pearson", "value": value, "n": 95, "n_missing": 5, "p": None},
        }
        for metric in ("bleu", HOSTILE)
        for confound, statistic, value in found
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


def rows() -> dict[str, Rows]:
    """Every table's rows, before any check."""
    tables = (
        *(certificates, significance, agreement, preferences, ensembles),
        *(conflicts, disagreements, confounds, corrected),
    )
    return {table.__name__: table() for table in tables}
