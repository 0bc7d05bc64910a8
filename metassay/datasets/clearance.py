"""Open sessions with language models for the texts of a benchmark: clearance follows the text.

The texts name their dataset and those whose examples they may repeat; the registry
gives the access class of each dataset. Limits of cost (`max_cost`) and of missing
answers (`max_missing`) apply.
"""

from collections.abc import Iterable
from pathlib import Path

from metassay.core.errors import raise_problems
from metassay.core.kinds import Chosen
from metassay.core.params import Evaluation, MaxCost, Shared
from metassay.datasets.labels import label_problems
from metassay.datasets.registry import RAW, load_registry
from metassay.llm.endpoints import PUBLIC, parse_models
from metassay.llm.limits import Policy
from metassay.llm.needs import all_datasets, list_members
from metassay.llm.session import ACCOUNT, Session

_PRIVATE = "private"  # the access class of a file that no registry names
_PROBE = "the question of `metassay probe`"  # in the place of a dataset's name


def open_session(
    shared: Shared,
    benchmark: Evaluation,
    chosen: Chosen,
    repeated: Iterable[str],
    *,
    account: str = ACCOUNT,
    max_cost: float | None = None,
) -> Session:
    """Open a session of a kind, for texts that may repeat text of the datasets `repeated`.

    `max_cost` is the cap of another account; the run's account has `shared.max_cost`.
    Raises BadInput if the kind asks a model and the access class of the text is in
    doubt.
    """
    registry = load_registry()
    datasets = sorted({benchmark.dataset, *repeated})
    if any(
        kind.record.model(kind.options) is not None for kind in list_members(chosen)
    ):
        # Only then may anything be sent.
        read = [(benchmark.dataset, Path(benchmark.raw))]
        read += [(name, RAW / name) for name in all_datasets([chosen])]
        raise_problems(label_problems(registry, datasets, read))
    return Session(
        models=parse_models(shared.endpoints, shared.models),
        max_cost=shared.max_cost if account == ACCOUNT else max_cost,
        access={name: dataset.access for name, dataset in registry.items()},
        datasets=datasets,
        account=account,
        max_missing=shared.max_missing,
        raw=RAW,
    )


def dry_session(shared: Shared, benchmark: Evaluation) -> Session:
    """Open a session that answers from the ledger alone, for `metassay ledger cost`."""
    access = {name: dataset.access for name, dataset in load_registry().items()}
    models = parse_models(shared.endpoints, shared.models)
    return Session(
        models=models,
        max_cost=shared.max_cost,
        access=access,
        datasets=[benchmark.dataset],
        dry=True,
        raw=RAW,
    )


def probe_session(shared: Shared) -> Session:
    """Open a session for a public question, put once, and the datasets of the judge's examples."""
    access = {name: dataset.access for name, dataset in load_registry().items()} | {
        _PROBE: PUBLIC
    }
    models = parse_models(shared.endpoints, shared.models)
    policy = Policy(attempts=1)
    return Session(
        models=models,
        max_cost=shared.max_cost,
        access=access,
        datasets=[_PROBE],
        policy=policy,
        alone=True,
    )


def open_labels_session(
    shared: Shared, name: str, dataset: str | None, max_cost: float | None
) -> Session:
    """Open a session for the texts of a labels' file, which are those of `dataset` or private.

    `max_cost` caps what is asked from now on; params.yaml > max_cost holds as well.
    """
    registry = load_registry()
    access: dict[str, str] = {n: entry.access for n, entry in registry.items()}
    if dataset is None:
        access[name] = _PRIVATE
    session = Session(
        models=parse_models(shared.endpoints, shared.models),
        max_cost=shared.max_cost,
        access=access,
        datasets=[dataset or name],
        raw=RAW,
        alone=True,
    )
    if max_cost is not None:
        session.max_cost = _cap(session, shared.max_cost, max_cost)
    return session


def _cap(session: Session, cap: MaxCost | None, more: float) -> MaxCost | float:
    """Return the account's cap if `more` may be spent beside what was spent already."""
    amount = session.spent.at_most + more
    if cap is None:
        return amount
    return cap.model_copy(update={"amount": min(cap.amount, amount)})
