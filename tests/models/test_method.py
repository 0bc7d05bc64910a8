"""The store must not give what other code computed: whoever changes the code raises METHOD."""

from pathlib import Path

import pytest

from metassay.code_reading import hash_of, said
from metassay.generation import decoding
from metassay.judges.semantic import judge as semantic
from metassay.metrics import bertscore
from metassay.models import pair_scores

ROOT = Path(__file__).parents[2]
SHARED = ("models/batches", "models/loading")
SEMANTIC = ("judge", "reader", "texts", "tokens", "clashes", "drugs", "claims", "coefficients")

# What computes, its METHOD, and what its code said when that METHOD was given (not its comments).
COMPUTING = {
    "bertscore": (
        bertscore.METHOD,
        (*SHARED, "metrics/bertscore", "models/encoders", "models/matching"),
        (1, "7d552ecfb07f24e7"),
    ),
    "decoding": (
        decoding.METHOD,
        (*SHARED, "generation/decoding", "generation/causal", "generation/seq2seq"),
        (1, "5fe834d9db0c1189"),
    ),
    "nli": (
        pair_scores.METHOD,
        (*SHARED, "models/pair_inputs", "models/pair_scores"),
        (1, "f7886dccdab62c93"),
    ),
    "semantic": (
        semantic.METHOD,
        (
            *SHARED,
            "models/encoders",
            "models/words",
            "text/tokens",
            "text/boundaries",
            "judges/numerals",
            "judges/reading",
            *(f"judges/semantic/{name}" for name in SEMANTIC),
        ),
        (3, "375b6f1e91307ef0"),
    ),
}


@pytest.mark.parametrize("name", COMPUTING)
def test_code_that_computes_has_a_method_of_its_own(name: str) -> None:
    method, modules, known = COMPUTING[name]
    words = [
        word
        for module in modules
        for word in said((ROOT / f"metassay/{module}.py").read_text(encoding="utf-8"))
    ]
    assert (method, hash_of(words)) == known, (
        f"the code behind {name} says something else: if an output can differ, raise its METHOD, or"
        " the store gives what the old code computed; then write both here"
    )
