"""The store must not give what other code computed: whoever changes the code raises METHOD."""

from pathlib import Path

import pytest

from metassay.generation import decoding
from metassay.judges.semantic import judge as semantic
from metassay.metrics import bertscore, med_bertscore
from metassay.metrics.faithfulness import ctc_consistency, factscore_support, redress
from metassay.models import likelihood, pair_scores
from metassay.units.alignment import vectors as alignment
from tests.support.code_words import code_words, hash_of

ROOT = Path(__file__).parents[2]
SHARED = "models/batches models/loading "
VECTORS = SHARED + "models/encoders models/digits models/"
PAIRS = SHARED + "models/rows models/pair_inputs "
WORDS = "text/tokens text/tokens.txt "
SEMANTIC = "judges/reading " + " ".join(
    f"judges/semantic/{name}"
    for name in ("judge", "features", "clashes", "coefficients")
)
VOCABULARY = " text/vocabulary/__init__ text/vocabulary/inflection " + " ".join(
    f"text/vocabulary/{name}.txt"
    for name in ("inflection", "drugs", "anatomy", "diagnoses", "opposites", "synonyms")
)

# What computes, its METHOD, and its code when that METHOD was assigned (not its
# comments).
COMPUTING = {
    "alignment": (
        alignment.METHOD,
        f"{VECTORS}words {WORDS}units/alignment/vectors units/alignment/rouge",
        (1, "c1ed1eb385cb1a2d"),
    ),
    "bertscore": (
        bertscore.METHOD,
        f"{VECTORS}matching metrics/bertscore",
        (3, "57e528e8ba9eb557"),
    ),
    "ctc": (
        ctc_consistency.METHOD,
        PAIRS + "metrics/faithfulness/ctc_consistency",
        (1, "7a01bd757ea1e98c"),
    ),
    "decoding": (
        decoding.METHOD,
        SHARED + "generation/decoding",
        (1, "c10724cf9aaa6540"),
    ),
    "factscore": (
        factscore_support.METHOD,
        PAIRS + "metrics/faithfulness/factscore_support",
        (1, "f60dddd17e3b3c29"),
    ),
    "likelihood": (
        likelihood.METHOD,
        PAIRS + "models/likelihood",
        (2, "a91314e9b94ee28a"),
    ),
    "med_bertscore": (
        med_bertscore.METHOD,
        f"{VECTORS}matching metrics/med_bertscore concepts/linkers concepts/terms"
        " concepts/terms.txt",
        (2, "c87c5e69c1b138f5"),
    ),
    "nli": (pair_scores.METHOD, PAIRS + "models/pair_scores", (1, "89a799ede283dd3e")),
    "redress": (
        redress.METHOD,
        PAIRS + "models/pair_scores metrics/faithfulness/redress",
        (1, "443fff62ee161be0"),
    ),
    "semantic": (
        semantic.METHOD,
        f"{VECTORS}words {WORDS}text/boundaries text/boundaries.txt {SEMANTIC}{VOCABULARY}",
        (5, "7396a3085e54edbe"),
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
    words = [word for module in modules.split() for word in written(module)]
    assert (method, hash_of(words)) == known, (
        f"the code behind {name} says something else: if an output can differ, raise its METHOD, or"
        " the store gives what the old code computed; then write both here"
    )
