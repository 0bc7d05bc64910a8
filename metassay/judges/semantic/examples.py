"""Training examples: made of wice_train and aci_bench_train, and written for it.

WiCE's people marked the words of 374 claims that the evidence does not support. Claims about
invented notes were written with their labels (data/judges/README.md). All other labels are by rule,
and some are wrong: a sentence of a note is taken as supported by its dialogue.
"""

import csv
import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from metassay.judges.semantic.features import sentences
from metassay.text.edits.make import FLIPS, KEEPS, edits

Span = tuple[int, int]
WICE, ACI = "wice_train/non_supported_tokens_train.jsonl", ("train.csv", "valid.csv")
_MOST = 40  # words of a sentence
_LEAST = 4
_OF_NOTE, _EDITED = 8, 16  # sentences of a note
_SPOKEN = 3  # dialogues are long: one in so many visits is read
_EDITS = (*FLIPS, *(kind for kind in KEEPS if kind != "identity"))


class Example(NamedTuple):
    """A hypothesis and the sentences it is read against.

    `unsupported`: places of words without support; None where it is not known which they are.
    `group`: examples of one text, which are never on both sides of a cross-validation. `kind`: how
    it was made.
    """

    kind: str
    group: str
    hypothesis: str
    premise: tuple[str, ...]
    supported: bool
    unsupported: tuple[Span, ...] | None = None


