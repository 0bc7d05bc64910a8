"""Where a project's stages ask language models: egress, ledger, budget, and what was used."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pandas as pd

from metassay.contract import empty
from metassay.datasets.registry import Dataset, find, load_registry
from metassay.errors import BadInput, Unfinished
from metassay.llm.budget import open_budget
from metassay.llm.client import asker, missing
from metassay.llm.egress import Cleared, check
from metassay.llm.endpoints import EndpointOptions, ModelOptions, parse_models
from metassay.llm.exchange import Ask, ChatRequest, Reply
from metassay.llm.ledger import Ledger
from metassay.llm.project import ACCOUNT, LEDGER, find_model
from metassay.llm.prompts import Decoding
from metassay.llm.responses import responses
from metassay.params import Params
from metassay.tables import RESPONSES


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
    ) -> None:
        self.raw = raw
        self._params = params
        self._dataset = params.benchmarks[benchmark].dataset
        self._registry = registry
        self._path = ledger
        self._ledger: Ledger | None = None
        self._used: set[str] = set()

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
        reached, and Unfinished where the endpoint was down. Any other failure is a reply's status.
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
            replies = ask(requests)
            _check_finished(replies, name)
            self._used.update(reply.key for reply in replies if reply.status != "error")
            return replies

        return noting, Decoding.of(model, max_tokens)

    def responses(self) -> pd.DataFrame:
        """Every answer that was used here, as table `responses`; empty if nothing was asked."""
        if self._ledger is None or not self._used:
            return empty(RESPONSES)
        return responses(self._ledger, self._used)

    def _clear(self, name: str, endpoint: EndpointOptions, datasets: Sequence[str]) -> Cleared:
        registry = load_registry() if self._registry is None else dict(self._registry)
        problems: list[str] = []
        cleared = []
        for dataset in dict.fromkeys((self._dataset, *datasets)):
            try:
                access = find(registry, dataset).access
                cleared.append(check(access, dataset, name, endpoint))
            except BadInput as error:
                problems += error.problems
        if problems:
            raise BadInput(problems)
        return cleared[0]


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
    over, down = open_.get("over_budget", 0), open_.get("endpoint_down", 0)
    if over:
        raise BadInput(
            f"model {model!r}: {over} of {total} answers are missing, because asking for them could"
            " exceed params.yaml > max_cost; every answer so far is in the ledger: raise max_cost"
            " and run again, and only what is missing is asked (see metassay ledger stats)"
        )
    if down:
        raise Unfinished(
            f"model {model!r}: {down} of {total} answers are missing, because its endpoint failed"
            " too often in a row; every answer so far is in the ledger: run again when it is up,"
            " and only what is missing is asked"
        )
