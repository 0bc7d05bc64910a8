"""The types of tests: the values of `test` in a benchmark's params.yaml, and their items."""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, Field

from metassay.core.errors import BadInput, shown
from metassay.core.naming import name_problem
from metassay.core.options import Block, Name, Options, Seed, parse, refuse
from metassay.core.params import ATTACKS, SEGMENTATION
from metassay.datasets.readers import (
    EVERY_READER,
    ITEM_READERS,
    READERS,
    SENTENCE_READERS,
)
from metassay.labelled.attacks import AttackOptions, attack_items
from metassay.labelled.records import (
    ENTAILED,
    NOT_ENTAILED,
    ItemRow,
    Items,
    Label,
    hash_of,
)
from metassay.labelled.reference_sentences import (
    ReferenceSentence,
    reference_sentences,
)
from metassay.tabular.rows import Place, Rows
from metassay.text.edits.make import FLIPS, KINDS, edits

HALVES = ("fitted", "held_out")


class Sample(Options):
    """The largest number of items of each subset, or of texts; the seed decides which."""

    items: Annotated[int, Field(ge=1)]
    seed: Seed


class ClaimLabelsOptions(Options):
    """Claims that people labelled: those of `subsets` (empty: all), and a `sample` (null: all)."""

    subsets: list[str]
    sample: Sample | None


class NliOptions(ClaimLabelsOptions):
    """Natural language inference: premises, a hypothesis and a label.

    `ways`: 2 asks whether the hypothesis is entailed; 3 asks for entailed, neutral or
    contradicted, and is scored in two labels, too. `halves`: a seed by which each test
    set is split into `dev_fitted` and `dev_held_out`, each cluster in one of them; null
    does not split.
    """

    ways: Literal[2, 3]
    halves: Seed | None = None


_UNKNOWN = f"is not known; choose from {', '.join(KINDS)}"


class MinimalPairsOptions(Options):
    """The sentences of minimal pairs, and their edits.

    `sentences`: the largest number, of all references; `seed` decides which, and a
    smaller sample is part of a larger. `premise`: the original sentence, or its whole
    text. `kinds`: those of docs/benchmarks.md; an empty list means all.
    """

    sentences: Annotated[int, Field(ge=1)]
    seed: Seed
    premise: Literal["sentence", "text"]
    kinds: list[
        Annotated[str, refuse(lambda kind: None if kind in KINDS else _UNKNOWN)]
    ]


def _labels(labels: dict[str, str]) -> dict[str, str]:
    for name in labels:
        if problem := name_problem(name):
            raise ValueError(f"{name}: {problem}")
    return labels


class SegmentTestOptions(Options):
    """The texts of a test of segmentations, and the facets of their labels.

    `labels`: the facet, or `none`, that a gold label counts as, such as `objective:
    background`, for segmentations with other facets than the data; other labels stay as
    they are. `sample`: a sample of the texts; null takes all.
    """

    labels: Annotated[dict[str, Name], AfterValidator(_labels)]
    sample: Sample | None


@dataclass(frozen=True, kw_only=True)
class JudgeTestKind:
    """A type of judge test: a value of `test` in a benchmark's params.yaml.

    `options` checks the block `options` of that file. `reads`: the readers that its
    dataset may have, `items` (those of `ITEM_READERS`) or `rows` (those of benchmarks,
    `READERS`). `make(read, options)` turns the reader's `Items` or `Rows` into the
    test's `Items`, with the same `problems` and `warnings` and its additions to them.
    """

    options: type[Options]
    reads: Literal["items", "rows"]
    make: Callable[[Any, Any], Items]


def half_of(cluster: str, seed: int) -> str:
    """Return the half of a cluster: `fitted`, which choices may see, or `held_out`.

    It depends on the cluster's name and the seed only.
    """
    return HALVES[zlib.crc32(f"{seed} {cluster}".encode()) % 2]


def choose_items(read: Items, options: ClaimLabelsOptions) -> Items:
    """Select the items of the subsets or halves (all if none is named), and sample them.

    Verdicts and people's labels of other items are left out. A subset that is not in
    the data is a problem. A sample takes the items whose key, hashed with the seed,
    comes first: it does not depend on the order of the file, and a smaller sample is
    part of a larger.
    """
    rows, seed = read.items, getattr(options, "halves", None)
    if seed is not None:
        rows = [
            row._replace(
                subset=f"{row.subset}_{half_of(row.cluster or row.item, seed)}"
            )
            for row in rows
        ]
    names = sorted({row.subset for row in rows})
    for name in options.subsets:
        if name not in names and not read.problems:
            remedy = f"there are: {', '.join(map(shown, names))}"
            at = Place("params.yaml > options > subsets")
            read.problems.add(
                at, "names a subset that is not in the data", remedy, shown(name)
            )
    rows = [row for row in rows if not options.subsets or row.subset in options.subsets]
    if options.sample is not None:
        rows = _draw_sample(rows, options.sample)
    # Verdicts and labels of unknown items stay: they are reported.
    out = {row.item for row in read.items} - {row.item for row in rows}
    return replace(
        read,
        items=rows,
        verdicts=[row for row in read.verdicts if row.item not in out],
        labels=[row for row in read.labels if row.item not in out],
    )