def wice_claims(raw: Path, rng: random.Random) -> Iterator[Example]:
    """Claims with marked words, without these words, and where the evidence lacks the support."""
    for row in _wice(raw):
        group = row["meta"]["id"].split("-")[0]
        claim, evidence = row["claim"], row["evidence"]
        bad = _marked(row)
        support = sorted({i for one in row["supporting_sentences"] for i in one})
        kept = _without(claim, bad)
        for size in (8, 24):
            rest = [i for i in range(len(evidence)) if i not in support and evidence[i].strip()]
            near = [i for i in rest if any(abs(i - j) <= 4 for j in support)]
            chosen = set(near[: size // 2]) | set(rng.sample(rest, min(len(rest), size // 2)))
            chunk = tuple(evidence[i] for i in sorted(chosen | set(support)))
            lacking = tuple(evidence[i] for i in sorted(chosen))
            yield Example("claim", group, claim, chunk, False, bad)
            if len(kept.split()) >= _LEAST:
                yield Example("pruned", group, kept, chunk, True, ())
                if lacking:
                    yield Example("unsupported", group, kept, lacking, False)


def pages(raw: Path, rng: random.Random) -> Iterator[Example]:
    """Sentences of the evidence against what stands around them, which seldom says the same."""
    for identity, page in _pages(raw):
        for at in _spread(page, rng):
            for size in (8, 24):
                around = page[max(0, at - size) : at + size]
                rest = [line for line in around if line != page[at] and line.strip()]
                chosen = sorted(rng.sample(range(len(rest)), min(size, len(rest))))
                if len(chosen) >= 5:
                    premise = tuple(rest[i] for i in chosen)
                    yield Example("rest", identity.split("-")[0], page[at], premise, False)


def notes(raw: Path, rng: random.Random) -> Iterator[Example]:
    """Sentences of visit notes against their note and dialogue, as they are, edited, elsewhere."""
    read = _visits(raw)
    for number, (note, dialogue) in enumerate(read):
        group = f"visit{number}"
        fitting = [one for one in note if _LEAST <= len(one.split()) <= _MOST]
        for text in rng.sample(fitting, min(len(fitting), _EDITED)):
            yield from edited(group, text, note, rng)
        for text in rng.sample(fitting, min(len(fitting), _OF_NOTE)):
            other = read[(number + 1 + rng.randrange(len(read) - 1)) % len(read)][0]
            spoken = read[(number + _SPOKEN) % len(read)][1]
            yield Example("note", group, text, note, True, ())
            yield Example("note_elsewhere", group, text, other, False)
            if number % _SPOKEN == 0:
                yield Example("dialogue", group, text, dialogue, True)
                yield Example("dialogue_elsewhere", group, text, spoken, False)


def edited(
    group: str, text: str, premise: tuple[str, ...], rng: random.Random
) -> Iterator[Example]:
    """False and true edits of a note's sentence, by the training half of the vocabulary.

    Half of the false ones are turned round: the sentence as it is, read where the edited one
    stands. So no oddness of edited sentences tells what is false.
    """
    others = [one for one in premise if one != text]
    for edit in edits(text, _EDITS, rng.randrange(2**31), others, half="train"):
        if edit.entailed:
            yield Example("note_same", group, edit.text, premise, True, ())
        elif rng.random() < 0.5:
            spans = _changed(text, edit.text) or None
            yield Example(f"note_{edit.kind}", group, edit.text, premise, False, spans)
        else:
            turned = tuple(edit.text if one == text else one for one in premise)
            spans = _changed(edit.text, text) or None
            yield Example(f"note_{edit.kind}", group, text, turned, False, spans)


def written(pairs: Path) -> Iterator[Example]:
    """Claims that were written for training about invented notes and sentences, true and false."""
    bank: list[str] = []
    for line in pairs.read_text(encoding="utf-8").splitlines():
        note = json.loads(line)
        premise = tuple(sentences(note["note"]))
        if len(premise) == 1:  # a sentence by itself is read among the last ones
            bank = [*bank[-3:], *premise]
            premise = tuple(bank)
        for kind, label, claim in note["claims"]:
            true = label == "entailed"
            yield Example(f"written_{kind}", note["id"], claim, premise, true, () if true else None)


def examples(raw: Path, pairs: Path, seed: int) -> list[Example]:
    """All examples, the same for the same seed.

    `raw` has a folder of raw files per dataset, `pairs` is the file of written pairs.
    """
    makers = (wice_claims, pages, notes)
    made = [one for make in makers for one in make(raw, random.Random(seed))]
    return [*made, *written(pairs)]


def _visits(raw: Path) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Of each visit the sentences of its note, and its dialogue."""
    found: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    for name in ACI:
        with (raw / "aci_bench_train" / name).open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            found += [(tuple(sentences(row["note"])), (row["dialogue"],)) for row in rows]
    return found


def _pages(raw: Path) -> list[tuple[str, list[str]]]:
    """Each page of evidence once, and the name of the first claim that cites it."""
    known: dict[str, tuple[str, list[str]]] = {}
    for row in _wice(raw):
        known.setdefault("\n".join(row["evidence"]), (row["meta"]["id"], row["evidence"]))
    return list(known.values())


def _spread(page: Sequence[str], rng: random.Random) -> list[int]:
    """Places of two of a page's whole sentences."""
    fitting = [
        i
        for i, line in enumerate(page)
        if 8 <= len(line.split()) <= _MOST and line.strip()[-1:] in tuple('.!?"')
    ]
    return rng.sample(fitting, min(2, len(fitting)))


def _wice(raw: Path) -> list[dict[str, Any]]:
    with (raw / WICE).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _marked(row: dict[str, Any]) -> tuple[Span, ...]:
    """Where the tokens are that people found without support."""
    at, found = 0, []
    for token, bad in zip(row["claim_tokens"], row["non_supported_spans"], strict=True):
        start = row["claim"].index(token, at)
        at = start + len(token)
        if bad:
            found.append((start, at))
    return tuple(found)


def _without(claim: str, bad: Sequence[Span]) -> str:
    kept = "".join(letter for i, letter in enumerate(claim) if not any(s <= i < e for s, e in bad))
    return re.sub(r"\s+([.,])", r"\1", " ".join(kept.split())).strip(" ,")


def _changed(before: str, after: str) -> tuple[Span, ...]:
    """What of the sentence behind differs from the one before; () if something was taken away."""
    short = min(len(before), len(after))
    start = next((i for i in range(short) if before[i] != after[i]), short)
    end = 0
    while end < short - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return ((start, len(after) - end),) if start < len(after) - end else ()
