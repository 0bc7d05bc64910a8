"""A session with language models: clearance, account and ledger of all questions.

Stages, the sentinel and `metassay probe` ask through a session; that of `metassay
ledger cost` answers from the ledger alone. Only this folder clears text and opens
budgets.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, Self

import pandas as pd

from metassay.core.errors import BadInput, Unfinished, collect_problems
from metassay.core.kinds import Chosen
from metassay.core.params import MaxCost
from metassay.llm.budget import (
    Estimate,
    Spending,
    booked_cost,
    estimate,
    open_budget,
    spending,
)
from metassay.llm.client import asker, replayer
from metassay.llm.endpoints import (
    Cleared,
    EndpointOptions,
    ModelOptions,
    Models,
    can_ask,
    clear,
    find_model,
    sends_schemas,
)
from metassay.llm.ledger import Failure, Ledger, responses
from metassay.llm.limits import Policy
from metassay.llm.messages import (
    IN_BATCH,
    Ask,
    ChatRequest,
    Reply,
    failure,
    is_retryable,
    missing_notes,
    unfinished_message,
)
from metassay.llm.needs import Model, Requests, Resources, Use
from metassay.llm.prompts import Decoding, load
from metassay.tables.parquet import empty
from metassay.tables.responses import RESPONSES

LEDGER = Path(".work/ledger.sqlite")  # not an out of DVC, which would delete it
# its cap, `max_cost`, is for all questions that a project ever asks
ACCOUNT = "project"
SENTINEL = "sentinel"  # the prefix of accounts with separate caps

log = logging.getLogger("metassay.llm")


class Answers(NamedTuple):
    """The answers of a stage, as table `responses`, and notes about missing ones."""

    responses: pd.DataFrame
    notes: list[str]


@dataclass
class Session:
    """Gives a stage or command access to the models that it asks.

    It is for text of `datasets`: that of the benchmark, and those whose text its texts
    may repeat. `access` has the class of each registered dataset, `raw` a folder of raw
    files for each. `max_cost` caps the account; a plain number is in the currency of
    each model's prices. Questions on ACCOUNT are part of a run: `max_missing` is the
    share that may lack answers that asking again might get. On other accounts a missing
    answer only has a status. `dry`: no model is asked; other answers than the ledger's
    are `not_in_ledger`. `alone`: no batches, as always on other accounts.

    `repeat` is added to that of each question. With a new number, the ledger has no
    answer yet, so the model answers again, and the answer is stored. Replies have the
    original questions' keys.
    """

    models: Models
    max_cost: MaxCost | float | None
    access: Mapping[str, str]
    datasets: Sequence[str]
    _: KW_ONLY
    account: str = ACCOUNT
    dry: bool = False
    max_missing: float = 0.0
    raw: Path = Path("data/raw")
    ledger: Path = LEDGER
    policy: Policy | None = None
    repeat: int = 0
    alone: bool = False

    def __post_init__(self) -> None:
        self._opened: Ledger | None = None
        # the model's name in params.yaml, by question
        self._models: dict[str, str] = {}
        self._failures: dict[str, Failure] = {}
        # failures of a finished run that cannot be asked again
        self._repeated: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._opened is not None:
            self._opened.close()

    @property
    def spent(self) -> Spending:
        """The state of the account."""
        return spending(self._ledger, self.account)

    def booked(self, key: str) -> float:
        """Return the cost of all attempts at a question, in the currency of their account."""
        return booked_cost(self._ledger, key)

    def provide(self, chosen: Chosen) -> Resources:
        """Return the resources that a kind's record needs: raw files, and the model that it asks.

        BadInput: no such model, or text may not go to its endpoint; later, a run is at
        `max_cost`.
        """
        use = chosen.record.model(chosen.options)
        if use is None:
            return Resources(self.raw)
        datasets = chosen.record.datasets(chosen.options)
        return Resources(self.raw, self.open_model(use, datasets))

    def open_model(self, use: Use, datasets: Sequence[str] = ()) -> Model:
        """Return a model that is asked about the session's texts and those of `datasets`.

        Raises BadInput as `provide`.
        """
        return Model(self._asker(use.model, datasets), self.decoding(use))

    def decoding(self, use: Use) -> Decoding:
        """Return the decoding of a model; BadInput if there is no such model."""
        return Decoding.choose(find_model(self.models, use.model), use.max_tokens)

    def refusals(self, model: str, datasets: Sequence[str]) -> list[str]:
        """List the reasons why the session's or these datasets' text may not go to a model."""
        problems: list[str] = []
        with collect_problems(problems):
            self._clear(model, datasets)
        return problems

    def estimate(self, use: Use, needs: Requests, lengths: Sequence[float]) -> Estimate:
        """Estimate open questions and their cost; `lengths`: tokens of each answer's subject."""
        model = find_model(self.models, use.model)
        if model.prices and model.asked_in_batches(
            self.models.endpoints[model.endpoint]
        ):
            model = model.model_copy(update={"prices": model.prices.batch_prices})
        mean = sum(lengths) / len(lengths) if lengths else 0.0
        return estimate(
            needs.requests,
            self._ledger,
            model,
            structured=sends_schemas(self.models.endpoints[model.endpoint], model),
            completion_tokens=min(
                mean * needs.answer_length, use.max_tokens or model.max_tokens
            ),
            most=needs.most,
            longer=needs.longer,
        )

    def finish(self) -> Answers:
        """Return the answers to all questions; empty if there were none.

        A question without an answer is a row of status `error`, and noted in the
        ledger. Raises Unfinished, and notes nothing, if more answers are missing than
        `max_missing` allows, or if a batch has not ended. If the endpoint cannot be
        asked (`can_ask`), answers that were missing in a finished run stay missing.
        """
        if not self._models:
            return Answers(empty(RESPONSES), [])
        codes = {key: failure.code for key, failure in self._failures.items()}
        open_ = {key for key, code in codes.items() if is_retryable(code)}
        batched = [key for key, code in codes.items() if code == IN_BATCH]
        unfinished = unfinished_message(self._models, codes, self.max_missing)
        if batched:
            progress = self._ledger.describe_open_batches(batched)
            raise Unfinished(progress or unfinished)
        if open_ - self._repeated and len(open_) / len(self._models) > self.max_missing:
            raise Unfinished(unfinished)
        self._ledger.note_failures(self._failures.values())
        table = responses(self._ledger, self._models, self._failures.values())
        return Answers(table, missing_notes(self._models, codes))

    @property
    def _ledger(self) -> Ledger:  # which is opened at the first use
        self._opened = self._opened or Ledger(self.ledger)
        return self._opened

    def _asker(self, name: str, datasets: Sequence[str]) -> Ask:
        if self.dry:
            return replayer(self._ledger)
        model = find_model(self.models, name)
        cleared = self._clear(name, datasets)
        where = f"params.yaml > models > {name}"
        cap = cap_of(self.max_cost, model, where)
        budget = open_budget(self._ledger, self.account, model, cap, where=where)
        batches = self.account == ACCOUNT and not self.alone
        ask_model = asker(
            cleared, model, self._ledger, budget, self.policy, batches=batches
        )
        ask = partial(self._ask_repeated, ask_model)
        if self.account != ACCOUNT:
            return ask
        return partial(self._ask_in_run, ask, name, cleared.options)

    def _clear(self, model: str, datasets: Sequence[str]) -> Cleared:
        name = find_model(self.models, model).endpoint
        all_ = (*self.datasets, *datasets)
        return clear(self.access, all_, name, self.models.endpoints[name])

    def _ask_repeated(self, ask: Ask, requests: Sequence[ChatRequest]) -> list[Reply]:
        if not self.repeat:  # else all keys would be computed twice
            return ask(requests)
        repeated = [
            replace(request, repeat=self.repeat + request.repeat)
            for request in requests
        ]
        replies = zip(requests, ask(repeated), strict=True)
        return [reply._replace(key=request.key) for request, reply in replies]

    def _ask_in_run(
        self,
        ask: Ask,
        name: str,
        endpoint: EndpointOptions,
        requests: Sequence[ChatRequest],
    ) -> list[Reply]:
        """Ask, and note questions for `finish`; without a key, failures of a finished run stay."""
        failures = self._ledger.failures([request.key for request in requests])
        if failures and can_ask(endpoint):
            failures = {}
        elif failures:
            log.warning(
                "%d question(s) without an answer are not asked again: their endpoint has no key,"
                " or is not there. They keep the status that they had.",
                len(failures),
            )
        answers = iter(
            ask([request for request in requests if request.key not in failures])
        )
        replies = [
            failure(key, failures[key].code)
            if (key := request.key) in failures
            else next(answers)
            for request in requests
        ]
        _check_cap(replies, name)
        self._repeated |= failures.keys()
        for request, reply in zip(requests, replies, strict=True):
            self._models[reply.key] = name
            if reply.status == "error":
                code = str(reply.error)
                self._failures[reply.key] = Failure(reply.key, code, request.canonical)
        return replies


