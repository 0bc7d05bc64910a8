"""The types of judge tests: what `test` in a benchmark's params.yaml may be.

Each is the record `KIND` of its module. They are imported here, unlike kinds that a named block of
params.yaml asks for, so that one version of the code stands for them all.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from metassay.datasets.readers import ITEM_READERS, READERS, unsuited
from metassay.errors import BadInput
from metassay.judge_tests import claim_labels, minimal_pairs, nli
from metassay.judge_tests.record import JudgeTestKind
from metassay.options import Block, parse
from metassay.params import SEGMENTATION

TESTS: Mapping[str, JudgeTestKind] = {
    "claim_labels": claim_labels.KIND,
    "minimal_pairs": minimal_pairs.KIND,
    "nli": nli.KIND,
}


class Test(NamedTuple):
    """A type of test, and the options that it was given."""

    kind: JudgeTestKind
    options: Any


def chosen_test(name: str, options: Block, *, where: str) -> Test:
    """The type of that name with checked options; BadInput, led by `where`, if either is wrong."""
    kind = TESTS.get(name)
    if kind is None:
        raise BadInput(
            f"{where} > test: {name!r} is not known; choose from {[*sorted(TESTS), SEGMENTATION]}"
        )
    return Test(kind, parse(kind.options, options, where=f"{where} > options"))


def reader_problem(test: str, reader: str) -> str | None:
    """What is wrong with a dataset's reader for a type of test; None if it suits, or is unknown."""
    right = ITEM_READERS if TESTS[test].reads == "items" else READERS
    return unsuited(reader, right, f"test {test!r}")
