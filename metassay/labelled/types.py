"""The types of tests: what `test` in a benchmark's params.yaml may be, and which items it takes."""

import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, Field

from metassay.core.errors import BadInput, shown
from metassay.core.naming import name_problem
from metassay.core.options import Block, Name, Options, Seed, parse, without
from metassay.core.params import SEGMENTATION
from metassay.datasets.readers import ITEM_READERS, READERS, SENTENCE_READERS, reader_mismatch
from metassay.labelled.records import ENTAILED, NOT_ENTAILED, ItemRow, Items, Label, hash_of
from metassay.tables.names import REFERENCE
from metassay.tabular.rows import Place, Rows, TextRow
from metassay.text.edits.make import FLIPS, KINDS, edits
from metassay.text.sentences import sentences

HALVES = ("fitted", "held_out")
_FEWEST_WORDS = 3  # of a sentence: a heading or a name has nothing that can be edited
_WORD = re.compile(r"\w+")


class Sample(Options):
    """So many items of each subset, or texts, at most; the same ones with the same seed."""

    items: Annotated[int, Field(ge=1)]
    seed: Seed


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


_UNKNOWN = f"is not known; choose from {', '.join(KINDS)}"


class MinimalPairsOptions(Options):
    """Of which sentences, and how they are edited.

    `sentences`: so many of all references, at most; the same ones with the same `seed`, and fewer
    are some of more. `premise`: the original sentence, or the whole text that it is of. `kinds`:
    those of docs/benchmarks.md; an empty list stands for all.
    """

    sentences: Annotated[int, Field(ge=1)]
    seed: Seed
    premise: Literal["sentence", "text"]
    kinds: list[Annotated[str, without(lambda kind: None if kind in KINDS else _UNKNOWN)]]


def _labels(labels: dict[str, str]) -> dict[str, str]:
    for name in labels:
        if problem := name_problem(name):
            raise ValueError(f"{name}: {problem}")
    return labels


class SegmentTestOptions(Options):
    """Which texts a test of segmentations takes, and what their labels count as.

    `labels`: a gold label, and the facet that it counts as, such as `objective: background`, or
    `none`, for segmentations that know other facets than the data; all others stay what they are.
    `sample`: a sample of the texts; null takes every one.
    """

    labels: Annotated[dict[str, Name], AfterValidator(_labels)]
    sample: Sample | None


@dataclass(frozen=True, kw_only=True)
class JudgeTestKind:
    """One type of judge test: what `test` in a benchmark's params.yaml stands for.

    `options` checks the block `options` of that file. `reads` says which readers its dataset may
    have: `items` (those of `ITEM_READERS`), or `rows` (those of benchmarks, `READERS`).
    `make(read, options)` turns what the reader gave (`Items` or `Rows`) into the test's `Items`,
    with the same `problems` and `warnings` and what it adds to them.
    `ways` (options -> 2 or 3) says what judges are asked: entailed or not, or one of three labels.
    """

    options: type[Options]
    reads: Literal["items", "rows"]
    make: Callable[[Any, Any], Items]
    ways: Callable[[Any], int] = lambda _: 2


def half_of(cluster: str, seed: int) -> str:
    """The half that all items of a cluster are in: `fitted`, which choices may see, or `held_out`.

    It depends on the cluster's name and the seed alone, whatever else the data hold.
    """
    return HALVES[zlib.crc32(f"{seed} {cluster}".encode()) % 2]


def choose_items(read: Items, options: ClaimLabelsOptions) -> Items:
    """The items of the chosen subsets or halves (of all where none is named), sampled.

    Verdicts and people's labels of other items are left out with them. A subset that the data do
    not have is a problem. A sample takes the items whose key, hashed with the seed, comes first: it
    does not change with the order of the file, and a larger one holds the smaller.
    """
    rows, seed = read.items, getattr(options, "halves", None)
    if seed is not None:
        rows = [
            row._replace(subset=f"{row.subset}_{half_of(row.cluster or row.item, seed)}")
            for row in rows
        ]
    there = sorted({row.subset for row in rows})
    for name in options.subsets:
        if name not in there and not read.problems:
            known = f"there are: {', '.join(map(shown, there))}"
            at = Place("params.yaml > options > subsets")
            read.problems.add(at, "names a subset that the data do not have", known, shown(name))
    rows = [row for row in rows if not options.subsets or row.subset in options.subsets]
    if options.sample is not None:
        rows = _sampled(rows, options.sample)
    # What is about no item at all stays, to be told.
    out = {row.item for row in read.items} - {row.item for row in rows}
    return replace(
        read,
        items=rows,
        verdicts=[row for row in read.verdicts if row.item not in out],
        labels=[row for row in read.labels if row.item not in out],
    )


