"""Premises, hypotheses and labels: SNLI, ANLI, LLM-AggreFact, WiCE, XSum, MEDEC, claims of users.

docs/benchmarks.md describes the files of a user's claims with a worked example.
"""

import os
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from metassay.core.errors import BadInput, shown
from metassay.core.options import Options
from metassay.datasets.own_data import Clean, Filled, Key, Line, validate_all
from metassay.datasets.scored_texts import read_xsum_hallucination as read_rows
from metassay.labelled.records import (
    CONTRADICTED,
    ENTAILED,
    NEUTRAL,
    NOT_ENTAILED,
    ItemRow,
    Items,
    Label,
    LabelRow,
    VerdictRow,
    files,
    hash_of,
    parsed_lines,
)
from metassay.tables.names import FULL
from metassay.tables.parquet_file import load
from metassay.tabular.decoding import (
    UNREAD,
    Record,
    csv_records,
    finite_number,
    json_lines,
    load_json,
    warn_unread,
)
from metassay.tabular.rows import Findings, Place, RatingRow, ScoreRow, TextRow

VERSION = 1  # raised by whoever changes results of this module's kinds

SEE = "docs/benchmarks.md shows how it is written"
UNDECIDED = "-"
LABELS: Mapping[str, Label] = {
    # as the Hugging Face copies number them
    "entailment": ENTAILED,
    "neutral": NEUTRAL,
    "contradiction": CONTRADICTED,
    "e": ENTAILED,
    "n": NEUTRAL,
    "c": CONTRADICTED,
    "0": ENTAILED,
    "1": NEUTRAL,
    "2": CONTRADICTED,
}
_NEEDED = ("dataset", "doc", "claim", "label")
_FORMATS = (".jsonl", ".csv", ".parquet")


class _Line(Options):
    """A line; unknown keys are ignored."""

    model_config = ConfigDict(extra="ignore")


class _Snli(_Line):
    sentence1: Filled  # the premise
    sentence2: Filled
    gold_label: str
    pairID: Key | None = None  # noqa: N815 - the data's own name


class _Anli(_Line):
    context: Filled | None = None
    premise: Filled | None = None
    hypothesis: Filled
    label: str | int
    uid: Key | None = None

    @model_validator(mode="after")
    def _has_one_premise(self) -> Self:
        if (self.context is None) == (self.premise is None):
            what = "must have exactly one of 'context' and 'premise'; write one"
            raise PydanticCustomError("premise", what)
        return self


def _number(value: object) -> object:
    return int(value) if value in ("0", "1") else value  # a CSV file has text alone


class _Claim(_Line):
    dataset: Key
    doc: Filled
    claim: Filled
    label: Annotated[Literal[0, 1], BeforeValidator(_number)]


def read_snli(folder: Path) -> Items:
    """SNLI-style JSON Lines: SNLI (Bowman et al. 2015), MultiNLI, MedNLI (Romanov, Shivade 2018).

    Each file is a subset under its own name. An item's key is its subset with its
    pairID, or its line. `gold_label` is entailment, neutral or contradiction; `-`,
    where the annotators did not agree, is no gold label.
    """
    items = Items()
    for subset, at, line in _subsets(folder, _Snli, items):
        label = (
            None if line.gold_label == UNDECIDED else _label(line.gold_label, at, items)
        )
        key = f"{subset}:{line.pairID or at.row}"
        items.items.append(
            _item(at, key, line.sentence1, line.sentence2, label, subset)
        )
    return items


def read_anli(folder: Path) -> Items:
    """ANLI (Nie et al. 2020): JSON Lines, a folder per round, as released or on Hugging Face.

    R1/test.jsonl is the subset `R1_test`. An item's key is its subset with its uid, or
    its line. `label` is e, n or c; the words and the numbers 0 to 2 of copies are read
    as well.
    """
    items = Items()
    for subset, at, line in _subsets(folder, _Anli, items):
        label, premise = (
            _label(str(line.label), at, items),
            line.context or line.premise or "",
        )
        key = f"{subset}:{line.uid or at.row}"
        items.items.append(_item(at, key, premise, line.hypothesis, label, subset))
    return items


