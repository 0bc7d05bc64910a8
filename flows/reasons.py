"""DVC as we use it, and why it refuses, in one line: its errors name files, stages and params."""

import fcntl
import json
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dvc.exceptions import DvcException, ReproductionError
from dvc.repo import Repo
from dvc.utils.strictyaml import YAMLValidationError

from metassay.core.errors import BadInput, refusal, short_name
from metassay.core.work import DVC_REMEDY
from metassay.llm.messages import is_retryable

_REMEDIES = {
    "FileNotFoundError": "put it back, or run what makes it",
    "LockError": "wait for the other DVC to end",
    "RWLockFileCorruptedError": "delete that file while no DVC runs",
    "RWLockFileFormatError": "delete that file while no DVC runs",
    # Of other files DVC says which it is.
    "UnicodeDecodeError": "save .dvcignore as UTF-8, wherever there is one; if all are that, delete"
    " .dvc/tmp/rwlock while no DVC runs",
    "NotDvcRepoError": "bring back the folder .dvc (`git checkout .dvc`)",
    "ConfigError": "fix .dvc/config (`git checkout .dvc/config`)",
    "MissingParamsError": "add them; those of code.yaml come from `metassay update`",
    "BadParamFileError": "fix the file; code.yaml comes from `metassay update`",
    "YAMLValidationError": "bring it back as it was (`git checkout` and its name)",
    "ResolveError": "fix it, or delete it and run `metassay update`, which writes it again",
    "OperationalError": DVC_REMEDY,
    "DatabaseError": "delete .work/dvc, where DVC keeps what it can find out again",
}


def repository() -> Repo:
    """DVC in the working folder, waiting where another DVC holds its lock.

    Without git: DVC would only look there for what it may ignore, and a project is as good where
    there is no git, or in a folder that another repository ignores.
    """
    return Repo(config={"core": {"no_scm": True}}, _wait_for_lock=True)


def tell_if_busy(repo: Repo) -> None:
    """Say why nothing happens while another DVC, which somebody has started, holds its lock."""
    with Path(repo.lock.lockfile).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(
                "another DVC process is working in this project; waiting for it to end",
                file=sys.stderr,
            )


def reason(error: BaseException) -> str:
    """What DVC could not do and why, with the remedy where one is known; short names of files."""
    cause = error
    if isinstance(error, ReproductionError) and error.__cause__:
        cause = error.__cause__
    for one in (cause, cause.__cause__, cause.__context__):
        said = refusal(one) if isinstance(one, OSError) else None
        if said:
            return said
    said = " ".join(_said(cause).replace(f"{Path.cwd()}/", "").split()).rstrip(".;")
    remedy = _REMEDIES.get(type(cause).__name__)
    return f"{said}; {remedy}" if remedy else said


@contextmanager
def refused() -> Iterator[None]:
    """BadInput with the reason, where DVC cannot even look at the project."""
    try:
        yield
    # ImportError: a remote of a sort whose package is not installed.
    except (DvcException, OSError, ImportError, UnicodeDecodeError, sqlite3.Error) as error:
        raise BadInput(reason(error)) from error


def _said(error: BaseException) -> str:
    if isinstance(error, YAMLValidationError):
        at = [
            f"{one.error_message} at {' > '.join(map(str, one.path))}" for one in error.exc.errors
        ]
        return f"{error}: {', '.join(at)}"
    if isinstance(error, OSError) and error.filename:
        return f"{short_name(error.filename)}: {error.strerror}"
    if isinstance(error, DvcException):
        return str(error)
    return f"DVC failed with {type(error).__name__}: {error}"


# Stages that lack answers of language models: run again, although their inputs are as before.
# DVC cannot know that asking again may get what is missing. It is read from the tables `responses`
# that stages have written, and from whether there is a key, or anybody who listens.


RESPONSES = "responses"


def answers(stage: Any) -> list[Path]:
    """The files of answers that one of DVC's stages writes: none if it asks no model."""
    outs = (Path(out.fs_path) for out in stage.outs)
    return [out for out in outs if out.parent.name == RESPONSES]


def asks_again(stage: Any) -> bool:
    """Whether one of DVC's stages lacks answers that asking again may get, and can ask."""
    models = {model for file in answers(stage) for model in _lacking(file, is_retryable)}
    return bool(models) and _can_ask(models)


def lacks(stage: Any) -> bool:
    """Whether one of DVC's stages lacks any answer, such as one that failed for good."""
    return any(_lacking(file, lambda _: True) for file in answers(stage))


def _lacking(file: Path, counts: Callable[[str], bool]) -> set[str]:
    """The models, by their provider's identifier, without answers for reasons that count."""
    import pyarrow.parquet as pq

    from metassay.tables.parquet_file import DAMAGE

    try:
        # Not the whole file: it holds every text.
        found = pq.read_table(file, columns=["status", "finish_reason"]).to_pydict()
        pairs = zip(found["status"], found["finish_reason"], strict=True)
        rows = [
            n for n, (status, why) in enumerate(pairs) if status == "error" and counts(str(why))
        ]
        if not rows:
            return set()
        requests = pq.read_table(file, columns=["request"]).take(rows)["request"].to_pylist()
        return {str(json.loads(request)["model"]) for request in requests}
    except DAMAGE:
        return set()  # not there, or not as its stage wrote it: then DVC runs the stage


def _can_ask(models: set[str]) -> bool:
    from metassay.core import strict_yaml
    from metassay.core.options import PARAMS
    from metassay.llm.endpoints import can_ask, parse_models

    params: Any = strict_yaml.load(PARAMS)
    known = parse_models(params["endpoints"], params["models"])
    places = {model.endpoint for model in known.models.values() if model.model in models}
    return any(can_ask(known.endpoints[place]) for place in sorted(places))
