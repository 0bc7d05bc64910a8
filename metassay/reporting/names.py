"""In which order metrics, parts and authors are shown, and what they are called."""

from collections.abc import Iterable

from metassay.tables import EACH_PART, FULL, NO_JUDGE, REFERENCE

FAMILIES: dict[str, tuple[str, ...]] = {
    "Claims, citations and faithfulness": (
        "claim_recall",
        "claim_precision",
        "citation_recall",
        "citation_precision",
        "faithfulness",
    ),
    "Overlap with the reference": (
        "rouge1_fmeasure",
        "rouge2_fmeasure",
        "rougeL_fmeasure",
        "rougeLsum_fmeasure",
        "bleu",
        "edit_distance",
        "edit_distance_characters",
    ),
    "ROUGE precision and recall": (
        "rouge1_precision",
        "rouge1_recall",
        "rouge2_precision",
        "rouge2_recall",
        "rougeL_precision",
        "rougeL_recall",
        "rougeLsum_precision",
        "rougeLsum_recall",
    ),
    "Copying and length": ("coverage", "density", "compression", "words", "characters"),
}
OTHER_FAMILY = "Other metrics"

# What the dot plot and the table of each document show: one number per question, no variants.
MAIN_METRICS = (
    *FAMILIES["Claims, citations and faithfulness"],
    "rouge1_fmeasure",
    "rouge2_fmeasure",
    "rougeLsum_fmeasure",
)

LEVELS = ("global", "document", "system", "grouped")
COEFFICIENTS = ("pearson", "spearman", "kendall", "kendall_c")
DECISIONS = {
    "global": "any two texts",
    "document": "two texts of one document",
    "system": "two systems",
}
COMPONENTS = {
    "between_systems": "between systems",
    "between_documents": "between documents",
    "within": "text by text",
}
RELATIONS = {  # what was tested, in a few words
    "global": "all texts",
    "document": "within documents",
    "system": "systems’ means",
    **COMPONENTS,
}
COEFFICIENT_NAMES = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall": "Kendall's tau-b",
    "kendall_c": "Stuart's tau-c",
}
ARROWS = {"higher": "↑", "lower": "↓", "neither": ""}

_PARTS = (FULL, "subjective", "objective_exam", "objective_results", "assessment_and_plan")
_RANKS = {name: rank for rank, name in enumerate(n for f in FAMILIES.values() for n in f)}

Metric = tuple[str, str]  # metric, judge


def family(metric: str) -> str:
    """The heading a metric is shown under; `OTHER_FAMILY` for one that this file doesn't know."""
    return next((title for title, names in FAMILIES.items() if metric in names), OTHER_FAMILY)


def metric_label(metric: str, judge: str) -> str:
    """The metric's name, with its judge in brackets where one had a part in it."""
    return metric if judge == NO_JUDGE else f"{metric} ({judge})"


def sorted_metrics(metrics: Iterable[Metric]) -> list[Metric]:
    """Metrics without repeats, in the order of FAMILIES, unknown ones last by name."""
    return sorted(set(metrics), key=lambda m: (_RANKS.get(m[0], len(_RANKS)), m))


def main_metrics(metrics: Iterable[Metric], at_most: int = 8) -> list[Metric]:
    """The metrics of MAIN_METRICS, or the first `at_most` where none of those is there."""
    known = sorted_metrics(metrics)
    return [m for m in known if m[0] in MAIN_METRICS] or known[:at_most]


def sorted_parts(parts: Iterable[str]) -> list[str]:
    """Parts without repeats: `full`, then the SOAP sections in a note's order, then by name."""
    return sorted(set(parts), key=part_rank)


def part_rank(part: str) -> tuple[int, str]:
    """Sorting key of one part."""
    return (_PARTS.index(part) if part in _PARTS else len(_PARTS), part)


def criterion_title(criterion: str, part: str) -> str:
    """The criterion, with the part where that isn't the whole text."""
    if part == EACH_PART:
        return f"{criterion}, within each part"
    return criterion if part == FULL else f"{criterion}, {part}"


def sorted_authors(authors: Iterable[str]) -> list[str]:
    """Authors without repeats, the reference first."""
    return sorted(set(authors), key=lambda author: (author != REFERENCE, author))