def read_llm_aggrefact(folder: Path) -> Items:
    """LLM-AggreFact (Tang et al. 2024): documents and claims of several sets, supported or not.

    JSON Lines, CSV or Parquet with `dataset`, which is the subset, `doc`, `claim` and
    `label` (1: the document supports the claim, 0: it does not). An item's key is its
    file's name and its row's number. Claims of one document are alike.
    """
    items = Items()
    paths = sorted(path for path in folder.glob("*") if path.suffix in _FORMATS)
    if not paths:
        what = f"holds no {', '.join(_FORMATS)} file"
        items.problems.add(Place(str(folder)), what, f"put it there; {SEE}")
    for path in paths:
        for at, line in validate_all(_rows(path, items), _Claim, items.problems):
            label: Label = ENTAILED if line.label else NOT_ENTAILED
            key = f"{path.stem}:{at.row}"
            items.items.append(
                _item(at, key, line.doc, line.claim, label, line.dataset)
            )
    return items


def _item(
    at: Place, key: str, premise: str, hypothesis: str, label: Label | None, subset: str
) -> ItemRow:
    """Return an item; its cluster is a hash of the premise, without any text."""
    cluster = hash_of(premise)[:16]
    return ItemRow(at, key, [premise], hypothesis, label, subset, cluster=cluster)


def _subsets(
    folder: Path, model: type[Any], items: Items
) -> Iterator[tuple[str, Place, Any]]:
    """Read the valid lines of every .jsonl file, at any depth, and its subset: `R1_test`.

    Messages name the folder, too: each round of ANLI has a test.jsonl.
    """
    for path in files(folder, "**/*.jsonl", items.problems, f"put it there; {SEE}"):
        name = f"{path.parent.name}/{path.name}"
        values = json_lines(path, items.problems, remedy=SEE)
        placed = ((at._replace(file=name), value) for at, value in values)
        for at, line in validate_all(placed, model, items.problems):
            yield "_".join(path.relative_to(folder).with_suffix("").parts), at, line


def _label(word: str, at: Place, items: Items) -> Label | None:
    if word not in LABELS:
        fix = f"write one of {', '.join(LABELS)}"
        items.problems.add(at, "the label is not known", fix, shown(word))
    return LABELS.get(word)


def _rows(path: Path, items: Items) -> Iterator[tuple[Place, Any]]:
    problems = items.problems
    if path.suffix == ".jsonl":
        yield from json_lines(path, problems, remedy=SEE)
    elif path.suffix == ".csv":
        yield from csv_records(path, problems, required=_NEEDED, remedy=SEE)
    else:
        try:
            rows = load(path)
        except BadInput:
            problems.add(
                Place(path.name),
                "is damaged or is not a Parquet file",
                "fetch it again",
            )
            return
        missing = [name for name in _NEEDED if name not in rows.column_names]
        for name in missing:
            problems.add(Place(path.name), f"column {name!r} is missing", SEE)
        if not missing:
            for number, row in enumerate(
                rows.select(list(_NEEDED)).to_pylist(), start=1
            ):
                yield Place(path.name, number, "row"), row


# WiCE (Kamoi et al. 2023): claims of Wikipedia, and evidence in the pages that they
# cite. A record is a chunk of a claim's evidence; records with the same meta.id are of
# the same claim. A claim is `entailed` if it is labelled `supported`;
# `partially_supported` and `not_supported` are `not_entailed`, as in the paper's table
# of binary scores.


WICE_CLAIMS = "oracle_claim_*.jsonl"
WICE_SCORES = "*.entailment_score.json"
WICE_JUDGE = "t5_3b_anli"  # of the released probabilities that a claim is entailed

_FETCH_AGAIN = "fetch the file again"


class _Meta(_Line):
    id: Key
    claim_title: Key


class _WiceRecord(_Line):
    label: Literal["supported", "partially_supported", "not_supported"]
    claim: Filled
    evidence: list[Clean] = Field(min_length=1)
    meta: _Meta


def read_wice(folder: Path) -> Items:
    """Read the claims and, if there are any, the published scores of T5-3B-ANLI.

    A subset is the end of a file's name, after `oracle_claim_`: dev. An item's premises
    are its chunks, their sentences joined by spaces, in the order of the file. A
    Wikipedia article is a cluster.
    """
    items = Items()
    for path in files(folder, WICE_CLAIMS, items.problems, _FETCH_AGAIN):
        _add_claims(path, items)
    for path in sorted(folder.glob(WICE_SCORES)):
        _add_scores(path, items)
    return items