def model_problems(chosen: Chosen, models: Models, *, where: str) -> list[str]:
    """List the problems of the models and prompts that a kind and its members need."""
    record = chosen.record
    options = chosen.options
    problems: list[str] = []
    if (use := record.model(options)) is not None:
        with collect_problems(problems, f"{where}: "):
            find_model(models, use.model)
    for path, filled in record.files(options):
        if filled is not None:
            with collect_problems(problems, f"{where}: "):
                load(path.stem, path.parent, filled=filled)
    members: Mapping[str, Chosen] = {}
    with collect_problems(problems, f"{where} > "):
        members = record.members(options)
    for name, member in members.items():
        problems += model_problems(member, models, where=f"{where} > members > {name}")
    return problems


def cap_of(
    max_cost: MaxCost | float | None, model: ModelOptions, where: str
) -> float | None:
    """Return the amount of max_cost; BadInput if the model's prices are in another currency."""
    if not isinstance(max_cost, MaxCost):
        return None if model.prices is None else max_cost
    if model.prices is not None and model.prices.currency != max_cost.currency:
        raise BadInput(
            f"{where} > prices > currency: {model.prices.currency}, but params.yaml > max_cost is"
            f" in {max_cost.currency}; give both in one currency"
        )
    return max_cost.amount


def _check_cap(replies: Sequence[Reply], model: str) -> None:
    over = {reply.key for reply in replies if reply.error == "over_budget"}
    if over:
        raise BadInput(
            f"model {model!r}: {len(over)} of {len({reply.key for reply in replies})} answers are"
            " missing: asking for them could exceed params.yaml > max_cost, which caps all runs of"
            " this project together. Every answer so far is in the ledger. Raise max_cost and run"
            " again: only what is missing is asked. `metassay ledger cost` says what is left."
        )
