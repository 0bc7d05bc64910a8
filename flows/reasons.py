"""DVC as we use it, and its errors in one line: they name files, stages and params."""

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
    # DVC names all other files itself.
    "UnicodeDecodeError": "save .dvcignore as UTF-8, wherever there is one; if all are that, delete"
    " .dvc/tmp/rwlock while no DVC runs",
    "NotDvcRepoError": "bring back the folder .dvc (`git checkout .dvc`)",
    "ConfigError": "fix .dvc/config (`git checkout .dvc/config`)",
    "MissingParamsError": "add them; those of versions.yaml come from `metassay update`",
    "BadParamFileError": "fix the file; versions.yaml comes from `metassay update`",
    "YAMLValidationError": "bring it back as it was (`git checkout` and its name)",
    "ResolveError": "fix it, or delete it and run `metassay update`, which writes it again",
    "OperationalError": DVC_REMEDY,
    "DatabaseError": "delete .work/dvc, where DVC keeps what it can find out again",
}


def repository() -> Repo:
    """Open DVC in the working folder; waits if another DVC has its lock.

    Without git: DVC would only look there for what to ignore, and a project may have no
    git, or be in a folder that another repository ignores.
    """
    return Repo(config={"core": {"no_scm": True}}, _wait_for_lock=True)


def print_if_busy(repo: Repo) -> None:
    """Say that this run waits while another DVC process has the lock."""
    with Path(repo.lock.lockfile).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(
                "another DVC process is working in this project; waiting for it to end",
                file=sys.stderr,
            )


def reason(error: BaseException) -> str:
    """Return what DVC could not do, why, and the remedy if known; file names are shortened."""
    cause = error
    if isinstance(error, ReproductionError) and error.__cause__:
        cause = error.__cause__
    for source in (cause, cause.__cause__, cause.__context__):
        message = refusal(source) if isinstance(source, OSError) else None
        if message:
            return message
    message = " ".join(_message(cause).replace(f"{Path.cwd()}/", "").split()).rstrip(
        ".;"
    )
    remedy = _REMEDIES.get(type(cause).__name__)
    return f"{message}; {remedy}" if remedy else message


@contextmanager
def explain_dvc_errors() -> Iterator[None]:
    """Raise BadInput with the reason if DVC cannot read the project."""
    try:
        yield
    # ImportError: the package for a remote is not installed.
    except (
        DvcException,
        OSError,
        ImportError,
        UnicodeDecodeError,
        sqlite3.Error,
    ) as error:
        raise BadInput(reason(error)) from error


def _message(error: BaseException) -> str:
    if isinstance(error, YAMLValidationError):
        places = [
            f"{e.error_message} at {' > '.join(map(str, e.path))}"
            for e in error.exc.errors
        ]
        return f"{error}: {', '.join(places)}"
    if isinstance(error, OSError) and error.filename:
        return f"{short_name(error.filename)}: {error.strerror}"
    if isinstance(error, DvcException):
        return str(error)
    return f"DVC failed with {type(error).__name__}: {error}"


# Stages that lack answers of language models run again, although their inputs are as
# before. DVC cannot know that asking again may get these: the tables `responses` say
# what is missing, and the endpoints whether they can be asked.

RESPONSES = "responses"


def response_files(stage: Any) -> list[Path]:
    """Return the files of answers that a DVC stage writes: none if it asks no model."""
    outs = (Path(out.fs_path) for out in stage.outs)
    return [out for out in outs if out.parent.name == RESPONSES]


def can_ask_again(stage: Any) -> bool:
    """Return whether a DVC stage lacks answers that asking again may get, and can ask."""
    models = {
        model
        for file in response_files(stage)
        for model in _lacking(file, is_retryable)
    }
    return bool(models) and _can_ask(models)


def lacks_answers(stage: Any) -> bool:
    """Return whether a DVC stage lacks any answer, such as one that failed for good."""
    return any(_lacking(file, lambda _: True) for file in response_files(stage))


def _lacking(file: Path, counts: Callable[[str], bool]) -> set[str]:
    """Return the models, by their provider's identifier, without answers for reasons that count."""
    import pyarrow.parquet as pq

    from metassay.tables.parquet_file import DAMAGE

    try:
        # Not the whole file: it has every text.
        columns = pq.read_table(file, columns=["status", "finish_reason"]).to_pydict()
        pairs = zip(columns["status"], columns["finish_reason"], strict=True)
        rows = [
            n
            for n, (status, why) in enumerate(pairs)
            if status == "error" and counts(str(why))
        ]
        if not rows:
            return set()
        requests = (
            pq.read_table(file, columns=["request"]).take(rows)["request"].to_pylist()
        )
        return {str(json.loads(request)["model"]) for request in requests}
    except DAMAGE:
        return set()  # missing, or not as its stage wrote it: then DVC runs the stage


def _can_ask(models: set[str]) -> bool:
    from metassay.core import strict_yaml
    from metassay.core.options import PARAMS
    from metassay.llm.endpoints import can_ask, parse_models

    params: Any = strict_yaml.load(PARAMS)
    parsed = parse_models(params["endpoints"], params["models"])
    names = {
        model.endpoint for model in parsed.models.values() if model.model in models
    }
    return any(can_ask(parsed.endpoints[name]) for name in sorted(names))
