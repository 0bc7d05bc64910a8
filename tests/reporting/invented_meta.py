"""Hand-made rows of the tables about meta-evaluation, hostile names among them."""

from typing import Any

import pyarrow as pa

from metassay.meta_evaluation.evaluate import RESULT_TABLES
from metassay.tables.names import NO_JUDGE
from metassay.tables.parquet import Table

Rows = list[dict[str, Any]]

SCRIPT = "<script>alert(1)</script>"
HOSTILE = f"metric {SCRIPT}"
KEY = {"study": "invented", "criterion": "completeness", "part": "full"}
ODD = {**KEY, "criterion": f"odd {SCRIPT}"}
SENTENCE = "Use: for any two texts, claim_recall follows completeness."
DOUBLES = "2 of 25 documents have exactly the scores of another one."
LEVELS = ("global", "document", "system")
PEARSON = {"coefficient": "pearson"}


def lines(heads: str, *values: tuple[Any, ...], **shared: Any) -> Rows:
    """Rows of these columns and of what all of them share; what is left out is null."""
    return [{**shared, **dict(zip(heads.split(), row, strict=True))} for row in values]


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
    more = {"design": "crossed", "given": "", "found": DOUBLES, "suspected": ""}
    return [{**key, **counts, **more} for key in (KEY, ODD)]


def agreement() -> Rows:
    """All raters together with an interval, and one pair of raters without a value."""
    return lines(
        "rater_a rater_b value low high",
        ("all", "all", 0.654321987654, 0.5, 0.75),
        ("one", f"two {SCRIPT}", None, None, None),
        **{"study": "invented", "criterion": "completeness", "n": 6, "n_missing": 1},
        **{"coefficient": "krippendorff_alpha_interval", "n_resamples": 100},
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


USUAL = {
    **{"study": "invented", "criterion": "completeness", "part": "full", "metric": "bleu"},
    **{"judge": NO_JUDGE, "coefficient": "pearson", "recipe": "invented", "level": "global"},
    **{"metric_a": "bleu", "metric_b": HOSTILE, "author": "plain", "of": "author"},
}


def any_rows(table: Table) -> Rows:
    """Two rows of a table: usual keys, hostile texts elsewhere; of the second what may is null."""
    kinds = {pa.string(): SCRIPT, pa.int64(): 3, pa.float64(): 0.25, pa.bool_(): False}
    first = {
        name: USUAL.get(name, column.choices[0] if column.choices else kinds[column.type])
        for name, column in table.columns.items()
    }
    null = {name: None for name, column in table.columns.items() if column.null}
    last = next(name for name in table.key[::-1] if not table.columns[name].choices)
    other = 4 if table.columns[last].type == pa.int64() else f"other {SCRIPT}"
    return [first, {**first, **null, last: other}]


def rows() -> dict[str, Rows]:
    """Every table's rows, before any check."""
    by_hand = {of.__name__: of() for of in (certificates, designs, agreement, conflicts)}
    every = {name: any_rows(table) for name, table in RESULT_TABLES.items() if name != "evidence"}
    return every | by_hand
