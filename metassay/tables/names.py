"""Values of keys that have a meaning of their own, and what metrics are called."""

from collections.abc import Iterable, Sequence
from typing import Literal

NO_JUDGE = "none"  # scores.judge where no judge had a part in the number
FULL = "full"  # the part that is the whole text
REFERENCE = "reference"  # the author who is the reference writer
ALL_CITATIONS = -1  # pairs.citation where the question is not about one citation alone
EACH_PART = "each"  # correlations.part where the parts are groups
ITEM = "item"  # pairs.author and ratings.author in a test of judges: nobody in particular
VERDICT = "verdict"  # pairs.measure there, and the metric of its judges' cards
# What a value is multiplied by, so that more is better; without a sign where neither is.
SIGNS = {"higher": 1.0, "lower": -1.0}
# Of several test sets taken together, as items of one, and the plain mean of the sets' numbers.
ALL_SUBSETS, MEAN_OF_SUBSETS = "all subsets", "mean of subsets"


# Part of a study whose texts are single statements, each read against what it is aligned with.
STATEMENT = "statement"
# In the name of a metric, before what it reads where a benchmark has several alignments:
# `faithfulness@rouge_gain`; and `@text` of one that reads all statements of a text at once.
READS = "@"


def base_metric(metric: str) -> str:
    """The name under which docs/metrics.md has a metric, whichever alignment it reads."""
    return metric.partition(READS)[0]


def suffix_of(metric: str) -> str:
    """What says which alignment a metric reads; empty where there is one only."""
    return metric.removeprefix(base_metric(metric))


def aligned_suffixes(
    wanted: Sequence[str] | Literal["all"], alignments: Sequence[str]
) -> dict[str, str]:
    """The alignments of a benchmark that are read, each with what it adds to names of metrics.

    `wanted` empty: the first. Names that the benchmark has not are left out. One alignment adds
    nothing.
    """
    names = alignments if wanted == "all" else wanted or alignments[:1]
    mark = READS if len(alignments) > 1 else ""
    return {name: f"{mark}{name}" if mark else "" for name in names if name in alignments}


def reference_number(author: str) -> int:
    """1 for `reference`, N for a further one, `reference:N`; 0 for who is none."""
    name, mark, number = author.partition(":")
    if name != REFERENCE or (mark and not (number.isascii() and number.isdigit())):
        return 0
    return int(number) if mark else 1


def is_reference(author: str) -> bool:
    """Whether an author is the reference writer, or a further one, `reference:2` and so on.

    Further ones are there for rubrics alone: nothing else measures them or compares with them.
    """
    return reference_number(author) > 0


def metric_label(metric: str, judge: str) -> str:
    """What tables, pages and messages call a metric: its judge in brackets, if it has one."""
    return metric if judge == NO_JUDGE else f"{metric} ({judge})"


def sorted_authors(authors: Iterable[str]) -> list[str]:
    """Sort authors without repeats, the reference first."""
    return sorted(set(authors), key=lambda author: (author != REFERENCE, author))
