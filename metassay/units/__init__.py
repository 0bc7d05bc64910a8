"""Parts of texts, and the units in them: statements with their citations, and claims.

To add a way to find either: a module with a KIND (or MODULE:NAME), and a line in its
index here.
"""

SEGMENTATIONS = {
    "whole": "metassay.units.soap:WHOLE",
    "soap": "metassay.units.soap",
    "cues": "metassay.units.roles:CUES",
    "sentence_roles": "metassay.units.sentence_roles",
    "llm_facets": "metassay.units.llm:FACETS",
    "released": "metassay.units.facets:RELEASED",
}

DECOMPOSITIONS = {
    "clauses": "metassay.units.clauses:CLAUSES",
    "llm": "metassay.units.llm:CLAIMS",
    "doclens_claims": "metassay.units.released_claims",
}