def _add_claims(path: Path, items: Items) -> None:
    claims: dict[str, tuple[ItemRow, _WiceRecord]] = {}
    for at, record in parsed_lines([path], _WiceRecord, items.problems, _FETCH_AGAIN):
        premise = " ".join(
            sentence.strip() for sentence in record.evidence if sentence.strip()
        )
        if record.meta.id not in claims:
            label: Label = ENTAILED if record.label == "supported" else NOT_ENTAILED
            item = (
                record.meta.id,
                [premise],
                record.claim,
                label,
                path.stem.rpartition("_")[2],
            )
            row = ItemRow(at, *item, cluster=record.meta.claim_title)
            claims[record.meta.id] = (row, record)
            continue
        row, first = claims[record.meta.id]
        row.premises.append(premise)
        for name in ("claim", "label"):
            if getattr(record, name) != getattr(first, name):
                what = f"{name!r} is not that of the claim's first record"
                items.problems.add(
                    at, what, _FETCH_AGAIN, f"meta.id {shown(record.meta.id)}"
                )
    items.items += [row for row, _ in claims.values()]


def _add_scores(path: Path, items: Items) -> None:
    at, problems = Place(path.name), items.problems
    scores: Any = load_json(path, problems, remedy=_FETCH_AGAIN)
    if scores is UNREAD:
        return
    if not isinstance(scores, dict):
        problems.add(at, "is not an object of scores by claim", _FETCH_AGAIN)
        return
    for number, (item, score) in enumerate(scores.items(), start=1):
        here = Place(path.name, number, "score")
        if isinstance(score, bool) or not isinstance(score, int | float):
            problems.add(
                here, "a score is not a number", _FETCH_AGAIN, f"claim {shown(item)}"
            )
        else:
            items.verdicts.append(
                VerdictRow(here, item, WICE_JUDGE, probability=float(score))
            )


# Factuality of XSum summaries (Maynez et al. 2020): is a summary true, whatever its
# article says? Three people labelled each summary that somebody had judged unfaithful.
# The released scores of an entailment model (of the summary given its article) are the
# verdicts of a judge. The articles are not released with the labels, so no other judge
# can be asked.


XSUM_JUDGE = "released_entailment"
_CRITERION, _METRIC = "factuality", "xsum_entailment"


def read_xsum_factuality(folder: Path) -> Items:
    """Read each summary that people labelled; its subset is the system that wrote it."""
    rows = read_rows(folder)
    labels = [
        LabelRow(
            row.at,
            _xsum_key(row),
            row.rater,
            None if row.value is None else row.value == 1,
        )
        for row in rows.ratings
        if row.criterion == _CRITERION
    ]
    labelled = {row.item for row in labels}
    items = [
        ItemRow(
            row.at,
            _xsum_key(row),
            [],
            row.text or "",
            None,
            row.author,
            FULL,
            row.doc_id,
        )
        for row in rows.texts
        if _xsum_key(row) in labelled
    ]
    verdicts = [
        VerdictRow(row.at, _xsum_key(row), XSUM_JUDGE, probability=row.value)
        for row in rows.scores
        if row.metric == _METRIC and _xsum_key(row) in labelled
    ]
    return Items(items, verdicts, labels, rows.problems, rows.warnings)


def _xsum_key(row: TextRow | RatingRow | ScoreRow) -> str:
    return f"{row.doc_id}:{row.author}"


# Claims of a user: a folder with claims.csv, labels.csv and perhaps verdicts.csv.

CLAIMS_FILE = "claims.csv"
LABELS_FILE = "labels.csv"
VERDICTS_FILE = "verdicts.csv"
SUBSET = "claims"  # of claims that name none

_Word = Literal["entailed", "not_entailed", ""]


class _UserClaim(Options):
    """A line of claims.csv; the two texts may be empty if no judge reads them."""

    item: Key
    premise: Clean = ""
    hypothesis: Clean = ""
    cluster: Clean = ""
    subset: Key = SUBSET
    kind: Key = FULL


class _UserLabel(Options):
    """A line of labels.csv; an empty label is an abstention. Comments are not read."""

    item: Key
    rater: Key
    label: _Word
    comment: Clean = ""


class _UserVerdict(Options):
    """A line of verdicts.csv: a label, a probability of being entailed, or both."""

    item: Key
    judge: Key
    label: _Word = ""
    probability: Clean = ""
    status: Literal["ok", "unparsed", "refused", "truncated", "error", "abstained"] = (
        "ok"
    )


