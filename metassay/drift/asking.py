"""Asking a judge past the ledger: each answer is fresh, and is kept all the same.

What may go where is decided as in a run (stages/connect.py): by the access class of all datasets
whose text the questions may repeat. The money is of an account of its own, with its own cap.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from metassay.datasets.labels import label_problems
from metassay.datasets.registry import RAW, load_registry
from metassay.drift.record import settings
from metassay.errors import BadInput
from metassay.judges import JUDGES
from metassay.judges.make import instruments_of, make_judge
from metassay.judges.problems import asking, released
from metassay.judges.protocol import Judge
from metassay.judges.run import judge_pairs
from metassay.kinds import Chosen, choose
from metassay.llm.budget import Spending, open_budget, spending
from metassay.llm.client import asker
from metassay.llm.connection import LEDGER
from metassay.llm.egress import check_all
from metassay.llm.endpoints import find_model, parse_models
from metassay.llm.ledger import Ledger
from metassay.llm.messages import Ask, ChatRequest, Reply
from metassay.llm.prompts import Decoding
from metassay.needs import Model, Resources, all_datasets
from metassay.options import PARAMS
from metassay.params import Folder, Params


@dataclass(frozen=True)
class Desk:
    """Where one judge can be asked, once or again and again."""

    name: str
    judge: Judge
    chosen: Chosen
    ledger: Ledger
    account: str
    salt: list[int]  # the one that is in use

    def ask(self, pairs: pd.DataFrame, salt: int) -> pd.DataFrame:
        """Table `judgments` of these pairs; `salt` tells this time from others (0: as in a run)."""
        self.salt[0] = salt
        instruments = instruments_of(self.chosen)
        size = self.chosen.record.batch
        return judge_pairs(pairs, self.name, self.judge, instruments, batch=size)

    @property
    def spent(self) -> Spending:
        """What was paid so far."""
        return spending(self.ledger, self.account)


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
    registry = load_registry()
    repeated = {one for names in texts["repeats"].unique() for one in names.split()}
    repeated |= {benchmark.dataset, *released(benchmark, params.decompositions)}
    shown = [(one, RAW / one) for one in all_datasets([chosen])]
    read = [(benchmark.dataset, Path(benchmark.raw)), *shown]
    problems = label_problems(registry, sorted(repeated), read)
    if problems:
        raise BadInput(problems)
    access = {one: dataset.access for one, dataset in registry.items()}
    models = parse_models(params.endpoints, params.models)
    salt = [0]
    with Ledger(LEDGER) as ledger:

        def provide(one: Chosen) -> Resources:
            use = one.record.model(one.options)
            if use is None:
                return Resources(RAW)
            model = find_model(models, use.model)
            datasets = sorted({*repeated, *one.record.datasets(one.options)})
            endpoint = models.endpoints[model.endpoint]
            cleared = check_all(access, datasets, model.endpoint, endpoint)
            cap = None if model.prices is None else settings(params).max_cost
            where = f"{PARAMS} > models > {use.model}"
            budget = open_budget(ledger, account, model, cap, where=where)
            ask = _fresh(asker(cleared, model, ledger, budget), salt)
            return Resources(RAW, Model(ask, Decoding.of(model, use.max_tokens)))

        yield Desk(name, make_judge(chosen, provide), chosen, ledger, account, salt)


def _fresh(ask: Ask, salt: list[int]) -> Ask:
    """Ask what is asked as questions of their own, which the ledger has not answered before."""

    def asked(requests: Sequence[ChatRequest]) -> list[Reply]:
        replies = ask([replace(one, repeat=salt[0] + one.repeat) for one in requests])
        # Who asks knows the questions as they were.
        return [reply._replace(key=one.key) for one, reply in zip(requests, replies, strict=True)]

    return asked
