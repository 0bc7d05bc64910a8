"""A project's connection to its language models: egress, ledger, budget, and what was used."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import pandas as pd

from metassay.errors import BadInput, Unfinished
from metassay.kinds import Chosen
from metassay.llm.batch import failure
from metassay.llm.budget import open_budget
from metassay.llm.client import asker
from metassay.llm.egress import Cleared, check_all
from metassay.llm.endpoints import EndpointOptions, ModelOptions, Models, find_model
from metassay.llm.failures import Failure, can_ask, note, noted
from metassay.llm.ledger import Ledger
from metassay.llm.limits import Policy
from metassay.llm.messages import ChatRequest, Reply
from metassay.llm.missing import kept, mendable, missing, unfinished
from metassay.llm.prompts import Decoding, load
from metassay.llm.responses import responses
from metassay.needs import Model, Resources, Use
from metassay.params import MaxCost
from metassay.parquet import empty
from metassay.tables.responses import RESPONSES

LEDGER = Path(".work/ledger.sqlite")  # no out of DVC, which would delete it
ACCOUNT = "project"  # one cap, `max_cost`, over everything that a project ever asks
SENTINEL = "sentinel"  # begins the names of accounts that have a cap of their own (metassay/drift/)

log = logging.getLogger("metassay.llm")


class Asked(NamedTuple):
    """What a stage asked and what came of it: table `responses`, and what is missing, in words."""

    responses: pd.DataFrame
    notes: list[str]


class Connection:
    """The way of one stage to the models that it asks; the ledger is opened with the first one."""

    def __init__(  # noqa: PLR0913 - one for each thing that a stage or a command says
        self,
        models: Models,
        max_cost: MaxCost | None,
        access: Mapping[str, str],
        datasets: Sequence[str],
        *,
        max_missing: float = 0.0,
        raw: Path = Path("data/raw"),
        ledger: Path = LEDGER,
        policy: Policy | None = None,
    ) -> None:
        """Connect for text of `datasets`; `access` gives each registered dataset its class.

        `datasets` are the benchmark's own and those whose text its texts may repeat. `raw` has a
        folder of raw files per dataset. `max_missing` is the share of the questions that may stay
        without an answer that asking again might get.
        """
        self._models = models
        self._max_cost = max_cost
        self._access = access
        self._datasets = tuple(datasets)
        self._max_missing = max_missing
        self._raw = raw
        self._path = ledger
        self._policy = policy
        self._ledger: Ledger | None = None
        self._asked: dict[str, str] = {}  # the model's name in params.yaml, by question
        self._failed: dict[str, Failure] = {}
        self._repeated: set[str] = set()  # failures of a finished run, where none can be asked

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

    def finish(self) -> Asked:
        """All that was asked, once nothing more is to be; empty if nobody was.

        A question without an answer is a row of status `error`, and noted in the ledger as part of
        what the run came to. Raises Unfinished, and notes nothing, where more of the answers are
        missing than `max_missing` allows. Where nobody can be asked (failures.can_ask), what is
        missing of a finished run stays missing.
        """
        if self._ledger is None or not self._asked:
            return Asked(empty(RESPONSES), [])
        codes = {key: failure.code for key, failure in self._failed.items()}
        found = missing(self._asked, codes)
        open_ = {key for key, code in codes.items() if mendable(code)}
        if open_ - self._repeated and len(open_) / len(self._asked) > self._max_missing:
            raise Unfinished(unfinished(found, self._max_missing))
        note(self._ledger, self._failed.values())
        table = responses(self._ledger, self._asked, self._failed.values())
        return Asked(table, kept(found))

    def _model(self, use: Use, datasets: Sequence[str]) -> Model:
        """A model, whose `ask` raises BadInput where the cap is reached.

        Everything that was answered is in the ledger then. A question without an answer is a
        reply's status, and `finish` says whether the stage may go on without it.
        """
        model = find_model(self._models, use.model)
        cleared = self._clear(model.endpoint, datasets)
        where = f"params.yaml > models > {use.model}"
        cap = cap_of(self._max_cost, model, where)
        ledger = self._ledger = self._ledger or Ledger(self._path)
        budget = open_budget(ledger, ACCOUNT, model, cap, where=where)
        ask = asker(cleared, model, ledger, budget, self._policy)

        def keeping(requests: Sequence[ChatRequest]) -> list[Reply]:
            repeated = _repeated(ledger, cleared.options, requests)
            asked = iter(ask([request for request in requests if request.key not in repeated]))
            replies = [
                failure(request.key, repeated[request.key].code, attempts=0)
                if request.key in repeated
                else next(asked)
                for request in requests
            ]
            _check_cap(replies, use.model)
            self._repeated |= repeated.keys()
            for request, reply in zip(requests, replies, strict=True):
                self._asked[reply.key] = use.model
                if reply.status == "error":
                    code = str(reply.error)
                    self._failed[reply.key] = Failure(reply.key, code, request.canonical)
            return replies

        return Model(keeping, Decoding.of(model, use.max_tokens))

    def _clear(self, name: str, datasets: Sequence[str]) -> Cleared:
        needed = (*self._datasets, *datasets)
        return check_all(self._access, needed, name, self._models.endpoints[name])


def model_problems(chosen: Chosen, models: Models, *, where: str) -> list[str]:
    """What is wrong with the models and prompts that a kind and its members need: one line each."""
    problems: list[str] = []
    members: Mapping[str, Chosen] = {}
    use = chosen.record.model(chosen.options)
    try:
        if use is not None:
            find_model(models, use.model)
    except BadInput as error:
        problems += [f"{where}: {problem}" for problem in error.problems]
    for file in chosen.record.files(chosen.options):
        if file.filled is None:
            continue
        try:
            load(file.path.stem, file.path.parent, filled=file.filled)
        except BadInput as error:
            problems += [f"{where}: {problem}" for problem in error.problems]
    try:
        members = chosen.record.members(chosen.options)
    except BadInput as error:
        problems += [f"{where} > {problem}" for problem in error.problems]
    for name, member in members.items():
        problems += model_problems(member, models, where=f"{where} > members > {name}")
    return problems


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


def _repeated(
    ledger: Ledger, endpoint: EndpointOptions, requests: Sequence[ChatRequest]
) -> dict[str, Failure]:
    """Which failures of a finished run stay what they are, since nobody can be asked."""
    failed = noted(ledger, [request.key for request in requests])
    if not failed or can_ask(endpoint):
        return {}
    log.warning(
        "%d question(s) without an answer are not asked again: their endpoint has no key, or is"
        " not there. They keep the status that they had.",
        len(failed),
    )
    return failed


def _check_cap(replies: Sequence[Reply], model: str) -> None:
    over = {reply.key for reply in replies if reply.error == "over_budget"}
    if over:
        raise BadInput(
            f"model {model!r}: {len(over)} of {len({reply.key for reply in replies})} answers are"
            " missing: asking for them could exceed params.yaml > max_cost, which caps all runs of"
            " this project together. Every answer so far is in the ledger. Raise max_cost and run"
            " again: only what is missing is asked. `metassay cost` says what is left."
        )