def read_claim_labels(folder: Path) -> Items:
    """Read a user's claims.csv, labels.csv and perhaps verdicts.csv; each error becomes
    a problem with file, line and remedy.
    """
    items = Items()
    if not folder.is_dir():
        items.problems.add(Place(str(folder)), "is not a folder", f"create it; {SEE}")
        return items
    items.items = [
        ItemRow(
            at,
            claim.item,
            [claim.premise] if claim.premise.strip() else [],
            claim.hypothesis,
            None,
            claim.subset,
            claim.kind,
            claim.cluster,
        )
        for at, claim in _lines(folder / CLAIMS_FILE, _UserClaim, items.problems)
    ]
    items.labels = [
        LabelRow(at, row.item, row.rater, row.label == ENTAILED if row.label else None)
        for at, row in _lines(folder / LABELS_FILE, _UserLabel, items.problems)
    ]
    if os.path.lexists(folder / VERDICTS_FILE):
        for at, row in _lines(folder / VERDICTS_FILE, _UserVerdict, items.problems):
            probability = _probability(row.probability, at, items.problems)
            verdict = (row.item, row.judge, row.label or None, probability, row.status)
            items.verdicts.append(VerdictRow(at, *verdict))
    warn_unread(folder, {CLAIMS_FILE, LABELS_FILE, VERDICTS_FILE}, items.warnings)
    _name_without_kind(items)
    _warn_of_absent_verdicts(items)
    return items


def _lines(
    path: Path, model: type[Line], problems: Findings
) -> Iterator[tuple[Place, Line]]:
    """Return the lines that fit `model`; an empty field counts as a missing column."""
    columns = model.model_fields.items()
    required = tuple(name for name, column in columns if column.is_required())
    optional = tuple(name for name, column in columns if not column.is_required())
    records = csv_records(
        path, problems, required=required, optional=optional, remedy=SEE
    )
    filled = (
        (
            at,
            {
                name: value
                for name, value in fields.items()
                if value or name in required
            },
        )
        for at, fields in records
    )
    return validate_all(filled, model, problems)


def _probability(text: str, at: Place, problems: Findings) -> float | None:
    if not text.strip():
        return None
    number = finite_number(text.strip())
    if number is None:
        problems.add(
            at, "'probability' is not a finite number", "write a number from 0 to 1"
        )
    return number


def _name_without_kind(items: Items) -> None:
    """Check that all claims have a kind, or none: a table of all kinds has all claims."""
    without_kind = [row for row in items.items if row.kind == FULL]
    if len(without_kind) < len(items.items):
        fix = "give each claim a kind, such as 'other', or none"
        for row in without_kind:
            what = "has no kind, and other claims have one"
            items.problems.add(row.at, what, fix, f"item {shown(row.item)}")


def _warn_of_absent_verdicts(items: Items) -> None:
    """Warn of judges without a row for some claims: they may have failed or not been asked."""
    for judge in sorted({row.judge for row in items.verdicts}):
        with_verdict = {row.item for row in items.verdicts if row.judge == judge}
        absent = [row.item for row in items.items if row.item not in with_verdict]
        if absent:
            what = f"{shown(judge)} has no verdict on {len(absent)} of {len(items.items)} claims"
            fix = "if it failed on them, add rows with a status, so that they count"
            first = f"first: item {shown(absent[0])}"
            items.warnings.add(Place(VERDICTS_FILE), what, fix, first)


# MEDEC (Ben Abacha et al. 2024): errors that people put into clinical texts, and
# corrections. A row is a text with one error or none. Premises are texts without error;
# a text with an error is corrected first. The erroneous sentence does not follow from
# it. The corrected sentence does, and so does an unchanged sentence; both are in the
# premise word for word. Most cases have a second text, with an error in one of the two,
# often in other words: only items against this other text cannot be answered by looking
# for copies.

CORRECTED, REWORDED = "corrected", "reworded"  # subsets, by the premise
UNCHANGED = "unchanged"  # the kind of unchanged sentences

_MEDEC = (
    "Text ID",
    "Text",
    "Sentences",
    "Error Flag",
    "Error Type",
    "Error Sentence ID",
    "Error Sentence",
    "Corrected Sentence",
    "Corrected Text",
)
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"\w+")
_ENDS = re.compile(r"[.?!][)\"”]?$")
_FEWEST_WORDS = 3
# of the shorter text's sentences; of other texts of the file few share a tenth
_SAME_CASE = 0.25


class _MedecText(NamedTuple):
    """A row: `error` is the number of the sentence with the error, None without error."""

    at: Place
    name: str
    sentences: list[str]
    error: int | None
    fields: dict[str, str]


def read_medec(folder: Path) -> Items:
    """Read every CSV file: errors, corrections, and an unchanged sentence of each text.

    Subset `corrected`: the premise is the text itself, corrected. Subset `reworded`:
    the premise is the case's text without error, if neither sentence is in it word for
    word. The kind of errors and corrections is the error's type, so that a type's card
    compares the two. The unchanged sentence is that whose key, hashed, comes first. A
    case is a cluster.
    """
    items = Items()
    for path in files(folder, "*.csv", items.problems, _FETCH_AGAIN):
        records = csv_records(
            path, items.problems, required=_MEDEC, remedy=_FETCH_AGAIN
        )
        texts = [
            text
            for record in records
            if (text := _medec_text(record, items)) is not None
        ]
        items.items += [row for case in _cases(texts) for row in _items_of_case(case)]
    return items


