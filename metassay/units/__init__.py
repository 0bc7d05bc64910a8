"""Parts of texts, and the units in them: statements with their citations, and claims.

To add a way to find either: a module with a KIND, and a line in its index here.
"""

SEGMENTATIONS = {
    "whole": "metassay.units.whole",
    "soap": "metassay.units.soap",
    "cues": "metassay.units.cues",
    "sentence_roles": "metassay.units.sentence_roles",
    "llm_facets": "metassay.units.llm_facets",
    "released": "metassay.units.released_facets",
}

DECOMPOSITIONS = {
    "clauses": "metassay.units.clauses",
    "llm": "metassay.units.llm_claims",
    "doclens_claims": "metassay.units.released_claims",
}
