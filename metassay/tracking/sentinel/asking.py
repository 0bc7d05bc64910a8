"""Asking a judge past the ledger: each answer is fresh, and is kept all the same.

The money is of an account of its own, with its own cap.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pandas as pd

from metassay.core.errors import BadInput
from metassay.core.kinds import Chosen, choose
from metassay.core.options import PARAMS
from metassay.core.params import Folder, Params
from metassay.datasets.clearance import open_session
from metassay.judges import JUDGES
from metassay.judges.make import instruments_of, make_judge
from metassay.judges.problems import asking, released
from metassay.judges.protocol import Judge
from metassay.judges.run import judge_pairs
from metassay.llm.budget import Spending
from metassay.llm.session import Session
from metassay.tracking.options import sentinel_options


@dataclass(frozen=True)
class Desk:
    """Where one judge can be asked, once or again and again."""

    name: str
    judge: Judge
    chosen: Chosen
    session: Session

    def ask(self, pairs: pd.DataFrame, salt: int) -> pd.DataFrame:
        """Table `judgments` of these pairs; `salt` tells this time from others (0: as in a run)."""
        self.session.repeat = salt
        instruments = instruments_of(self.chosen)
        size = self.chosen.record.batch
        return judge_pairs(pairs, self.name, self.judge, instruments, batch=size)

    @property
    def spent(self) -> Spending:
        """What was paid so far."""
        return self.session.spent


def chosen_judge(params: Params, name: str) -> Chosen:
    """The judge of a block of params.yaml; BadInput if there is none, or it asks no model."""
    where = f"{PARAMS} > judges > {name}"
    if name not in params.judges:
        known = ", ".join(sorted(params.judges))
        raise BadInput(f"{PARAMS} > judges: has no {name!r}; there are: {known}")
    chosen = choose(JUDGES, params.judges[name], where=where)
    if not asking(chosen):
        raise BadInput(
            f"{where}: asks no language model behind an endpoint. What answers on this machine"
            " gives the same answer to the same question until its code or model changes, and a run"
            " notices that: it needs no sentinel"
        )
    return chosen


@contextmanager
def desk(
    params: Params, benchmark: Folder, name: str, texts: pd.DataFrame, account: str
) -> Iterator[Desk]:
    """Make the judge `name`, for these rows of `pairs`.

    Raises BadInput where it is none that asks, its models or prompts are not sound, or the texts
    may not go where it would send them. Nothing is sent yet.
    """
    chosen = chosen_judge(params, name)
    repeated = {one for names in texts["repeats"].unique() for one in names.split()}
    repeated.update(released(benchmark, params.decompositions))
    cap = sentinel_options(params).max_cost
    with open_session(
        params, benchmark, chosen, repeated, account=account, max_cost=cap
    ) as session:
        yield Desk(name, make_judge(chosen, session.provide), chosen, session)