def _medec_text(record: Record, items: Items) -> _MedecText | None:
    """Return the row with its sentences; None, with a problem, if its columns are inconsistent."""
    fields = {name: " ".join(value.split()) for name, value in record.fields.items()}
    sentences = _numbered_sentences(record.fields["Sentences"])
    number, problem = fields["Error Sentence ID"], ""
    if fields["Error Flag"] not in ("0", "1"):
        problem = "'Error Flag' is neither 0 nor 1"
    elif not sentences or not fields["Text"]:
        problem = "has no text, or its sentences are not numbered from 0"
    elif fields["Error Flag"] == "1":
        if not all(fields[name] for name in _MEDEC):
            problem = "has an error, but some of its columns are empty"
        elif number not in map(str, range(len(sentences))) or (
            sentences[int(number)] != fields["Error Sentence"]
        ):
            problem = (
                "the erroneous sentence is not the one that 'Error Sentence ID' names"
            )
        elif fields["Error Sentence"] in fields["Corrected Text"]:
            problem = "the erroneous sentence is in the corrected text"
        elif fields["Corrected Sentence"] not in fields["Corrected Text"]:
            problem = "the corrected sentence is not in the corrected text"
    if problem:
        items.problems.add(
            record.at, problem, _FETCH_AGAIN, f"Text ID {shown(fields['Text ID'])}"
        )
        return None
    error = int(number) if fields["Error Flag"] == "1" else None
    return _MedecText(record.at, fields["Text ID"], sentences, error, fields)


def _numbered_sentences(numbered: str) -> list[str]:
    """Return the sentences of lines "0 ...", "1 ..."; other lines continue a sentence."""
    sentences: list[str] = []
    for line in numbered.split("\n"):
        number, _, rest = line.partition(" ")
        if number == str(len(sentences)):
            sentences.append(rest)
        elif sentences:
            sentences[-1] += f" {line}"
    return [" ".join(sentence.split()) for sentence in sentences]


def _cases(texts: list[_MedecText]) -> list[list[_MedecText]]:
    """Group the texts of a case: they follow each other, and share sentences."""
    cases: list[list[_MedecText]] = []
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


def _items_of_case(case: list[_MedecText]) -> Iterator[ItemRow]:
    cluster = case[0].name
    for text in case:
        premise = text.fields["Text" if text.error is None else "Corrected Text"]
        if text.error is not None:
            yield from _error_items(text, premise, CORRECTED, cluster)
            of_error = [
                text.fields[f"{which} Sentence"] for which in ("Error", "Corrected")
            ]
            for other in case:
                reworded = other.fields["Text"]
                if other.error is None and not any(s in reworded for s in of_error):
                    yield from _error_items(text, reworded, REWORDED, cluster)
        for place in sorted(_unchanged(text), key=lambda at: hash_of(text.name, at))[
            :1
        ]:
            key, sentence = f"{text.name}:{UNCHANGED}", text.sentences[place]
            kind = (CORRECTED, UNCHANGED, cluster)
            yield ItemRow(text.at, key, [premise], sentence, ENTAILED, *kind)


def _error_items(
    text: _MedecText, premise: str, subset: str, cluster: str
) -> Iterator[ItemRow]:
    kind = _CAPITAL.sub("_", text.fields["Error Type"]).lower()
    labels: tuple[tuple[str, Label], ...] = (
        ("Error", NOT_ENTAILED),
        ("Corrected", ENTAILED),
    )
    for which, label in labels:
        key, hypothesis = (
            f"{text.name}:{subset}:{which.lower()}",
            text.fields[f"{which} Sentence"],
        )
        yield ItemRow(text.at, key, [premise], hypothesis, label, subset, kind, cluster)


def _unchanged(text: _MedecText) -> Iterator[int]:
    """Return the numbers of correct whole sentences: the data cut some at numbers and units."""
    for number, (before, sentence) in enumerate(pairwise(["Begins.", *text.sentences])):
        whole = _ENDS.search(before) and _ENDS.search(sentence)
        if (
            number != text.error
            and whole
            and len(_WORD.findall(sentence)) >= _FEWEST_WORDS
        ):
            yield number
