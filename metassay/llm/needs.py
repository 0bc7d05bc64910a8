"""What a kind may need beside its tables: a model to ask, prompts, another dataset's raw files.

Records say it (`Needs`), so that whoever clears, watches, validates or estimates asks the record.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from metassay.core.kinds import Chosen

# Only for their types: a kind that asks no model does not load what asking takes.
if TYPE_CHECKING:
    from metassay.llm.messages import Ask, ChatRequest
    from metassay.llm.prompts import Decoding, Kind


class Use(NamedTuple):
    """A model to ask, by its name in params.yaml > models, and how long its answers may be.

    `max_tokens`: None for what is said of the model there.
    """

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
    """A prompt, and the variables that are filled in, each with its kind.

    `filled`: None for a file of the project that is no prompt, and is read all the same.
    """

    path: Path
    filled: "Mapping[str, Kind] | None"


class Requests(NamedTuple):
    """What a kind asks at first, which is all that it asks if every answer is sound.

    `most`: how many requests each of them becomes at most, if what cannot be read is asked again.
    `answer_length`: tokens of an answer per token of the text that it is about, or per question.
    `longer`: how many bytes what is asked again is longer by at most.
    """

    requests: "list[ChatRequest]"
    most: list[int]
    answer_length: float = 1.0
    longer: int = 0


@dataclass(frozen=True, kw_only=True)
class Needs:
    """Base of records: each field says of a kind's options what they make it need.

    `model`: the model that it asks. `files`: the prompts (and the like) that it reads, files of the
    project. `datasets`: datasets whose raw files it reads, beside the benchmark's own; if it asks a
    model, their text may be sent to it. `members`: others of its kind inside it, with needs of
    their own; raises BadInput where one of them is not sound.
    """

    model: Callable[[Any], Use | None] = lambda _: None
    files: Callable[[Any], Sequence[PromptFile]] = lambda _: ()
    datasets: Callable[[Any], Sequence[str]] = lambda _: ()
    members: Callable[[Any], Mapping[str, Chosen]] = lambda _: {}


def members_of(chosen: Chosen) -> list[Chosen]:
    """What is directly inside a kind, in its order."""
    return list(chosen.record.members(chosen.options).values())


def everyone(chosen: Chosen) -> list[Chosen]:
    """A kind and all that is inside it, at any depth."""
    return [chosen, *(one for member in members_of(chosen) for one in everyone(member))]


def all_datasets(chosen: Iterable[Chosen]) -> list[str]:
    """The datasets that any of these read: texts may repeat what their system was shown.

    Whoever sends such texts on clears these datasets as well.
    """
    every = [one for outer in chosen for one in everyone(outer)]
    return sorted({name for one in every for name in one.record.datasets(one.options)})


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
    """One line for each name that stands in the wrong list, or beside the wrong folder.

    `reads` has the datasets that each of a benchmark's names reads (`Needs.datasets`). `folders`
    has the folder of each name in the second list: DVC watches it, so a change of what lies
    elsewhere would go unnoticed. `raw` has a folder per dataset; `where` leads every line.
    """
    problems = []
    for name, datasets in reads.items():
        needed = [raw / dataset for dataset in dict.fromkeys(datasets)]
        given = folders.get(name)
        if given is None and needed:
            problems.append(
                f"{where} > {lists.plain}: {name!r} reads {_listed(needed)}; name it under"
                f" {lists.with_folder} instead, with the folder {_common(needed, raw)}"
            )
        elif given is not None and not needed:
            problems.append(
                f"{where} > {lists.with_folder} > {name}: it reads no other dataset; name it under"
                f" {lists.plain} instead"
            )
        elif given is not None and not all(n.is_relative_to(given) for n in needed):
            problems.append(
                f"{where} > {lists.with_folder} > {name}: is {given}, but it reads"
                f" {_listed(needed)}; name the folder {_common(needed, raw)}, so that a change in"
                " it is noticed"
            )
    return problems


def _listed(folders: Sequence[Path]) -> str:
    return ", ".join(map(str, folders))


def _common(folders: Sequence[Path], raw: Path) -> Path:
    return folders[0] if len(folders) == 1 else raw
