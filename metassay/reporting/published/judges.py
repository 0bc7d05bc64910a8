"""Our judges' accuracy beside what a paper printed for its evaluators.

The tests are other ones or other items, so the two stand side by side and are not
subtracted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import pandas as pd

from metassay.format.frames import rows
from metassay.format.prose import join_lines
from metassay.labelled.results import Cards
from metassay.reporting.contract import CellInfo
from metassay.reporting.page import ExtraTables
from metassay.reporting.published.printed import read_all
from metassay.reporting.table_words import TableWords

COLUMNS = ("judge", "source", "column", "value", "low", "high", "n")


@dataclass(frozen=True, kw_only=True)
class JudgeComparison:
    """Printed accuracies of evaluators.

    Parameters
    ----------
    title
        The paper and the table.
    files
        Files of `reports/published/`.
    says
        What is compared with what. Line breaks count as blanks.
    statistic
        The statistic of a judge's card that is like the printed one.
    sets
        The subsets of our test that a printed data set is made of; the accuracy is the
        plain mean over them. Empty: the print stands beside all items of our test,
        which are others.
    """

    title: str
    files: Sequence[str]
    says: str
    statistic: str
    sets: Mapping[str, Sequence[str]] | None = None

    def add_to(
        self, compared: ExtraTables, name: str, folder: Path, cards: Cards
    ) -> None:
        """Add a table with COLUMNS, values from 0 to 1: ours, then the printed ones."""
        printed = read_all(folder, self.files)
        accuracies = [*self._ours(cards), *_read_accuracies(printed)]
        frame = pd.DataFrame(accuracies, columns=list(COLUMNS))
        real = dict.fromkeys(("value", "low", "high"), "float64")
        table = f"published_{name}"
        compared.tables[table] = frame.astype({**real, "n": "Int64"})
        says = [f"{self.title}. {join_lines(self.says)}", _SAYS]
        compared.words[table] = replace(_WORDS, says="\n\n".join(says))

    def _ours(self, cards: Cards) -> Iterator[list[object]]:
        sets = self.sets
        if sets is None:
            sets = {"accuracy": () if cards.pooled is None else (cards.pooled,)}
        judges = sorted({judge for _, judge in cards.whole})
        for (column, studies), judge in product(sets.items(), judges):
            of_judge = [cards.whole.get((study, judge), {}) for study in studies]
            numbers = [
                card[self.statistic] for card in of_judge if self.statistic in card
            ]
            values = [row["value"] for row in numbers]
            if not numbers or len(numbers) < len(studies) or None in values:
                continue
            # The mean over several sets has no interval.
            low = numbers[0]["low"] if len(numbers) == 1 else None
            high = numbers[0]["high"] if len(numbers) == 1 else None
            n = sum(row["n"] for row in numbers)
            source = "ours, rater" if judge in cards.raters else "ours"
            mean = sum(values) / len(values)
            yield [judge, source, column, mean, low, high, n]


def _read_accuracies(printed: pd.DataFrame) -> Iterator[list[object]]:
    columns = ("dataset", "system_or_metric", "setting", "quantity", "value")
    for dataset, system, setting, quantity, value in rows(printed, *columns):
        if not value or quantity == "test set size":
            continue
        judge = ", ".join(filter(None, (system, setting)))
        column = "accuracy" if dataset == "ACI-BENCH" else dataset
        accuracy = round(float(value) / 100, 6)
        yield [judge, "printed", column, accuracy, None, None, None]


_SAYS = (
    "Our judges stand beside what a paper printed for its own; nothing is tuned to "
    "agree. Ours have intervals, which the paper doesn’t give."
)
_WORDS = TableWords(
    group="Published numbers",
    title="Published numbers",
    lead=("judge", "source"),
    pick=(),
    across="column",
    cell=CellInfo(value="value", low="low", high="high", n="n"),
    columns={
        "source": "whose number it is",
        "column": "the printed column",
        "value": "the number, 0 to 1",
        "n": "items that ours rests on",
    },
)
