"""The store must not give what other code computed: whoever changes the code raises METHOD."""

from pathlib import Path

import pytest

from metassay.generation import decoding
from metassay.judges.semantic import judge as semantic
from metassay.metrics import bertscore, med_bertscore
from metassay.metrics.faithfulness import ctc_consistency, factscore_support, redress
from metassay.models import likelihood, pair_scores
from metassay.units.alignment import vectors as alignment
from metassay.versions.closure import code_words, hash_of

ROOT = Path(__file__).parents[2]
SHARED = ("models/batches", "models/loading")
SEMANTIC = ("judge", "features", "clashes", "coefficients")
ALIGNMENT = ("vectors", "bs_topk", "bs_gain", "rouge_topk")
VOCABULARY = ("drugs", "anatomy", "diagnoses", "opposites", "synonyms")  # what `known` reads

# What computes, its METHOD, and its code when that METHOD was assigned (not its comments).
COMPUTING = {
    "alignment": (
        alignment.METHOD,
        (
            *(*SHARED, "models/encoders", "models/digits", "models/words"),
            *("text/tokens", "text/tokens.txt"),
            *("units/alignment/vectors", "units/alignment/rouge"),
        ),
        (1, "401f0b7ec9eaf11a"),
    ),
    "bertscore": (
        bertscore.METHOD,
        (*SHARED, "metrics/bertscore", "models/encoders", "models/digits", "models/matching"),
        (3, "cfd1d6635b6c8f14"),
    ),
    "ctc": (
        ctc_consistency.METHOD,
        (
            *(*SHARED, "models/rows", "models/pair_inputs"),
            "metrics/faithfulness/ctc_consistency",
        ),
        (1, "2f3a69ef169e28cc"),
    ),
    "decoding": (
        decoding.METHOD,
        (*SHARED, "generation/decoding"),
        (1, "e97aec89a4be716f"),
    ),
    "factscore": (
        factscore_support.METHOD,
        (
            *(*SHARED, "models/rows", "models/pair_inputs"),
            "metrics/faithfulness/factscore_support",
        ),
        (1, "450541b99a00eb17"),
    ),
    "likelihood": (
        likelihood.METHOD,
        (*SHARED, "models/rows", "models/pair_inputs", "models/likelihood"),
        (2, "64fc4bd8fc9fd17b"),
    ),
    "med_bertscore": (
        med_bertscore.METHOD,
        (
            *(*SHARED, "models/encoders", "models/digits", "models/matching"),
            "metrics/med_bertscore",
            *("concepts/linkers", "concepts/terms", "concepts/terms.txt"),
        ),
        (2, "53226c256144c411"),
    ),
    "nli": (
        pair_scores.METHOD,
        (*SHARED, "models/pair_inputs", "models/pair_scores", "models/rows"),
        (1, "4baf19c66b4eee39"),
    ),
    "redress": (
        redress.METHOD,
        (
            *(*SHARED, "models/rows", "models/pair_inputs", "models/pair_scores"),
            "metrics/faithfulness/redress",
        ),
        (1, "ee138676c4ae5d9e"),
    ),
    "semantic": (
        semantic.METHOD,
        (
            *SHARED,
            "models/encoders",
            "models/digits",
            "models/words",
            *("text/tokens", "text/tokens.txt", "text/boundaries", "text/boundaries.txt"),
            "judges/reading",
            *(f"judges/semantic/{name}" for name in SEMANTIC),
            *("text/vocabulary/__init__", "text/vocabulary/inflection"),
            "text/vocabulary/inflection.txt",
            *(f"text/vocabulary/{name}.txt" for name in VOCABULARY),
        ),
        (5, "efc58c4f761340be"),
    ),
}


def written(module: str) -> list[str]:
    """What a module's code says, or a list's lines."""
    if module.endswith(".txt"):
        return (ROOT / "metassay" / module).read_text(encoding="utf-8").splitlines()
    return code_words((ROOT / f"metassay/{module}.py").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", COMPUTING)
def test_code_that_computes_has_a_method_of_its_own(name: str) -> None:
    method, modules, known = COMPUTING[name]
    words = [word for module in modules for word in written(module)]
    assert (method, hash_of(words)) == known, (
        f"the code behind {name} says something else: if an output can differ, raise its METHOD, or"
        " the store gives what the old code computed; then write both here"
    )
