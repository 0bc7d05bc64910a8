"""A project's connection to its language models: egress, ledger, budget, and what was used."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pandas as pd

from metassay.errors import BadInput, Unfinished
from metassay.kinds import Chosen
from metassay.llm.batch import failure
from metassay.llm.budget import open_budget
from metassay.llm.client import asker, missing
from metassay.llm.egress import Cleared, check
from metassay.llm.endpoints import EndpointOptions, ModelOptions, Models, find_model
from metassay.llm.failures import Failure, can_ask, note, noted
from metassay.llm.ledger import Ledger
from metassay.llm.messages import Ask, ChatRequest, Reply
from metassay.llm.prompts import Decoding, load
from metassay.llm.responses import responses
from metassay.needs import Model, Resources, Use
from metassay.params import MaxCost
from metassay.parquet import empty
from metassay.tables import RESPONSES

LEDGER = Path(".work/ledger.sqlite")  # no out of DVC, which would delete it
ACCOUNT = "project"  # one cap, `max_cost`, over everything that a project ever asks

log = logging.getLogger("metassay.llm")


class Connection:
    """The way of one stage to the models that it asks; the ledger is opened with the first one."""

    def __init__(
        self,
        models: Models,
        max_cost: MaxCost | None,
        access: Mapping[str, str],
        datasets: Sequence[str],
        *,
        raw: Path = Path("data/raw"),
        ledger: Path = LEDGER,
    ) -> None:
        """Connect for text of `datasets`; `access` gives each registered dataset its class.

        `datasets` are the benchmark's own and those whose text its texts may repeat. `raw` has a
        folder of raw files per dataset.
        """
        self._models = models
        self._max_cost = max_cost
        self._access = access
        self._datasets = tuple(datasets)
        self._raw = raw
        self._path = ledger
        self._ledger: Ledger | None = None
        self._used: set[str] = set()
        self._failed: dict[str, Failure] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._ledger is not None:
            self._ledger.close()

    def provide(self, chosen: Chosen) -> Resources:
        """What a kind's record says that it needs: the raw files, and the model that it asks.

        Raises BadInput if there is no such model, or text of the benchmark or of the datasets that
        the kind reads may not go to its endpoint.
        """
        use = chosen.record.model(chosen.options)
        if use is None:
            return Resources(self._raw)
        return Resources(self._raw, self._model(use, chosen.record.datasets(chosen.options)))

    def responses(self) -> pd.DataFrame:
        """All that was asked here and what came of it, as table `responses`; empty if nothing."""
        if self._ledger is None or not self._used:
            return empty(RESPONSES)
        return responses(self._ledger, self._used, self._failed.values())

    def _model(self, use: Use, datasets: Sequence[str]) -> Model:
        """A model, whose `ask` stops the stage if what came must not be taken for done.

        Then, with everything that was answered in the ledger, it raises BadInput where the cap is
        reached, and Unfinished where the endpoint was down. Any other failure is a reply's status,
        and is asked again by the next run; where that cannot ask (failures.can_ask), it repeats it.
        """
        model = find_model(self._models, use.model)
        cleared = self._clear(model.endpoint, datasets)
        where = f"params.yaml > models > {use.model}"
        cap = cap_of(self._max_cost, model, where)
        ledger = self._ledger = self._ledger or Ledger(self._path)
        budget = open_budget(ledger, ACCOUNT, model, cap, where=where)
        ask = asker(cleared, model, ledger, budget)

        def noting(requests: Sequence[ChatRequest]) -> list[Reply]:
            replies = _ask_or_repeat(ask, ledger, cleared.options, requests)
            _check_finished(replies, use.model)
            self._note(ledger, requests, replies)
            return replies

        return Model(noting, Decoding.of(model, use.max_tokens))

    def _note(
        self, ledger: Ledger, requests: Sequence[ChatRequest], replies: Sequence[Reply]
    ) -> None:
        failed = {
            reply.key: Failure(reply.key, str(reply.error), request.canonical)
            for request, reply in zip(requests, replies, strict=True)
            if reply.status == "error"
        }
        note(ledger, failed.values())
        self._failed |= failed
        self._used.update(reply.key for reply in replies)

    def _clear(self, name: str, datasets: Sequence[str]) -> Cleared:
        endpoint = self._models.endpoints[name]
        problems: list[str] = []
        cleared = []
        for dataset in dict.fromkeys((*self._datasets, *datasets)):
            try:
                cleared.append(check(self._access_of(dataset), dataset, name, endpoint))
            except BadInput as error:
                problems += error.problems
        if problems:
            raise BadInput(problems)
        return cleared[0]

    def _access_of(self, dataset: str) -> str:
        if dataset not in self._access:
            raise BadInput(
                f"dataset {dataset!r} is not in data/registry.yaml, so nothing says where its text"
                f" may go; known: {', '.join(sorted(self._access))}; add an entry, or correct the"
                " name"
            )
        return self._access[dataset]


def model_problems(chosen: Chosen, models: Models, *, where: str) -> list[str]:
    """What is wrong with the model and the prompts that a kind needs: one line each."""
    problems: list[str] = []
    use = chosen.record.model(chosen.options)
    try:
        if use is not None:
            find_model(models, use.model)
    except BadInput as error:
        problems += error.problems
    for file in chosen.record.files(chosen.options):
        try:
            load(file.stem, file.parent)
        except BadInput as error:
            problems += error.problems
    return [f"{where}: {problem}" for problem in problems]


def cap_of(max_cost: MaxCost | None, model: ModelOptions, where: str) -> float | None:
    """The amount of max_cost; BadInput if the model's prices are in another currency."""
    if max_cost is None:
        return None
    if model.prices is not None and model.prices.currency != max_cost.currency:
        raise BadInput(
            f"{where} > prices > currency: {model.prices.currency}, but params.yaml > max_cost is"
            f" in {max_cost.currency}; give both in one currency"
        )
    return max_cost.amount


def _ask_or_repeat(
    ask: Ask, ledger: Ledger, endpoint: EndpointOptions, requests: Sequence[ChatRequest]
) -> list[Reply]:
    failed = noted(ledger, [request.key for request in requests])
    if not failed or can_ask(endpoint):
        return ask(requests)
    log.warning(
        "%d question(s) without an answer are not asked again: their endpoint has no key, or is"
        " not there. They keep the status that they had.",
        len(failed),
    )
    asked = iter(ask([request for request in requests if request.key not in failed]))
    return [
        failure(request.key, failed[request.key].code, attempts=0)
        if request.key in failed
        else next(asked)
        for request in requests
    ]


def _check_finished(replies: Sequence[Reply], model: str) -> None:
    open_ = missing(replies)
    total = len({reply.key for reply in replies})
    over = open_.get("over_budget", 0)
    if over:
        raise BadInput(
            f"model {model!r}: {over} of {total} answers are missing: asking for them could exceed"
            " params.yaml > max_cost, which caps all runs of this project together. Every answer so"
            " far is in the ledger. Raise max_cost and run again: only what is missing is asked."
            " `metassay cost` says what is left."
        )
    if "endpoint_down" in open_:
        raise Unfinished(
            f"model {model!r}: {sum(open_.values())} of {total} answers are missing: its endpoint"
            " failed too often in a row. Every answer so far is in the ledger. Run again when it is"
            " up: only what is missing is asked."
        )
