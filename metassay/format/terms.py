"""Labels of levels, components and coefficients on pages, in sentences and in terminals."""

DECISIONS = {  # what each level decides
    "global": "any two texts",
    "document": "two texts of one document",
    "system": "two systems",
}
LEVELS = (*DECISIONS, "grouped")
WHERE = {
    "global": "over all texts",
    "document": "within documents",
    "system": "between systems",
}
COMPONENTS = {
    "between_systems": "between systems",
    "between_documents": "between documents",
    "within": "text by text",
}
RELATIONS = {**WHERE, **COMPONENTS}  # of all that can be tested
COEFFICIENT_NAMES = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall": "Kendall's tau-b",
    "kendall_c": "Stuart's tau-c",
}
COEFFICIENTS = tuple(COEFFICIENT_NAMES)
