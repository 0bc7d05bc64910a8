"""The types of judge tests: what `test` in a benchmark's params.yaml may be."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from metassay.core.errors import BadInput
from metassay.core.options import Block, Options, Seed, parse
from metassay.core.params import SEGMENTATION
from metassay.datasets.readers import ITEM_READERS, READERS, unsuited
from metassay.labelled.judges import minimal_pairs
from metassay.labelled.judges.items import Items
from metassay.labelled.judges.record import JudgeTestKind, Sample, chosen, in_halves


class ClaimLabelsOptions(Options):
    """Claims that people labelled: those of `subsets` (all if empty), and a `sample` of each.

    A null sample takes every claim.
    """

    subsets: list[str]
    sample: Sample | None


class NliOptions(ClaimLabelsOptions):
    """Natural language inference: premises, a hypothesis and a label, and what judges are asked.

    `ways`: 2 asks whether the hypothesis is entailed; 3 asks for entailed, neutral or contradicted,
    of which the numbers in two labels are made as well. `halves`: a seed, by which each test set
    becomes two, `dev_fitted` and `dev_held_out`, with all items of a cluster in one of them; null
    leaves them whole.
    """

    ways: Literal[2, 3]
    halves: Seed | None = None


def _of_claims(read: Items, options: ClaimLabelsOptions) -> Items:
    return chosen(read, options.subsets, options.sample)


def _of_nli(read: Items, options: NliOptions) -> Items:
    read = read if options.halves is None else in_halves(read, options.halves)
    return chosen(read, options.subsets, options.sample)


TESTS: Mapping[str, JudgeTestKind] = {
    "claim_labels": JudgeTestKind(
        options=ClaimLabelsOptions, reads="items", make=_of_claims, ways=lambda _options: 2
    ),
    "minimal_pairs": minimal_pairs.KIND,
    "nli": JudgeTestKind(
        options=NliOptions, reads="items", make=_of_nli, ways=lambda options: options.ways
    ),
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