def _draw_sample(rows: Sequence[ItemRow], sample: Sample) -> list[ItemRow]:
    by_subset: dict[str, list[ItemRow]] = {}
    for row in sorted(rows, key=lambda row: hash_of(sample.seed, row.item)):
        by_subset.setdefault(row.subset, []).append(row)
    sampled = {
        id(row)
        for subset_rows in by_subset.values()
        for row in subset_rows[: sample.items]
    }
    return [row for row in rows if id(row) in sampled]


def minimal_pairs(read: Rows, options: MinimalPairsOptions) -> Items:
    """Edit a sample of the references' sentences; keeps the reader's problems.

    Equal sentences count once. A sentence must have three words, not be a question, and
    allow an edit that changes its truth (any edit, if `kinds` has none of those). An
    item's cluster is its document, its subset is the type of premise, and its key is of
    document, sentence and kind.
    """
    kinds = options.kinds or list(KINDS)
    needed = [kind for kind in kinds if kind in FLIPS] or kinds
    by_text = {
        s.text: s
        for s in reversed(list(reference_sentences(read)))
        if edits(s.text, needed, 0)
    }
    sample = sorted(by_text.values(), key=lambda s: hash_of(options.seed, s.text))
    sample = sample[: options.sentences]
    if len(sample) < options.sentences and not read.problems:
        at = Place("params.yaml > options > sentences")
        what = f"only {len(sample):,} of {options.sentences:,} sentences are there"
        read.warnings.add(
            at, what, "all of them are used; ask for fewer, or for more kinds"
        )
    items = [
        row
        for sentence in sorted(sample, key=lambda s: (s.row.doc_id, s.number))
        for row in _edited(sentence, kinds, options)
    ]
    return Items(items, problems=read.problems, warnings=read.warnings)


def _edited(
    sentence: ReferenceSentence, kinds: list[str], options: MinimalPairsOptions
) -> Iterator[ItemRow]:
    in_text, row = options.premise == "text", sentence.row
    premise = row.text or "" if in_text else sentence.text
    for edit in edits(
        sentence.text, kinds, options.seed, sentence.others if in_text else ()
    ):
        key, subset = f"{row.doc_id}:{sentence.number}:{edit.kind}", options.premise
        label: Label = ENTAILED if edit.entailed else NOT_ENTAILED
        yield ItemRow(
            row.at, key, [premise], edit.text, label, subset, edit.kind, row.doc_id
        )


TESTS: Mapping[str, JudgeTestKind] = {
    ATTACKS: JudgeTestKind(options=AttackOptions, reads="rows", make=attack_items),
    "claim_labels": JudgeTestKind(
        options=ClaimLabelsOptions, reads="items", make=choose_items
    ),
    "minimal_pairs": JudgeTestKind(
        options=MinimalPairsOptions, reads="rows", make=minimal_pairs
    ),
    "nli": JudgeTestKind(options=NliOptions, reads="items", make=choose_items),
}


class Test(NamedTuple):
    """A type of test, and its options."""

    kind: JudgeTestKind
    options: Any


def chosen_test(name: str, options: Block, *, where: str) -> Test:
    """Return the named type with checked options; BadInput, led by `where`, if either is wrong."""
    kind = TESTS.get(name)
    if kind is None:
        raise BadInput(
            f"{where} > test: {name!r} is not known; choose from {[*sorted(TESTS), SEGMENTATION]}"
        )
    return Test(kind, parse(kind.options, options, where=f"{where} > options"))


def segment_options(block: Block, *, where: str) -> SegmentTestOptions:
    """Parse the options of a test of segmentations; BadInput, led by `where`, if wrong."""
    return parse(SegmentTestOptions, block, where=f"{where} > options")


def reader_problem(test: str, reader: str) -> str | None:
    """Return why a dataset's reader does not suit a test; None if it suits or is unknown."""
    right = [*SENTENCE_READERS, *READERS]
    if test != SEGMENTATION:
        right = list(ITEM_READERS if TESTS[test].reads == "items" else READERS)
    if reader in right or reader not in EVERY_READER:
        return None
    return f"reader {reader!r} does not suit test {test!r}; it takes one of {', '.join(right)}"
