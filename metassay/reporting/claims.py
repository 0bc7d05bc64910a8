"""The view Claims: a row per claim, statement or criterion and measure, its judges side by side."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from metassay.reporting import contract as c
from metassay.reporting.shell import LARGEST, PageFolder, encode_column
from metassay.tables.names import base_metric

# What is wrong with a line that a measure counts against its text. The measure that
# finds invented facts comes first: it is what a reader looks for.
_FAILS = {
    "faithfulness": "not supported by the source",
    "claim_precision": "not in the reference",
    "citation_recall": "not supported by its citations",
    "claim_recall": "missing from the text",
    "claim_contradiction": "contradicts the reference",
    "": "wrong",
}
_FIXED = (
    "document",
    "author",
    "line",
    "noun",
    "part",
    "measure",
    "text",
    "people",
    "rated",
)
_OF_JUDGES = ("side", "word", "probability", "why")
_OTHERS = 100  # bytes of a row beside its texts, about


def sort_scorers(
    heads: Collection[tuple[str, str]], judges: Sequence[str]
) -> list[c.Scorer]:
    """Sort measures and judges as the page offers them, each with what failing means."""
    order = list(_FAILS)

    def place(head: tuple[str, str]) -> tuple[int, str, int]:
        measure, judge = head
        base = base_metric(measure)
        rank = order.index(base) if base in order else len(order)
        return rank, measure, judges.index(judge)

    return [
        c.Scorer(
            measure=measure,
            judge=judge,
            fails=_FAILS.get(base_metric(measure), "fails"),
        )
        for measure, judge in sorted(heads, key=place)
    ]


class ClaimRows:
    """Rows of the view Claims as documents come; only those of one shard are held."""

    def __init__(self, page: PageFolder, judges: Sequence[str]) -> None:
        self._page, self._judges = page, judges
        self._rows: list[dict[str, Any]] = []
        self._shards: list[str] = []
        self._size = self._n = 0
        # by measure, judge and author: judgments against the text, and all
        self._against: Counter[tuple[str, str, str]] = Counter()
        self._n_lines: Counter[tuple[str, str, str]] = Counter()

    def add(self, document: str, text: c.Text) -> None:
        """Add the lines of a text of which judges were asked."""
        for block in text.blocks:
            for place, line in enumerate(block.lines):
                self._add_line(document, text.author, block, place, line)
        if self._size > LARGEST:
            self._put()

    def _add_line(
        self, document: str, author: str, block: c.Block, place: int, line: c.Line
    ) -> None:
        by_measure: dict[str, dict[str, Any]] = {}
        for head, judgment in zip(block.heads, line.judgments, strict=True):
            key = (head.measure, head.judge, author)
            self._n_lines[key] += 1
            self._against[key] += judgment.side == "against"
            judge = self._judges.index(head.judge)
            of_measure = by_measure.setdefault(head.measure, {})
            of_measure[f"side_{judge}"] = judgment.side
            of_measure[f"word_{judge}"] = judgment.word
            of_measure[f"probability_{judge}"] = judgment.probability
            of_measure[f"why_{judge}"] = judgment.why
            self._size += len(judgment.why)
        for measure, judged in by_measure.items():
            row = {
                "document": document,
                "author": author,
                "line": f"{block.id}:{place}",
                "noun": block.noun,
                "part": line.part,
                "measure": measure,
                "text": line.text,
                "people": _people(line.people),
                "rated": line.rated,
                **judged,
            }
            self._rows.append(row)
            self._size += len(line.text) + _OTHERS
            self._n += 1

    def _put(self) -> None:
        columns = [
            encode_column([row.get(name) for row in self._rows])
            for name in self._columns()
        ]
        name = f"claims/{len(self._shards)}"
        self._shards.append(self._page.put(name, {"columns": columns}))
        self._rows, self._size = [], 0

    def _columns(self) -> list[str]:
        places = range(len(self._judges))
        of_judges = [f"{name}_{n}" for n in places for name in _OF_JUDGES]
        return [*_FIXED, *of_judges]

    def finish(self) -> c.ClaimsInfo | None:
        """Return what the view lists; None where no judge was asked about a line."""
        if not self._n:
            return None
        if self._rows:
            self._put()
        columns = [
            c.ColumnInfo(name, "number" if "probability_" in name else "text", "")
            for name in self._columns()
        ]
        table = c.TableInfo(
            name="claims",
            title="",
            group="",
            says=[],
            columns=columns,
            rows=self._n,
            shards=self._shards,
            csv="",
            command="",
        )
        return c.ClaimsInfo(table=table, counts=[*self._counts()])

    def _counts(self) -> Iterator[c.ClaimCount]:
        for (measure, judge, author), n_lines in sorted(self._n_lines.items()):
            against = self._against[measure, judge, author]
            yield c.ClaimCount(measure, judge, author, against, n_lines)


def _people(ratings: Sequence[c.Rating]) -> str:
    """Return the ratings of a line, by criterion: `completeness 1, 1, 0`."""
    by_criterion: dict[str, list[str]] = {}
    for rating in ratings:
        value = "–" if rating.value is None else f"{rating.value:g}"
        by_criterion.setdefault(rating.criterion, []).append(value)
    return "; ".join(
        f"{criterion} {', '.join(values)}" for criterion, values in by_criterion.items()
    )
