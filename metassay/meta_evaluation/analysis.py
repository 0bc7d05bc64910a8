"""Define analyses: their tables, the functions that make them, and the texts of the page."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import pandas as pd

from metassay.core.options import Criterion
from metassay.executor.record import LOCAL, Executor
from metassay.meta_evaluation.exact_tests import StudyTests, run_tests
from metassay.meta_evaluation.layouts import NO_GROUPS, Groups
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import Better, Study, make_statement_study, studies
from metassay.statistics.limits import TEXTS
from metassay.tables.data_warnings import DataWarning
from metassay.tables.parquet import Table

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The data of all analyses; the studies' matrices and tests are computed once.

    `scores`, `ratings`: the tables of those names; `rubrics`: the table `criteria`,
    which only benchmarks have, as `statement_scores`; `better`: each metric's
    direction; `groups`: the user's labels of documents and systems. `progress` takes a
    table's name and returns a function that is called with (done, total) while the
    table is made; `note` takes notes on what is left out. `known_warnings`: what the
    reader of the files found. `tables`: the tables so far. `executor` computes
    resamples and permutations.
    """

    scores: pd.DataFrame
    ratings: pd.DataFrame
    criteria: Mapping[str, Criterion]
    better: Mapping[str, Better]
    options: MetaOptions
    rubrics: pd.DataFrame | None = None
    groups: Groups = NO_GROUPS
    statement_scores: pd.DataFrame | None = None
    progress: Callable[[str], Progress] | None = None
    note: Callable[[str], None] = lambda _: None
    known_warnings: Sequence[DataWarning] = ()
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    executor: Executor = LOCAL

    def watch(self, table: str) -> Progress | None:
        """Return the function that shows the table's progress, if there is one."""
        return self.progress(table) if self.progress is not None else None

    @cached_property
    def studies(self) -> list[Study]:
        """Studies of texts and of single statements, sorted by key."""
        digits, statements = self.options.digits, None
        result = studies(
            self.scores, self.ratings, self.criteria, self.better, self.groups, digits
        )
        if self.statement_scores is not None:
            statements = make_statement_study(
                self.statement_scores, self.ratings, self.groups
            )
        if statements is not None:
            scores, marked, better, groups = statements
            systems, n = marked["author"].nunique(), marked["doc_id"].nunique()
            if systems * n > TEXTS:
                self.note(
                    f"{n:,} statements by {systems:,} systems are marked; the limit is"
                    f" {TEXTS // systems:,}. They are not tested by themselves: mark fewer"
                )
            else:
                result += studies(scores, marked, self.criteria, better, groups, digits)
        return sorted(result, key=lambda study: tuple(study.key.values()))

    @cached_property
    def tests(self) -> list[StudyTests]:
        """The studies with each metric's correlations, leave-outs and exact tests."""
        progress = self.watch("tests")
        return run_tests(
            self.studies, self.options, progress=progress, executor=self.executor
        )


class Analysis(NamedTuple):
    """Tables that are made together; none where the evaluation lacks their data.

    `heading` and `says`, paragraphs with an empty line between them, are what a page
    says of them.
    """

    tables: tuple[Table, ...]
    make: Callable[[Evaluation], Iterable[pd.DataFrame]]
    heading: str = ""
    says: str = ""
