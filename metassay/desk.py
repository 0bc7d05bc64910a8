"""Where a project's stages ask language models: egress, ledger, budget, and what was used."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pandas as pd

from metassay.datasets.registry import Dataset, find, load_registry
from metassay.errors import BadInput, Unfinished
from metassay.llm.batch import failure
from metassay.llm.budget import open_budget
from metassay.llm.client import asker, missing
from metassay.llm.egress import Cleared, check, datasets_of
from metassay.llm.endpoints import EndpointOptions, ModelOptions, parse_models
from metassay.llm.failures import Failure, can_ask, note, noted
from metassay.llm.ledger import Ledger
from metassay.llm.messages import Ask, ChatRequest, Reply
from metassay.llm.project import ACCOUNT, LEDGER, find_model
from metassay.llm.prompts import Decoding
from metassay.llm.responses import responses
from metassay.params import Params
from metassay.parquet import empty
from metassay.tables import RESPONSES

log = logging.getLogger("metassay.llm")


class ProjectDesk:
    """The models of params.yaml, for one benchmark; the ledger is opened with the first of them."""

    def __init__(
        self,
        params: Params,
        benchmark: str,
        *,
        raw: Path = Path("data/raw"),
        registry: Mapping[str, Dataset] | None = None,
        ledger: Path = LEDGER,
        datasets: Sequence[str] = (),
    ) -> None:
        """A desk for one benchmark; `datasets` are further ones whose text its texts may repeat."""
        self.raw = raw
        self._params = params
        self._datasets = (params.benchmarks[benchmark].dataset, *datasets)
        self._registry = registry
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

    def model(
        self, name: str, max_tokens: int | None, datasets: Sequence[str] = ()
    ) -> tuple[Ask, Decoding]:
        """See llm.project.Desk; what is asked stops the stage if it must not be taken for done.

        Then, with everything that was answered in the ledger, it raises BadInput where the cap is
        reached, and Unfinished where the endpoint was down. Any other failure is a reply's status,
        and is asked again by the next run; where that cannot ask (failures.can_ask), it repeats it.
        """
        params = self._params
        models = parse_models(params.endpoints, params.models)
        model = find_model(models, name)
        cleared = self._clear(model.endpoint, models.endpoints[model.endpoint], datasets)
        where = f"params.yaml > models > {name}"
        cap = cap_of(params, model, where)
        self._ledger = self._ledger or Ledger(self._path)
        budget = open_budget(self._ledger, ACCOUNT, model, cap, where=where)
        ask = asker(cleared, model, self._ledger, budget)

        def noting(requests: Sequence[ChatRequest]) -> list[Reply]:
            replies = self._ask_or_repeat(ask, cleared.options, requests)
            _check_finished(replies, name)
            self._note(requests, replies)
            return replies

        return noting, Decoding.of(model, max_tokens)

    def responses(self) -> pd.DataFrame:
        """All that was asked here and what came of it, as table `responses`; empty if nothing."""
        if self._ledger is None or not self._used:
            return empty(RESPONSES)
        return responses(self._ledger, self._used, self._failed.values())

    def _ask_or_repeat(
        self, ask: Ask, endpoint: EndpointOptions, requests: Sequence[ChatRequest]
    ) -> list[Reply]:
        assert self._ledger is not None
        failed = noted(self._ledger, [request.key for request in requests])
        if not failed or can_ask(endpoint):
            return ask(requests)
        log.warning(
            "%d question(s) without an answer are not asked again, because their endpoint has no"
            " key or is not there; they keep the status that they had",
            len(failed),
        )
        asked = iter(ask([request for request in requests if request.key not in failed]))
        return [
            failure(request.key, failed[request.key].code, attempts=0)
            if request.key in failed
            else next(asked)
            for request in requests
        ]

    def _note(self, requests: Sequence[ChatRequest], replies: Sequence[Reply]) -> None:
        assert self._ledger is not None
        failed = {
            reply.key: Failure(reply.key, str(reply.error), request.canonical)
            for request, reply in zip(requests, replies, strict=True)
            if reply.status == "error"
        }
        note(self._ledger, failed.values())
        self._failed |= failed
        self._used.update(reply.key for reply in replies)

    def _clear(self, name: str, endpoint: EndpointOptions, datasets: Sequence[str]) -> Cleared:
        registry = load_registry() if self._registry is None else dict(self._registry)
        problems: list[str] = []
        cleared = []
        for dataset in dict.fromkeys((*self._datasets, *datasets)):
            try:
                access = find(registry, dataset).access
                cleared.append(check(access, dataset, name, endpoint))
            except BadInput as error:
                problems += error.problems
        if problems:
            raise BadInput(problems)
        return cleared[0]


def shown_datasets(params: Params, benchmark: str) -> list[str]:
    """Datasets of the examples that systems of a benchmark are shown: their texts may repeat them.

    Whoever sends such texts on clears these datasets as well.
    """
    systems = {e.system for e in params.generating.values() if e.benchmark == benchmark}
    return datasets_of(
        str(name) for system in systems for name in params.systems[system].get("examples", ())
    )


def cap_of(params: Params, model: ModelOptions, where: str) -> float | None:
    """The amount of max_cost; BadInput if the model's prices are in another currency."""
    cap = params.max_cost
    if cap is None:
        return None
    if model.prices is not None and model.prices.currency != cap.currency:
        raise BadInput(
            f"{where} > prices > currency: {model.prices.currency}, but params.yaml > max_cost is"
            f" in {cap.currency}; give both in one currency"
        )
    return cap.amount


def _check_finished(replies: Sequence[Reply], model: str) -> None:
    open_ = missing(replies)
    total = len({reply.key for reply in replies})
    over = open_.get("over_budget", 0)
    if over:
        raise BadInput(
            f"model {model!r}: {over} of {total} answers are missing, because asking for them could"
            " exceed params.yaml > max_cost, which caps all runs of this project together; every"
            " answer so far is in the ledger: raise max_cost and run again, and only what is"
            " missing is asked (metassay cost says what is left)"
        )
    if "endpoint_down" in open_:
        raise Unfinished(
            f"model {model!r}: {sum(open_.values())} of {total} answers are missing, because its"
            " endpoint failed too often in a row; every answer so far is in the ledger: run again"
            " when it is up, and only what is missing is asked"
        )
