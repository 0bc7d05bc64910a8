"""What a kind needs besides its tables: a model to ask, prompts, raw files of other datasets.

The kind's record declares it (`Needs`) for clearance, DVC, validation and estimates.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from metassay.core.kinds import Chosen, is_path
from metassay.core.options import missing_packages
from metassay.executor.record import LOCAL, Executor

# Only for types: a kind that asks no model does not load these modules.
if TYPE_CHECKING:
    from metassay.llm.messages import Ask, ChatRequest
    from metassay.llm.prompts import Decoding, Kind


class Use(NamedTuple):
    """A model by its name in params.yaml > models; `max_tokens` None: the number there."""

    model: str
    max_tokens: int | None


class Model(NamedTuple):
    """A model that may be asked: the function that asks it, and its decoding."""

    ask: "Ask"
    decoding: "Decoding"


class Resources(NamedTuple):
    """Resources of a kind: `raw` has a folder of raw files per dataset; `model` is its `Use`."""

    raw: Path
    model: Model | None = None

    def require_model(self) -> Model:
        """Return the model; RuntimeError if the kind's record names none, which is a bug."""
        if self.model is None:
            raise RuntimeError("a kind that asks a model must name it in its record")
        return self.model


class PromptFile(NamedTuple):
    """A prompt and the kinds of its variables; None: the file is not a prompt."""

    path: Path
    filled: "Mapping[str, Kind] | None"


class Requests(NamedTuple):
    """The first questions of a kind, which are all if every answer is valid.

    `most`: the most requests that each can lead to, each at most `longer` bytes longer.
    `answer_length`: tokens of an answer per token of its subject, or per question.
    """

    requests: "list[ChatRequest]"
    most: list[int]
    answer_length: float = 1.0
    longer: int = 0


@dataclass(frozen=True, kw_only=True)
class Needs:
    """Base of records: the needs of a kind, by its options.

    `model`: the model that it asks. `files`: prompts and others. `datasets`: those
    whose raw files it reads, besides the benchmark's. `members`: the kinds inside it;
    BadInput if one is not valid. `whole`: results for one text depend on the others, so
    that an executor must not split them.
    """

    model: Callable[[Any], Use | None] = lambda _: None
    files: Callable[[Any], Sequence[PromptFile]] = lambda _: ()
    datasets: Callable[[Any], Sequence[str]] = lambda _: ()
    members: Callable[[Any], Mapping[str, Chosen]] = lambda _: {}
    whole: Callable[[Any], bool] = lambda _: False


def packages_lacking(chosen: Chosen) -> dict[str, str]:
    """Return the packages that a kind and its members lack, each with how to install it."""
    missing = missing_packages(chosen.options)
    for member in chosen.record.members(chosen.options).values():
        missing |= packages_lacking(member)
    return missing


def executor_for(chosen: Chosen, executor: Executor) -> Executor:
    """Return the executor if a kind's pieces are independent, else this process.

    A kind that asks a language model stays in this process, which can wait for a
    thousand answers at once, and has the keys, ledger, budget and limits.
    """
    record = chosen.record
    options = chosen.options
    local = record.model(options) or record.datasets(options) or record.whole(options)
    return LOCAL if local else executor


def files_of(chosen: Chosen) -> list[Path]:
    """List the files that a kind reads, folders of models, and the modules of a user's kind."""
    files = [file.path for file in chosen.record.files(chosen.options)]
    # at any depth
    named = re.findall(r'"model":"([^"]*)"', chosen.options.model_dump_json())
    files += [Path(model) for model in named if Path(model).is_dir()]
    if is_path(chosen.kind):
        root = Path.cwd()
        modules = sys.modules.values()
        loaded = sorted(
            {Path(f) for module in modules if (f := getattr(module, "__file__", None))}
        )
        local = [file.relative_to(root) for file in loaded if file.is_relative_to(root)]
        files += [
            file for file in local if not {"site-packages", "metassay"} & {*file.parts}
        ]
    return files


def members_of(chosen: Chosen) -> list[Chosen]:
    """List the kinds directly inside a kind, in its order."""
    return list(chosen.record.members(chosen.options).values())


def list_members(chosen: Chosen) -> list[Chosen]:
    """List a kind and all kinds inside it, at any depth."""
    kinds = [chosen]
    for member in members_of(chosen):
        kinds += list_members(member)
    return kinds


def all_datasets(chosen: Iterable[Chosen]) -> list[str]:
    """List the datasets that any of these read; clear them too, since texts may repeat theirs."""
    names: set[str] = set()
    for kind in chain.from_iterable(map(list_members, chosen)):
        names.update(kind.record.datasets(kind.options))
    return sorted(names)


class Lists(NamedTuple):
    """Two lists of a benchmark: kinds that read no other dataset, and kinds that do (folders)."""

    plain: str
    with_folder: str


FEW_SHOT = Lists("systems", "few_shot")
RELEASED_CLAIMS = Lists("decompositions", "released_claims")


def folder_problems(
    reads: Mapping[str, Sequence[str]],
    folders: Mapping[str, str],
    raw: Path,
    *,
    where: str,
    lists: Lists,
) -> list[str]:
    """List the names in the wrong list, or with a folder that DVC should not watch."""
    problems = []
    for name, datasets in reads.items():
        needed = [raw / dataset for dataset in dict.fromkeys(datasets)]
        folder = folders.get(name)
        listed = ", ".join(map(str, needed))
        common = needed[0] if len(needed) == 1 else raw
        plain = f"{where} > {lists.plain}"
        other = f"{where} > {lists.with_folder}"
        if folder is None and needed:
            problems.append(
                f"{plain}: {name!r} reads {listed}; name it under {lists.with_folder} instead,"
                f" with the folder {common}"
            )
        elif folder is not None and not needed:
            problems.append(
                f"{other} > {name}: it reads no other dataset; name it under {lists.plain} instead"
            )
        elif folder is not None and not all(
            path.is_relative_to(folder) for path in needed
        ):
            problems.append(
                f"{other} > {name}: is {folder}, but it reads {listed}; name the folder {common},"
                " so that a change in it is noticed"
            )
    return problems
