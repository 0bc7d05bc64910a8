"""What an analysis is: its tables, what makes them, and what the page says of them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import pandas as pd

from metassay.core.options import Criterion
from metassay.executor.record import LOCAL, Executor
from metassay.meta_evaluation.exact_tests import StudyTests, run_tests
from metassay.meta_evaluation.layouts import NO_GROUPS, Groups
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.statements import by_statement
from metassay.meta_evaluation.study import Better, Study, studies
from metassay.statistics.limits import TEXTS
from metassay.tables.parquet import Table

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What analyses start from; studies' matrices and the tests on them are made once for all.

    `scores`, `ratings`: the tables of those names; `rubrics`: the table `criteria`, of benchmarks
    alone, as is `statement_scores`; `better`: each metric's direction; `groups`: which documents
    and systems belong together, as far as the user knows. `progress` gets a table's name and
    returns what is called with (done, total) while it is made; `note` gets what was left out.
    `tables`: the tables so far. `executor`: who draws resamples and permutations.
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
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    executor: Executor = LOCAL

    def watch(self, table: str) -> Progress | None:
        """What is called while the table is made."""
        return self.progress(table) if self.progress is not None else None

    @cached_property
    def studies(self) -> list[Study]:
        """Matrices of people's and metrics' scores, of texts and of single statements."""
        digits, statements = self.options.digits, None
        if self.statement_scores is not None:
            statements = by_statement(self.statement_scores, self.ratings, self.groups)
        marked = statements.ratings if statements else self.ratings[:0]
        systems, n = marked["author"].nunique(), marked["doc_id"].nunique()
        if systems * n > TEXTS:
            self.note(
                f"{n:,} statements by {systems:,} systems are marked; the most are"
                f" {TEXTS // systems:,}. They are not tested by themselves: mark fewer"
            )
            statements = None
        known = self.better, self.groups, digits
        found = studies(self.scores, self.ratings, self.criteria, *known)
        if statements is not None:
            scores, ratings, better, groups = statements
            found += studies(scores, ratings, self.criteria, better, groups, digits)
        return sorted(found, key=lambda study: tuple(study.key.values()))

    @cached_property
    def tests(self) -> list[StudyTests]:
        """The same with each metric's correlations, leave-outs and exact tests."""
        watched = self.watch("tests")
        return run_tests(self.studies, self.options, progress=watched, executor=self.executor)


class Page(NamedTuple):
    """What pages say of an analysis: the heading of its tables, and how to read them."""

    heading: str
    says: str = ""  # paragraphs, with an empty line between them


class Analysis(NamedTuple):
    """Tables that are made together; none where the evaluation lacks what they are made of."""

    tables: tuple[Table, ...]
    make: Callable[[Evaluation], Iterable[pd.DataFrame]]
    page: Page = Page("")
