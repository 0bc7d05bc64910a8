"""The key of a study: who wrote what, and what was sent to whom. Raters must never see it.

Import needs nothing else, so later changes of tables do not affect a running study. Of the texts
that raters read, the key has only hashes.
"""

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from metassay.core.csv_injection import unescape_formula
from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.studies.record import Question, Study, Target, TargetQuestion

_QUESTIONS = TypeAdapter(dict[str, Question])
_TARGET = TypeAdapter(Target)
_ASSIGNMENTS = TypeAdapter(dict[str, list[str]])
FILE = "key.json"
_VERSION = 1
_WARNING = (
    "This key says who wrote what. Never send it to a rater: what was rated with it is not blinded."
)


@dataclass(frozen=True)
class KeyRow:
    """A row that was sent out: its item, digests of texts by heading, and questions by column."""

    item: str
    digests: dict[str, str]
    questions: dict[str, TargetQuestion]


@dataclass(frozen=True)
class Key:
    """The content of a key: `rows` by id, and each rater's items in their order."""

    benchmark: str
    study: str
    form: str
    seed: int
    criteria: dict[str, Criterion]
    rows: dict[str, KeyRow]
    assignments: dict[str, list[str]]
    drawn_by: dict[str, Any]  # the decision and chances of --next, if it drew the items

    def rows_of(self, rater: str) -> list[str]:
        """Return the ids of the rows that the rater was sent."""
        items = set(self.assignments[rater])
        return [row_id for row_id, row in self.rows.items() if row.item in items]


def digest(text: str) -> str:
    """Hash a text's words, so that it is recognized in whatever spacing it comes back."""
    words = " ".join(unicodedata.normalize("NFC", unescape_formula(text)).split())
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def to_bytes(study: Study) -> bytes:
    """Return the content of the key's file."""
    questions: dict[str, Question] = {}
    rows: dict[str, Any] = {}
    for item in study.items:
        for row in item.rows:
            of_row: dict[str, Any] = {}
            for question in row.questions:
                questions.setdefault(question.name, question)
                target = study.targets[row.id, question.column]
                of_row[question.column] = [question.name, *target]
            digests = {heading: digest(text) for heading, text in (*item.texts, *row.texts)}
            rows[row.id] = {"item": item.id, "shown": digests, "asked": of_row}
    content = {
        "keep_secret": _WARNING,
        "version": _VERSION,
        **{"benchmark": study.benchmark, "study": study.name, "form": study.form},
        "seed": study.seed,
        "criteria": {name: scale.model_dump() for name, scale in study.criteria.items()},
        "assignments": study.assignments,
        "questions": {name: asdict(question) for name, question in sorted(questions.items())},
        "rows": rows,
        **({"drawn_by": study.drawn_by} if study.drawn_by else {}),
    }
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode("utf-8")


def read(path: Path) -> Key:
    """Read a key; BadInput if it is absent, or not one that `metassay study export` wrote."""
    try:
        return _parse(json.loads(path.read_bytes()))
    except FileNotFoundError:
        raise BadInput(
            f"{path}: is not there; name a study that `metassay study export` wrote here, or its"
            " folder with --out"
        ) from None
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise BadInput(
            f"{path}: is not the key that `metassay study export` wrote; restore it from a copy,"
            " or export again with the same seed and data into another folder, and take that key"
        ) from None


def _parse(content: Mapping[str, Any]) -> Key:
    if content["version"] != _VERSION:
        raise ValueError
    questions = _QUESTIONS.validate_python(content["questions"])
    rows = {}
    for row_id, row in content["rows"].items():
        of_row = {
            column: TargetQuestion(questions[name], _TARGET.validate_python(target))
            for column, (name, *target) in row["asked"].items()
        }
        rows[row_id] = KeyRow(str(row["item"]), dict(row["shown"]), of_row)
    items = {row.item for row in rows.values()}
    if not all(row.questions for row in rows.values()):
        raise ValueError
    key = Key(
        str(content["benchmark"]),
        str(content["study"]),
        str(content["form"]),
        int(content["seed"]),
        {name: Criterion.model_validate(scale) for name, scale in content["criteria"].items()},
        rows,
        _ASSIGNMENTS.validate_python(content["assignments"]),
        dict(content.get("drawn_by", {})),
    )
    if not key.assignments or not all(items.issuperset(ids) for ids in key.assignments.values()):
        raise ValueError
    return key
