"""What a kind may need beside its tables: a model to ask, prompts, another dataset's raw files.

Records say it (`Needs`), so that whoever clears, watches, validates or estimates asks the record.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from metassay.core.kinds import Chosen, is_path
from metassay.executor.record import LOCAL, Executor

# Only for their types: a kind that asks no model does not load what asking takes.
if TYPE_CHECKING:
    from metassay.llm.messages import Ask, ChatRequest
    from metassay.llm.prompts import Decoding, Kind


class Use(NamedTuple):
    """A model to ask, by its name in params.yaml > models; `max_tokens` None: as is said there."""

    model: str
    max_tokens: int | None


class Model(NamedTuple):
    """A model that may be asked: the function that asks it, and how its answers are drawn."""

    ask: "Ask"
    decoding: "Decoding"


class Resources(NamedTuple):
    """What a kind is given: `raw` has a folder of raw files per dataset; `model` is its `Use`."""

    raw: Path
    model: Model | None = None

    def require_model(self) -> Model:
        """The model; RuntimeError if the kind's record names none, which is a bug."""
        if self.model is None:
            raise RuntimeError("a kind that asks a model must name it in its record")
        return self.model


class PromptFile(NamedTuple):
    """A prompt and the kinds of the variables that are filled in; None: the file is no prompt."""

    path: Path
    filled: "Mapping[str, Kind] | None"


class Requests(NamedTuple):
    """What a kind asks at first, which is all that it asks if every answer is sound.

    `most`: how many requests each becomes at most, each by `longer` bytes longer at most.
    `answer_length`: tokens of an answer per token of the text that it is about, or per question.
    """

    requests: "list[ChatRequest]"
    most: list[int]
    answer_length: float = 1.0
    longer: int = 0


@dataclass(frozen=True, kw_only=True)
class Needs:
    """Base of records: what a kind's options make it need.

    `model`: that it asks. `files`: prompts and others. `datasets`: whose raw files it reads, beside
    the benchmark's. `members`: others inside it; BadInput where one of them is not sound. `whole`:
    what it makes of one text hangs on the others, so that no executor cuts them.
    """

    model: Callable[[Any], Use | None] = lambda _: None
    files: Callable[[Any], Sequence[PromptFile]] = lambda _: ()
    datasets: Callable[[Any], Sequence[str]] = lambda _: ()
    members: Callable[[Any], Mapping[str, Chosen]] = lambda _: {}
    whole: Callable[[Any], bool] = lambda _: False


def executor_for(chosen: Chosen, executor: Executor) -> Executor:
    """Who works for a kind: the executor, if its pieces do not need each other, else this process.

    A kind that asks a language model stays here: that is waiting, which one process does for a
    thousand questions at once, and here are the keys, the ledger, the budget and the limits.
    """
    record, options = chosen.record, chosen.options
    here = record.model(options) or record.datasets(options) or record.whole(options)
    return LOCAL if here else executor


def files_of(chosen: Chosen) -> list[Path]:
    """The files that a kind reads, folders of its models, and a user's kind's modules, too."""
    files = [file.path for file in chosen.record.files(chosen.options)]
    named = re.findall(r'"model":"([^"]*)"', chosen.options.model_dump_json())  # at any depth
    files += [Path(model) for model in named if Path(model).is_dir()]
    if is_path(chosen.kind):
        here, known = Path.cwd(), [getattr(one, "__file__", None) for one in sys.modules.values()]
        loaded = sorted({Path(file) for file in known if file})
        own = [file.relative_to(here) for file in loaded if file.is_relative_to(here)]
        files += [file for file in own if not {"site-packages", "metassay"} & {*file.parts}]
    return files


def members_of(chosen: Chosen) -> list[Chosen]:
    """What is directly inside a kind, in its order."""
    return list(chosen.record.members(chosen.options).values())


def with_members(chosen: Chosen) -> list[Chosen]:
    """A kind and all that is inside it, at any depth."""
    return [chosen, *(inner for member in members_of(chosen) for inner in with_members(member))]


def all_datasets(chosen: Iterable[Chosen]) -> list[str]:
    """The datasets that any of these read, whose text their texts may repeat: clear them, too."""
    every = [inner for outer in chosen for inner in with_members(outer)]
    return sorted({name for kind in every for name in kind.record.datasets(kind.options)})


class Lists(NamedTuple):
    """Two lists of a benchmark: who reads no other dataset, and who does, each with a folder."""

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
    """A line for each name in the wrong list, or beside another folder than DVC should watch."""
    problems = []
    for name, datasets in reads.items():
        needed = [raw / dataset for dataset in dict.fromkeys(datasets)]
        folder, listed = folders.get(name), ", ".join(map(str, needed))
        common = needed[0] if len(needed) == 1 else raw
        plain, other = f"{where} > {lists.plain}", f"{where} > {lists.with_folder}"
        if folder is None and needed:
            problems.append(
                f"{plain}: {name!r} reads {listed}; name it under {lists.with_folder} instead,"
                f" with the folder {common}"
            )
        elif folder is not None and not needed:
            problems.append(
                f"{other} > {name}: it reads no other dataset; name it under {lists.plain} instead"
            )
        elif folder is not None and not all(path.is_relative_to(folder) for path in needed):
            problems.append(
                f"{other} > {name}: is {folder}, but it reads {listed}; name the folder {common},"
                " so that a change in it is noticed"
            )
    return problems
