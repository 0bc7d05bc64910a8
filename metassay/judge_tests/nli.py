"""Natural language inference: premises, a hypothesis and a gold label, in two or three labels."""

from typing import Literal

from metassay.judge_tests.items import Items
from metassay.judge_tests.record import JudgeTestKind, Sample
from metassay.judge_tests.select import chosen, in_halves
from metassay.options import Options, Seed


class NliOptions(Options):
    """What judges are asked, and about which items.

    `ways`: 2 asks whether the hypothesis is entailed; 3 asks for entailed, neutral or contradicted,
    of which the numbers in two labels are made as well. `halves`: a seed, by which each test set
    becomes two, `dev_fitted` and `dev_held_out`, with all items of a cluster in one of them; null
    leaves them whole. `subsets`: the test sets to use, all of them where it is empty. `sample`: a
    sample of each subset; null takes every item.
    """

    ways: Literal[2, 3]
    halves: Seed | None = None
    subsets: list[str]
    sample: Sample | None


def make(read: Items, options: NliOptions) -> Items:
    """The items of the subsets, or halves of them, that are asked for, or a sample."""
    if options.halves is not None:
        read = in_halves(read, options.halves)
    return chosen(read, options.subsets, options.sample)


KIND = JudgeTestKind(
    options=NliOptions, reads="items", make=make, ways=lambda options: options.ways
)
