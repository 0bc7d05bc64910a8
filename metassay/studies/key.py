"""The key of a study: who wrote what, and what was sent to whom. Raters must never see it.

Import needs nothing else, so later changes of tables do not affect a running study. Of
the texts that raters read, the key has only hashes.
"""

import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from metassay.core.csv_injection import unescape_formula
from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.studies.record import TargetQuestion

FILE = "key.json"
_VERSION = 1
_WARNING = (
    "This key says who wrote what. Never send it to a rater: what was rated with it is"
    " not blinded."
)


@dataclass(frozen=True)
class KeyRow:
    """A row that was sent out: its item, digests of texts by heading, and questions by column."""

    item: str
    digests: Mapping[str, str]
    questions: Mapping[str, TargetQuestion]


@dataclass(frozen=True)
class Key:
    """The content of a key: `rows` by id, and each rater's items in their order."""

    benchmark: str
    study: str
    form: str
    seed: int
    criteria: Mapping[str, Criterion]
    rows: Mapping[str, KeyRow]
    assignments: Mapping[str, Sequence[str]]
    # as `StudyDraft.drawn_by`
    drawn_by: Mapping[str, Any] = field(default_factory=dict)

    @property
    def chosen_by(self) -> str:
        """By what the texts were chosen to be rated; "" if by lot alone."""
        if "decision" in self.drawn_by:
            decision = self.drawn_by["decision"]
            if decision.startswith("card "):
                return f"--for {decision}"
            return f"--next --for {decision}"
        if "disagreeing" in self.drawn_by:
            return f"disagreement of {' and '.join(self.drawn_by['disagreeing'])}"
        return ""

    def rows_of(self, rater: str) -> list[str]:
        """Return the ids of the rows that the rater was sent."""
        items = set(self.assignments[rater])
        return [row_id for row_id, row in self.rows.items() if row.item in items]


def digest(text: str) -> str:
    """Hash a text's words, so that it is recognized in whatever spacing it comes back."""
    words = " ".join(unicodedata.normalize("NFC", unescape_formula(text)).split())
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def encode_key(key: Key) -> bytes:
    """Return the content of the key's file, with each question once."""
    questions = {
        q.name: asdict(q)
        for row in key.rows.values()
        for q, _ in row.questions.values()
    }
    content = {
        "keep_secret": _WARNING,
        "version": _VERSION,
        "benchmark": key.benchmark,
        "study": key.study,
        "form": key.form,
        "seed": key.seed,
        "criteria": {name: scale.model_dump() for name, scale in key.criteria.items()},
        "assignments": key.assignments,
        "questions": dict(sorted(questions.items())),
        "rows": {
            row_id: {
                "item": row.item,
                "shown": row.digests,
                "asked": {
                    column: [q.name, *target]
                    for column, (q, target) in row.questions.items()
                },
            }
            for row_id, row in key.rows.items()
        },
    }
    if key.drawn_by:
        content["drawn_by"] = key.drawn_by
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode("utf-8")


def read(path: Path) -> Key:
    """Read a key; BadInput if it is absent, or not one that `metassay study export` wrote."""
    try:
        return _parse(json.loads(path.read_bytes()))
    except FileNotFoundError:
        raise BadInput(
            f"{path}: does not exist; name a study that `metassay study export` wrote here, or its"
            " folder with --out"
        ) from None
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ):
        raise BadInput(
            f"{path}: is not the key that `metassay study export` wrote; restore it from a copy,"
            " or export again with the same seed and data into another folder, and take that key"
        ) from None


def _parse(content: Mapping[str, Any]) -> Key:
    questions = {
        row_id: {
            column: (content["questions"][name], target)
            for column, (name, *target) in row["asked"].items()
        }
        for row_id, row in content["rows"].items()
    }
    rows = {
        row_id: {
            "item": row["item"],
            "digests": row["shown"],
            "questions": questions[row_id],
        }
        for row_id, row in content["rows"].items()
    }
    key = _KEY.validate_python({**content, "rows": rows})
    items = {row.item for row in key.rows.values()}
    whole = key.assignments and all(
        items.issuperset(ids) for ids in key.assignments.values()
    )
    if content["version"] != _VERSION or not whole or not all(questions.values()):
        raise ValueError
    return key


_KEY = TypeAdapter(Key)
