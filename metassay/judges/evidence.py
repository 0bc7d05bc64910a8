"""Where a judge's quotes are in the text that it read, and how many are nowhere."""

from collections.abc import Iterable

from metassay.units.locate import find


class Found:
    """Finds quotes, and counts those that are made up."""

    def __init__(self) -> None:
        self._quotes = self._made_up = 0

    def located(self, quotes: Iterable[str], text: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Each quote as the text has it, and where it starts; one that is not there with -1.

        Case, white space and punctuation do not matter. A quote with other words is none.
        """
        said: list[str] = []
        starts: list[int] = []
        for quote in quotes:
            found = find(quote, text)
            span = None if found is None or found.how == "fuzzy" else found.span
            said.append(quote if span is None else text[span.start : span.end])
            starts.append(-1 if span is None else span.start)
        self._quotes += len(starts)
        self._made_up += starts.count(-1)
        return tuple(said), tuple(starts)

    @property
    def notes(self) -> list[str]:
        """The share of quotes that were made up, if there are any quotes."""
        if not self._quotes:
            return []
        share = self._made_up / self._quotes
        return [
            f"{self._made_up:,} of {self._quotes:,} quotes ({share:.1%}) are not in the text that"
            " they were said to be from"
        ]
