"""Examples for few-shot prompts: named `dataset/split/id`, read from their raw files when needed.

No example's text is kept in a prompt or in the code. Datasets with a format of their own are in
`SETS`; any other name is a folder `<dataset>/<split>` of anybody's own data (sources.jsonl and
texts.jsonl), whose references are the examples: so examples that may not leave a site stay there.
"""

import contextlib
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from metassay.core.errors import BadInput, raise_problems, shown
from metassay.datasets import own_data
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import csv_records
from metassay.tabular.rows import Findings
from metassay.text.boundaries import boundaries
from metassay.text.citations import parse
from metassay.text.sentences import sentences
from metassay.units.alignment.rouge import mean_rouge

_FETCH = "fetch the dataset"
_TURN = re.compile(r"^\[([a-z_]+)\]", re.MULTILINE)
_LAST_MARK = re.compile(r"[.?!]+[)\"'*_]*$")


class Example(NamedTuple):
    """A source and the text that a person wrote from it; speakers is as long as passages."""

    name: str
    task: str
    passages: Sequence[str]
    speakers: Sequence[str]
    text: str


def read_examples(names: Sequence[str], raw: Path) -> list[Example]:
    """The examples of these names, in order, from a folder per dataset; BadInput lists faults."""
    problems = [f"example {n!r} is named twice; once is enough" for n in _repeated(names)]
    found: dict[str, Mapping[str, Example]] = {}
    for name in names:
        dataset, split, doc_id = [*name.split("/", 2), "", ""][:3]
        if not (dataset and split and doc_id) or ".." in (dataset, split):
            problems.append(f"example {shown(name)}: write dataset/split/id")
            continue
        place = f"{dataset}/{split}"
        if place not in found:
            try:
                found[place] = {e.name: e for e in SETS.get(dataset, _own)(raw, dataset, split)}
            except BadInput as error:
                problems += error.problems
                found[place] = {}
                continue
        if found[place] and name not in found[place]:
            problems.append(f"example {shown(name)}: {place} has no id {shown(doc_id)}; correct it")
    raise_problems(problems)
    return [found["/".join(name.split("/", 2)[:2])][name] for name in names]


def with_citations(example: Example) -> Example:
    """The example, its sentences followed by the passage most like each, if it cites nothing.

    Most like is by the mean F1 of ROUGE-1, -2 and -L, the first of equals; a sentence that shares
    no word with any passage stays uncited. Some citations are wrong: people cited nothing there.
    """
    spans = sentences(example.text)
    said = [example.text[start:end] for start, end in spans]
    if not said or not example.passages or any(parse(sentence).citations for sentence in said):
        return example
    values = mean_rouge(example.passages, said)
    text, done = "", 0
    for (start, end), sentence, row in zip(spans, said, values, strict=True):
        best = int(row.argmax())
        mark = _LAST_MARK.search(sentence)
        at = start + (mark.start() if mark else len(sentence))
        cited = f" [{best}]" if row[best] > 0 else ""
        text += example.text[done:at] + cited + example.text[at:end]
        done = end
    return example._replace(text=text + example.text[done:])


def _repeated(names: Iterable[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _aci_bench_train(raw: Path, dataset: str, split: str) -> list[Example]:
    """ACI-BENCH's training and validation notes (Yim et al. 2023), by encounter_id."""
    path = raw / dataset / f"{_split(dataset, split, ('train', 'valid'))}.csv"
    problems = Findings()
    required = ("encounter_id", "dialogue", "note")
    records = csv_records(path, problems, required=required, remedy=_FETCH)
    raise_problems(problems.lines())
    examples = []
    for record in records:
        fields = record.fields
        _, *turns = _TURN.split(fields["dialogue"])
        speakers, passages = turns[0::2], [turn.strip() for turn in turns[1::2]]
        name = f"{dataset}/{split}/{fields['encounter_id']}"
        examples.append(Example(name, "note", passages, speakers, fields["note"].strip()))
    return examples


def _meqsum(raw: Path, dataset: str, split: str) -> list[Example]:
    """MeQSum's questions (Ben Abacha and Demner-Fushman 2019), all of them `train`, by File."""
    _split(dataset, split, ("train",))
    path = raw / dataset / "MeQSum_ACL2019_BenAbacha_Demner-Fushman.xlsx"
    if not path.exists():
        raise BadInput(f"{path.name}: is not in {path.parent}; {_FETCH}")
    # Here, because few systems are shown questions, and it takes a while to import.
    import openpyxl

    with contextlib.closing(openpyxl.load_workbook(path, read_only=True, data_only=True)) as book:
        header, *rows = book.worksheets[0].iter_rows(max_col=3, values_only=True)
    if header != ("File", "CHQ", "Summary"):
        raise BadInput(f"{path.name}: line 1 must name the columns File, CHQ, Summary; {_FETCH}")
    examples = []
    for doc_id, question, summary in rows:
        passages = _sentences_of(str(question))
        speakers = [""] * len(passages)
        name = f"{dataset}/{split}/{doc_id}"
        examples.append(Example(name, "question", passages, speakers, str(summary).strip()))
    return examples


def _own(raw: Path, dataset: str, split: str) -> list[Example]:
    """Anybody's own data, as in docs/own-data.md."""
    rows, place = own_data.read(raw / dataset / split), f"{dataset}/{split}"
    raise_problems(f"example set {place}: {line}" for line in rows.problems.lines())
    written = [
        (row.doc_id, row.text)
        for row in rows.texts
        if row.author == REFERENCE and row.part == FULL and row.text is not None
    ]
    twice = _repeated(row.doc_id for row in rows.sources)
    twice += _repeated(doc_id for doc_id, _ in written)
    fix = "keep one source and one reference of it"
    raise_problems(
        f"example set {place}: doc_id {shown(doc_id)} is there twice; {fix}"
        for doc_id in sorted(set(twice))
    )
    texts = dict(written)
    return [
        Example(f"{place}/{row.doc_id}", row.task, row.passages, row.speaker, texts[row.doc_id])
        for row in rows.sources
        if row.doc_id in texts
    ]


def _split(dataset: str, split: str, known: tuple[str, ...]) -> str:
    if split not in known:
        raise BadInput(f"example set {dataset!r} has no split {shown(split)}; it has {known}")
    return split


def _sentences_of(text: str) -> list[str]:
    found: list[str] = []
    for line in text.splitlines():
        ends = [0, *boundaries(line), len(line)]
        found += [line[a:b].strip() for a, b in itertools.pairwise(ends)]
    return [*filter(None, found)]


SETS: Mapping[str, Callable[[Path, str, str], list[Example]]] = {
    "aci_bench_train": _aci_bench_train,
    "meqsum": _meqsum,
}
