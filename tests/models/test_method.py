"""The store must not give what other code computed: whoever changes the code raises METHOD."""

from pathlib import Path

import pytest

from metassay.code_reading import hash_of, said
from metassay.generation import decoding
from metassay.metrics import bertscore

ROOT = Path(__file__).parents[2]
SHARED = ("models/batches", "models/loading")

# What computes, its METHOD, and what its code said when that METHOD was given (not its comments).
COMPUTING = {
    "bertscore": (
        bertscore.METHOD,
        (*SHARED, "metrics/bertscore", "models/encoders", "models/matching"),
        (1, "04a5cae9ac93ebac"),
    ),
    "decoding": (
        decoding.METHOD,
        (*SHARED, "generation/decoding", "generation/causal", "generation/seq2seq"),
        (1, "da7e4f89b59f0b6f"),
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
