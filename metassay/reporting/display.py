"""What pages, figures and the terminal call a system or judge whose name is not what people know.

Tables and CSV files keep the names of params.yaml; views are handed frames in which they stand as
`params.yaml > shown_as` says, so that no view knows of two names.
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from metassay.errors import BadInput

_AUTHORS = ("author", "author_a", "author_b")
_JUDGES = ("judge",)
_LABELS = (  # hold `metric (judge)`
    *("metric_a", "metric_b", "members", "confound", "first", "second", "scorer"),
)


class ShownAs(NamedTuple):
    """Other words for names: of a benchmark's systems, which are authors, and of its judges."""

    authors: Mapping[str, str]
    judges: Mapping[str, str]

    @classmethod
    def of(
        cls, shown_as: Mapping[str, str], systems: Iterable[str], judges: Iterable[str]
    ) -> "ShownAs":
        """As params.yaml > shown_as says of these systems and judges."""
        return cls(
            {name: shown_as[name] for name in systems if name in shown_as},
            {name: shown_as[name] for name in judges if name in shown_as},
        )

    def frame(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The same rows, with authors and judges called as they are shown."""
        made: dict[str, Any] = {}
        for columns, names, other in (
            (_AUTHORS, self.authors, lambda name: self.authors.get(name, name)),
            (_JUDGES, self.judges, lambda name: self.judges.get(name, name)),
            (_LABELS, self.judges, self._label),
        ):
            for column in columns:
                if names and column in frame:
                    made[column] = frame[column].map(other, na_action="ignore")
        if self.authors and {"of", "name"} <= set(frame):  # the name of an author, or a rater
            other_names = frame["name"].map(lambda name: self.authors.get(name, name))
            made["name"] = frame["name"].where(frame["of"] != "author", other_names)
        return frame.assign(**made)

    def check(self, authors: Iterable[str]) -> None:
        """BadInput if a system is shown under the name of another of these authors."""
        others = set(authors) - set(self.authors)
        problems = [
            f"params.yaml > shown_as > {name}: {shown!r} is another author's name; choose another"
            for name, shown in self.authors.items()
            if shown in others
        ]
        if problems:
            raise BadInput(problems)

    def _label(self, label: str) -> str:
        """A label, or several that are joined by ` + `."""
        keys = "|".join(map(re.escape, self.judges))
        return re.sub(rf"\(({keys})\)(?= \+ |$)", lambda m: f"({self.judges[m[1]]})", label)


def looks(seen: Mapping[str, str], names: Iterable[str], shown_as: Mapping[str, str]) -> list[str]:
    """For each judge or segmentation whether choices saw the data, as params.yaml > seen says."""
    return [f"{shown_as.get(name, name)}: {seen.get(name, 'not stated')}" for name in names]


NONE = ShownAs({}, {})  # every name is shown as it is

Record = TypeVar("Record")


def with_names_shown(record: Record, shown_as: ShownAs) -> Record:
    """A copy of a dataclass, in whose frames authors and judges are called as they are shown."""
    frames = {
        field.name: shown_as.frame(value)
        for field in dataclasses.fields(record)  # type: ignore[arg-type]
        if isinstance(value := getattr(record, field.name), pd.DataFrame)
    }
    return dataclasses.replace(record, **frames)  # type: ignore[type-var]
