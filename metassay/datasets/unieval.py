"""UniEval's meta-evaluation files (Zhong et al. 2022): people's scores and UniEval's own.

Topical-Chat (rated by Mehri and Eskenazi 2020) and SFRES (Wen et al. 2015): each a JSON list of
responses with both scores beside them. A value by people is the mean of several raters, whose own
values are not released.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from metassay.core.errors import shown
from metassay.core.options import Options
from metassay.datasets.own_data import Filled, Written, checked
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import UNREAD, decode, parse_json, read_bytes
from metassay.tabular.rows import Place, RatingRow, Rows, ScoreRow, SourceRow, TextRow

TOPICAL_CHAT = "topical_chat_result.json"
SFRES = "sfres_result.json"
SYSTEMS = {
    "Original Ground Truth": "human_original",
    "New Human Generated": "human_new",
    "Argmax Decoding": "argmax",
    "Nucleus Decoding (p = 0.3)": "nucleus_0.3",
    "Nucleus Decoding (p = 0.5)": "nucleus_0.5",
    "Nucleus Decoding (p = 0.7)": "nucleus_0.7",
}
UNNAMED = "unnamed"  # whoever wrote the responses of SFRES
RATER = "mean"

_AGAIN = "fetch the file again"


class _Response(Options):
    """What a record of either file holds."""

    source: Filled
    system_output: Written
    scores: dict[str, float]
    predict_scores: dict[str, float]


class _Turn(_Response):
    """One response of Topical-Chat."""

    system_id: str
    context: Filled


class _Sentence(_Response):
    """One sentence of SFRES."""

    doc_id: int
    reference: Written


_Line = TypeVar("_Line", bound=_Response)


def read_topical_chat(folder: Path) -> Rows:
    """Read Topical-Chat: 60 dialogues, each with the next turn by 2 people and 4 decoders.

    Passages are the dialogue's turns (group `dialogue`) and the fact to use (group `fact`);
    documents are numbered in the order of the file. Both people are authors like the systems,
    because both were rated; there is no reference.
    """
    rows = Rows()
    documents: dict[str, tuple[str, str]] = {}  # dialogue -> its document and fact
    for at, turn in _records(folder / TOPICAL_CHAT, _Turn, rows):
        author = SYSTEMS.get(turn.system_id)
        if author is None:
            what = "the system is not known"
            rows.problems.add(at, what, _AGAIN, f"system_id {shown(turn.system_id)}")
            continue
        if turn.source not in documents:
            doc_id = f"topical_chat_{len(documents):02d}"
            documents[turn.source] = (doc_id, turn.context)
            rows.sources.append(_dialogue(at, doc_id, turn))
        doc_id, fact = documents[turn.source]
        if turn.context != fact:
            what = "the fact is not that of the dialogue's first row"
            rows.problems.add(at, what, _AGAIN, f"doc_id {shown(doc_id)}")
        _add(at, doc_id, author, turn, "topical_chat", rows)
    return rows


def read_sfres(folder: Path) -> Rows:
    """Read SFRES: 1,181 sentences that say a dialogue act, each with a reference.

    The passage is the dialogue act. Upstream does not say which system wrote which sentence, so all
    have the author `unnamed`, each under its own doc_id, though most acts are there twice.
    """
    rows = Rows()
    for at, sentence in _records(folder / SFRES, _Sentence, rows):
        doc_id = f"sfres_{sentence.doc_id:04d}"
        source = SourceRow(at, doc_id, "other", [sentence.source.strip()], [""], [""])
        rows.sources.append(source)
        rows.texts.append(TextRow(at, doc_id, REFERENCE, FULL, sentence.reference))
        _add(at, doc_id, UNNAMED, sentence, "sfres", rows)
    return rows


def _records(path: Path, model: type[_Line], rows: Rows) -> list[tuple[Place, _Line]]:
    data = read_bytes(path, rows.problems, remedy=_AGAIN)
    text = decode(data, path, rows.problems) if data is not None else None
    value: Any = UNREAD if text is None else parse_json(text, Place(path.name), rows.problems)
    if value is UNREAD:
        return []
    if not isinstance(value, list):
        rows.problems.add(Place(path.name), "is not a list of records", _AGAIN)
        return []
    places = [Place(path.name, number, "record") for number in range(1, len(value) + 1)]
    found = zip(places, value, strict=True)
    made = [(at, checked(model, one, at, rows.problems)) for at, one in found]
    return [(at, one) for at, one in made if one is not None]


def _dialogue(at: Place, doc_id: str, turn: _Turn) -> SourceRow:
    turns = [line.strip() for line in turn.source.split("\n") if line.strip()]
    passages = [*turns, turn.context.strip()]
    group = ["dialogue"] * len(turns) + ["fact"]
    return SourceRow(at, doc_id, "other", passages, [""] * len(passages), group)


def _add(at: Place, doc_id: str, author: str, one: _Response, study: str, rows: Rows) -> None:
    rows.texts.append(TextRow(at, doc_id, author, FULL, one.system_output))
    key = (doc_id, author, FULL)
    for criterion, value in one.scores.items():
        rating = RatingRow(at, study, *key, "text", RATER, criterion, float(value))
        rows.ratings.append(rating)
    for dimension, value in one.predict_scores.items():
        rows.scores.append(ScoreRow(at, *key, f"unieval_{dimension}", float(value)))
    _check_dimensions(at, one.scores, one.predict_scores, rows)


def _check_dimensions(
    at: Place, people: Mapping[str, float], own: Mapping[str, float], rows: Rows
) -> None:
    if set(people) != set(own):
        what = "people and UniEval scored other dimensions"
        rows.problems.add(at, what, _AGAIN, ", ".join(sorted(set(people) ^ set(own))))
