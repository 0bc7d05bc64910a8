"""The key of a study: who wrote what, and what was sent to whom. Raters must never see it.

It has everything that import needs, so that tables which changed since change nothing of a study
that is under way; of the texts that raters read it has hashes alone.
"""

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from metassay.core.csv_injection import restored
from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.studies.record import Asked, Question, Study, Target

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
    """One row that was sent out: its item, digests of what is read by heading, what is asked."""

    item: str
    shown: dict[str, str]
    asked: dict[str, Asked]  # by column


@dataclass(frozen=True)
class Key:
    """A study as its key has it; `rows` by id, and each rater's items in their order."""

    benchmark: str
    study: str
    form: str
    seed: int
    criteria: dict[str, Criterion]
    rows: dict[str, KeyRow]
    assignments: dict[str, list[str]]
    drawn_by: dict[str, Any]  # the decision and chances of --next, if it drew the items

    def rows_of(self, rater: str) -> list[str]:
        """Ids of the rows that the rater was sent."""
        mine = set(self.assignments[rater])
        return [row for row, what in self.rows.items() if what.item in mine]


def digest(text: str) -> str:
    """What a text is known by when it comes back: its words, however spreadsheets space them."""
    words = " ".join(unicodedata.normalize("NFC", restored(text)).split())
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def written(study: Study) -> bytes:
    """The key's file."""
    questions: dict[str, Question] = {}
    rows: dict[str, Any] = {}
    for item in study.items:
        for row in item.rows:
            asked: dict[str, Any] = {}
            for question in row.asks:
                questions.setdefault(question.name, question)
                target = study.targets[row.id, question.column]
                asked[question.column] = [question.name, *target]
            shown = {one.heading: digest(one.text) for one in (*item.shown, *row.shown)}
            rows[row.id] = {"item": item.id, "shown": shown, "asked": asked}
    content = {
        "keep_secret": _WARNING,
        "version": _VERSION,
        **{"benchmark": study.benchmark, "study": study.name, "form": study.form},
        "seed": study.seed,
        "criteria": {name: one.model_dump() for name, one in study.criteria.items()},
        "assignments": study.assignments,
        "questions": {name: asdict(one) for name, one in sorted(questions.items())},
        "rows": rows,
        **({"drawn_by": study.drawn_by} if study.drawn_by else {}),
    }
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode("utf-8")


def read(path: Path) -> Key:
    """Read a key; BadInput if it is not there, or is not as `metassay study export` wrote it."""
    try:
        return _parsed(json.loads(path.read_bytes()))
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


def _parsed(content: Mapping[str, Any]) -> Key:
    if content["version"] != _VERSION:
        raise ValueError
    questions = _QUESTIONS.validate_python(content["questions"])
    rows = {}
    for identity, row in content["rows"].items():
        asked = {
            column: Asked(questions[name], _TARGET.validate_python(target))
            for column, (name, *target) in row["asked"].items()
        }
        rows[identity] = KeyRow(str(row["item"]), dict(row["shown"]), asked)
    items = {row.item for row in rows.values()}
    if not all(row.asked for row in rows.values()):
        raise ValueError
    key = Key(
        str(content["benchmark"]),
        str(content["study"]),
        str(content["form"]),
        int(content["seed"]),
        {name: Criterion.model_validate(one) for name, one in content["criteria"].items()},
        rows,
        _ASSIGNMENTS.validate_python(content["assignments"]),
        dict(content.get("drawn_by", {})),
    )
    if not key.assignments or not all(items.issuperset(one) for one in key.assignments.values()):
        raise ValueError
    return key
