"""MEDEC (Ben Abacha et al. 2024): errors that people put into clinical texts, and corrections.

A row is a text with one error or none. Premises are texts without error; a text with an error is
corrected first. The erroneous sentence does not follow from it. The corrected sentence does, and so
does an unchanged sentence; both are in the premise word for word. Most cases have a second text,
with an error in one of the two, often in other words: only items against this other text cannot be
answered by looking for copies.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from metassay.core.errors import shown
from metassay.labelled.records import ENTAILED, NOT_ENTAILED, ItemRow, Items, Label, files, hash_of
from metassay.tabular.decoding import Record, csv_records
from metassay.tabular.rows import Place

CORRECTED, REWORDED = "corrected", "reworded"  # subsets, by the premise
UNCHANGED = "unchanged"  # the kind of unchanged sentences

_TEXT = ("Text ID", "Text", "Sentences", "Error Flag")
_ERROR = ("Error Type", "Error Sentence ID", "Error Sentence", "Corrected Sentence")
_COLUMNS = (*_TEXT, *_ERROR, "Corrected Text")
_AGAIN = "fetch the file again"
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"\w+")
_ENDS = re.compile(r"[.?!][)\"”]?$")
_FEWEST_WORDS = 3
_SAME_CASE = 0.25  # of the shorter text's sentences; of other texts of the file few share a tenth


class _Text(NamedTuple):
    """A row: `error` is the number of the sentence with the error, None without error."""

    at: Place
    name: str
    sentences: list[str]
    error: int | None
    fields: dict[str, str]


def read(folder: Path) -> Items:
    """Read every CSV file: errors, corrections, and an unchanged sentence of each text.

    Subset `corrected`: the premise is the text itself, corrected. Subset `reworded`: the premise is
    the case's text without error, if neither sentence is in it word for word. The kind of errors
    and corrections is the error's type, so that a type's card compares the two. The unchanged
    sentence is that whose key, hashed, comes first. A case is a cluster.
    """
    items = Items()
    for path in files(folder, "*.csv", items.problems, _AGAIN):
        records = csv_records(path, items.problems, required=_COLUMNS, remedy=_AGAIN)
        texts = [text for record in records if (text := _text(record, items)) is not None]
        items.items += [row for case in _cases(texts) for row in _items(case)]
    return items


def _text(record: Record, items: Items) -> _Text | None:
    """Return the row with its sentences; None, with a problem, if its columns are inconsistent."""
    fields = {name: " ".join(value.split()) for name, value in record.fields.items()}
    sentences = _sentences(record.fields["Sentences"])
    number, problem = fields["Error Sentence ID"], ""
    if fields["Error Flag"] not in ("0", "1"):
        problem = "'Error Flag' is neither 0 nor 1"
    elif not sentences or not fields["Text"]:
        problem = "has no text, or its sentences are not numbered from 0"
    elif fields["Error Flag"] == "1":
        if not all(fields[name] for name in _COLUMNS):
            problem = "has an error, but some of its columns are empty"
        elif number not in map(str, range(len(sentences))) or (
            sentences[int(number)] != fields["Error Sentence"]
        ):
            problem = "the erroneous sentence is not the one that 'Error Sentence ID' names"
        elif fields["Error Sentence"] in fields["Corrected Text"]:
            problem = "the erroneous sentence is in the corrected text"
        elif fields["Corrected Sentence"] not in fields["Corrected Text"]:
            problem = "the corrected sentence is not in the corrected text"
    if problem:
        items.problems.add(record.at, problem, _AGAIN, f"Text ID {shown(fields['Text ID'])}")
        return None
    error = int(number) if fields["Error Flag"] == "1" else None
    return _Text(record.at, fields["Text ID"], sentences, error, fields)


def _sentences(numbered: str) -> list[str]:
    """Return the sentences of lines "0 ...", "1 ..."; other lines continue a sentence."""
    sentences: list[str] = []
    for line in numbered.split("\n"):
        number, _, rest = line.partition(" ")
        if number == str(len(sentences)):
            sentences.append(rest)
        elif sentences:
            sentences[-1] += f" {line}"
    return [" ".join(sentence.split()) for sentence in sentences]


def _cases(texts: list[_Text]) -> list[list[_Text]]:
    """Group the texts of a case: they follow each other, and share sentences."""
    cases: list[list[_Text]] = []
    for text in texts:
        previous = set(cases[-1][-1].sentences) if cases else set()
        sentences = set(text.sentences)
        if previous and len(sentences & previous) >= _SAME_CASE * min(
            len(sentences), len(previous)
        ):
            cases[-1].append(text)
        else:
            cases.append([text])
    return cases


def _items(case: list[_Text]) -> Iterator[ItemRow]:
    cluster = case[0].name
    for text in case:
        premise = text.fields["Text" if text.error is None else "Corrected Text"]
        if text.error is not None:
            yield from _of_error(text, premise, CORRECTED, cluster)
            of_error = [text.fields[f"{which} Sentence"] for which in ("Error", "Corrected")]
            for other in case:
                reworded = other.fields["Text"]
                if other.error is None and not any(s in reworded for s in of_error):
                    yield from _of_error(text, reworded, REWORDED, cluster)
        for place in sorted(_unchanged(text), key=lambda at: hash_of(text.name, at))[:1]:
            key, sentence = f"{text.name}:{UNCHANGED}", text.sentences[place]
            kind = (CORRECTED, UNCHANGED, cluster)
            yield ItemRow(text.at, key, [premise], sentence, ENTAILED, *kind)


def _of_error(text: _Text, premise: str, subset: str, cluster: str) -> Iterator[ItemRow]:
    kind = _CAPITAL.sub("_", text.fields["Error Type"]).lower()
    labels: tuple[tuple[str, Label], ...] = (("Error", NOT_ENTAILED), ("Corrected", ENTAILED))
    for which, label in labels:
        key, hypothesis = f"{text.name}:{subset}:{which.lower()}", text.fields[f"{which} Sentence"]
        yield ItemRow(text.at, key, [premise], hypothesis, label, subset, kind, cluster)


def _unchanged(text: _Text) -> Iterator[int]:
    """Return the numbers of correct whole sentences: the data cut some at numbers and units."""
    for number, (before, sentence) in enumerate(pairwise(["Begins.", *text.sentences])):
        whole = _ENDS.search(before) and _ENDS.search(sentence)
        if number != text.error and whole and len(_WORD.findall(sentence)) >= _FEWEST_WORDS:
            yield number
