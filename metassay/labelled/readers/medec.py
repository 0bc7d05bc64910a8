"""MEDEC (Ben Abacha et al. 2024): errors that people put into clinical texts, and corrections.

A row is a text with one error or none. Premises are texts without error: a text with an error as it
was corrected. The sentence with the error does not follow from it. The corrected sentence does, and
so does a sentence that nobody changed; both stand in this premise word for word. Most cases are
there a second time, with an error in one text and none in the other, often in other words: what
does and does not follow from this other text is the only part that copies cannot answer.
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

CORRECTED, REWORDED = "corrected", "reworded"  # subsets, by what the premise is
UNCHANGED = "unchanged"  # the kind of sentences that nobody changed

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
    """One row: `error` is the number of the sentence with the error, None without one."""

    at: Place
    name: str
    sentences: list[str]
    error: int | None
    fields: dict[str, str]


def read(folder: Path) -> Items:
    """Read every CSV file: errors, corrections, and of each text one sentence that is unchanged.

    Subset `corrected`: the premise is the text itself, without its error. Subset `reworded`: it is
    the case's text without an error, where neither sentence is in it word for word. The kind of
    errors and their corrections is the error's type, so that a type's card holds one against the
    other. The unchanged sentence is the one whose key, hashed, comes first. A case is a cluster.
    """
    items = Items()
    for path in files(folder, "*.csv", items.problems, _AGAIN):
        records = csv_records(path, items.problems, required=_COLUMNS, remedy=_AGAIN)
        texts = [one for record in records if (one := _text(record, items)) is not None]
        items.items += [row for case in _cases(texts) for row in _items(case)]
    return items


def _text(record: Record, items: Items) -> _Text | None:
    """The row with its sentences; None, with a problem, if its columns contradict each other."""
    fields = {name: " ".join(value.split()) for name, value in record.fields.items()}
    sentences = _sentences(record.fields["Sentences"])
    number, wrong = fields["Error Sentence ID"], ""
    if fields["Error Flag"] not in ("0", "1"):
        wrong = "'Error Flag' is neither 0 nor 1"
    elif not sentences or not fields["Text"]:
        wrong = "has no text, or its sentences are not numbered from 0"
    elif fields["Error Flag"] == "1":
        if not all(fields[name] for name in _COLUMNS):
            wrong = "has an error, and not all that is to be known of it"
        elif number not in map(str, range(len(sentences))) or (
            sentences[int(number)] != fields["Error Sentence"]
        ):
            wrong = "the erroneous sentence is not the one that 'Error Sentence ID' names"
        elif fields["Error Sentence"] in fields["Corrected Text"]:
            wrong = "the erroneous sentence is in the corrected text"
        elif fields["Corrected Sentence"] not in fields["Corrected Text"]:
            wrong = "the corrected sentence is not in the corrected text"
    if wrong:
        items.problems.add(record.at, wrong, _AGAIN, f"Text ID {shown(fields['Text ID'])}")
        return None
    error = int(number) if fields["Error Flag"] == "1" else None
    return _Text(record.at, fields["Text ID"], sentences, error, fields)


def _sentences(numbered: str) -> list[str]:
    """The sentences of lines "0 ...", "1 ..."; a line without the next number goes on."""
    found: list[str] = []
    for line in numbered.split("\n"):
        number, _, rest = line.partition(" ")
        if number == str(len(found)):
            found.append(rest)
        elif found:
            found[-1] += f" {line}"
    return [" ".join(one.split()) for one in found]


def _cases(texts: list[_Text]) -> list[list[_Text]]:
    """Texts of one case: they follow each other, and share sentences."""
    cases: list[list[_Text]] = []
    for one in texts:
        before = set(cases[-1][-1].sentences) if cases else set()
        mine = set(one.sentences)
        if before and len(mine & before) >= _SAME_CASE * min(len(mine), len(before)):
            cases[-1].append(one)
        else:
            cases.append([one])
    return cases


def _items(case: list[_Text]) -> Iterator[ItemRow]:
    cluster = case[0].name
    for one in case:
        premise = one.fields["Text" if one.error is None else "Corrected Text"]
        if one.error is not None:
            yield from _of_error(one, premise, CORRECTED, cluster)
            said = [one.fields[f"{which} Sentence"] for which in ("Error", "Corrected")]
            for other in case:
                words = other.fields["Text"]
                if other.error is None and not any(one in words for one in said):
                    yield from _of_error(one, words, REWORDED, cluster)
        for place in sorted(_unchanged(one), key=lambda at: hash_of(one.name, at))[:1]:
            key, kept = f"{one.name}:{UNCHANGED}", one.sentences[place]
            yield ItemRow(one.at, key, [premise], kept, ENTAILED, CORRECTED, UNCHANGED, cluster)


def _of_error(one: _Text, premise: str, subset: str, cluster: str) -> Iterator[ItemRow]:
    kind = _CAPITAL.sub("_", one.fields["Error Type"]).lower()
    labels: tuple[tuple[str, Label], ...] = (("Error", NOT_ENTAILED), ("Corrected", ENTAILED))
    for which, label in labels:
        key, hypothesis = f"{one.name}:{subset}:{which.lower()}", one.fields[f"{which} Sentence"]
        yield ItemRow(one.at, key, [premise], hypothesis, label, subset, kind, cluster)


def _unchanged(one: _Text) -> Iterator[int]:
    """The sentences without the error that are whole: the data cut some at numbers and units."""
    for number, (before, sentence) in enumerate(pairwise(["Begins.", *one.sentences])):
        whole = _ENDS.search(before) and _ENDS.search(sentence)
        if number != one.error and whole and len(_WORD.findall(sentence)) >= _FEWEST_WORDS:
            yield number