def _sampled(rows: Sequence[ItemRow], sample: Sample) -> list[ItemRow]:
    by_subset: dict[str, list[ItemRow]] = {}
    for row in sorted(rows, key=lambda row: hash_of(sample.seed, row.item)):
        by_subset.setdefault(row.subset, []).append(row)
    taken = {id(row) for some in by_subset.values() for row in some[: sample.items]}
    return [row for row in rows if id(row) in taken]


class _Sentence(NamedTuple):
    row: TextRow
    number: int  # within its document's references, from 0
    text: str
    others: tuple[str, ...]  # those of its text


def minimal_pairs(read: Rows, options: MinimalPairsOptions) -> Items:
    """The edits of a sample of the references' sentences, with what the reader found wrong.

    Sentences of one wording count once. One is drawn only if an edit that changes its truth fits
    it (any edit, if none of those is asked for), has three words and is no question. An item's
    cluster is its document, its subset says what the premise is, and its key is made of document,
    sentence and kind.
    """
    kinds = options.kinds or list(KINDS)
    needed = [kind for kind in kinds if kind in FLIPS] or kinds
    there = {
        one.text: one for one in reversed(list(_sentences(read))) if edits(one.text, needed, 0)
    }
    drawn = sorted(there.values(), key=lambda one: hash_of(options.seed, one.text))
    drawn = drawn[: options.sentences]
    if len(drawn) < options.sentences and not read.problems:
        at = Place("params.yaml > options > sentences")
        what = f"only {len(drawn):,} of {options.sentences:,} sentences are there"
        read.warnings.add(at, what, "all of them are used; ask for fewer, or for more kinds")
    items = [
        row
        for one in sorted(drawn, key=lambda one: (one.row.doc_id, one.number))
        for row in _edited(one, kinds, options)
    ]
    return Items(items, problems=read.problems, warnings=read.warnings)


def _sentences(read: Rows) -> Iterator[_Sentence]:
    counted: dict[str, int] = {}
    for row in read.texts:
        if row.author != REFERENCE or row.text is None:
            continue
        said = [row.text[start:end] for start, end in sentences(row.text)]
        for place, text in enumerate(said):
            number = counted.get(row.doc_id, 0)
            counted[row.doc_id] = number + 1
            if len(_WORD.findall(text)) >= _FEWEST_WORDS:
                yield _Sentence(row, number, text, tuple(said[:place] + said[place + 1 :]))


def _edited(one: _Sentence, kinds: list[str], options: MinimalPairsOptions) -> Iterator[ItemRow]:
    whole, row = options.premise == "text", one.row
    premise = row.text or "" if whole else one.text
    for edit in edits(one.text, kinds, options.seed, one.others if whole else ()):
        key, subset = f"{row.doc_id}:{one.number}:{edit.kind}", options.premise
        label: Label = ENTAILED if edit.entailed else NOT_ENTAILED
        yield ItemRow(row.at, key, [premise], edit.text, label, subset, edit.kind, row.doc_id)


TESTS: Mapping[str, JudgeTestKind] = {
    "claim_labels": JudgeTestKind(options=ClaimLabelsOptions, reads="items", make=choose_items),
    "minimal_pairs": JudgeTestKind(options=MinimalPairsOptions, reads="rows", make=minimal_pairs),
    "nli": JudgeTestKind(
        options=NliOptions, reads="items", make=choose_items, ways=lambda options: options.ways
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


def segment_options(block: Block, *, where: str) -> SegmentTestOptions:
    """The options of a test of segmentations; BadInput, led by `where`, if they are wrong."""
    return parse(SegmentTestOptions, block, where=f"{where} > options")


def reader_problem(test: str, reader: str) -> str | None:
    """What is wrong with a dataset's reader for a type of test; None if it suits, or is unknown."""
    right = [*SENTENCE_READERS, *READERS]
    if test != SEGMENTATION:
        right = list(ITEM_READERS if TESTS[test].reads == "items" else READERS)
    return reader_mismatch(reader, right, f"test {test!r}")
