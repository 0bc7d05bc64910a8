"""A process that has DVC loaded and brings stages up to date, one at a time.

`python -m flows.fork_server FD` starts it. stdin has a stage's address per line, after
`!` if the stage is to run although nothing changed. The file descriptor FD gets a line
of JSON per stage; stdout and stderr get what the stage prints.

It does what `dvc repro --single-item` does, by the same code, except for dvc.lock: DVC
reads and writes the whole file to change one entry, which takes seconds if it has many.
Here DVC's own writer makes the entry, which is put into the text; the bytes are the
same. The file is replaced at once, so that a kill never leaves half of it. So is DVC's
list of who reads and writes what, which all workers share: half of it would fail the
others.
"""

import json
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from dvc import rwlock
from dvc.dvcfile import Lockfile
from dvc.stage import PipelineStage, run, serialize
from dvc.stage.exceptions import StageCmdFailedError
from dvc.utils.serialize import dumps_yaml

from flows.dag import FORCED, HALF_WRITTEN
from flows.reasons import can_ask_again, reason, repository, response_files
from metassay.core import parent_watch
from metassay.core.progress import PLACE, place

HEAD = "schema: '2.0'\nstages:\n"

# Runs a stage: command, folder, environment -> exit code, None if the command is no
# stage.
Fork = Callable[[str, str, dict[str, str]], int | None]


def main(fork: Fork) -> None:
    """Serve until stdin is closed; `fork` runs stages."""
    parent_watch.watch()
    _silence_dvc()
    make_rwlock_atomic()
    _fork_stages(fork)
    with os.fdopen(int(sys.argv[1]), "w", encoding="utf-8") as replies:
        for line in sys.stdin:
            os.environ[PLACE] = str(place(line.strip().removeprefix(FORCED)))
            reply = reproduce(line.strip())
            sys.stdout.flush()
            sys.stderr.flush()
            replies.write(json.dumps(reply) + "\n")
            replies.flush()


def _fork_stages(fork: Fork) -> None:
    """Let DVC in this process run stages by `fork` instead of in a shell."""
    run_in_shell = run._run

    def run_command(executable: str | None, cmd: str, **options: Any) -> None:
        code = fork(cmd, str(options["cwd"]), options["env"])
        if code is None:
            run_in_shell(executable, cmd, **options)
        elif code:
            raise StageCmdFailedError(cmd, code)

    run._run = run_command


class _Failing(logging.Handler):
    """Let the stage fail if an output cannot be cached: DVC only logs that and goes on."""

    def emit(self, record: logging.LogRecord) -> None:
        """Raise the logged error."""
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            raise error


def _silence_dvc() -> None:
    """Keep DVC's log out of a stage's output; on a full disk it could not be written at all."""
    for name in ("dvc", "dvc_data", "dvc_objects"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    transfers = logging.getLogger("dvc_data.hashfile.transfer")
    transfers.setLevel(logging.ERROR)
    transfers.propagate = False
    transfers.addHandler(_Failing())


class _AtomicFiles:
    """What DVC uses of a file system for its list, with files replaced at once."""

    join = staticmethod(os.path.join)

    @contextmanager
    def open(
        self, path: str, mode: str = "r", encoding: str = "utf-8"
    ) -> Iterator[IO[str]]:
        """Open a file to read, or a new one that replaces `path` at the end."""
        target = Path(path)
        opened = target if mode == "r" else target.with_name(HALF_WRITTEN)
        with opened.open(mode, encoding=encoding) as file:
            yield file
        if opened is not target:
            opened.replace(target)


def make_rwlock_atomic() -> None:
    """Let DVC in this process replace its list of readers and writers at once."""
    edit = rwlock._edit_rwlock
    rwlock._edit_rwlock = lambda folder, _, hardlink: edit(
        folder, _AtomicFiles(), hardlink
    )


def reproduce(address: str) -> dict[str, Any]:
    """Bring a stage up to date: return whether it `ran`, and its exit `code`, 0 if it did not fail.

    `why` has DVC's reason; it is empty if the stage itself printed what is wrong.
    """
    force, address = address.startswith(FORCED), address.removeprefix(FORCED)
    try:
        with repository() as repo:
            done = repo.reproduce(
                address, single_item=True, force=force, repro_fn=_reproduce
            )
    except Exception as error:  # noqa: BLE001 - any error in DVC is reported; stages are processes
        cause = error.__cause__ or error
        if isinstance(cause, StageCmdFailedError):
            code = re.search(r"exited with (-?\d+)", str(cause))
            return {"ran": True, "code": int(code[1]) if code else 255, "why": ""}
        return {"ran": True, "code": 255, "why": reason(error)}
    return {"ran": bool(done), "code": 0, "why": ""}


def _reproduce(stage: PipelineStage, **options: Any) -> PipelineStage | None:
    # Forced, since DVC's run cache would restore the table that lacks answers.
    if response_files(stage) and (can_ask_again(stage) or stage.changed()):
        options["force"] = True
    done: PipelineStage | None = stage.reproduce(**options)
    if done:
        write_lock_entry(done)
    return done


def write_lock_entry(stage: PipelineStage) -> None:
    """Put the stage's entry into the dvc.lock beside its dvc.yaml."""
    lock = Path(stage.path).with_suffix(".lock")
    before = lock.read_text(encoding="utf-8") if lock.exists() else HEAD
    content = {"schema": "2.0", "stages": serialize.to_lockfile(stage)}
    entry = dumps_yaml(content).removeprefix(HEAD)
    part = lock.with_name(HALF_WRITTEN)
    after = replace_entry(before, entry)
    if after == before:
        return
    try:
        if after is not None:
            part.write_text(after, encoding="utf-8")
        else:  # the file is not as DVC writes it: let DVC write it
            part.write_text(before, encoding="utf-8")
            Lockfile(stage.repo, str(part)).dump(stage)
        part.replace(lock)
    except OSError as error:
        part.unlink(missing_ok=True)
        error.filename = str(lock)
        raise


def replace_entry(text: str, entry: str) -> str | None:
    """Return the text of a lock file with this entry in the old one's place, or at the end.

    None if the text is not laid out as DVC lays it out, or if the entry has anchors,
    which are numbered over the whole file.
    """
    foreign = re.search(r"^\S", text[len(HEAD) :], re.MULTILINE)
    if not text.startswith(HEAD) or foreign or re.search(r"[&*]id\d", text + entry):
        return None
    name = entry.partition("\n")[0]
    start = text.find(f"\n{name}\n") + 1
    if not start:
        return text + entry
    following = re.compile(r"^  \S", re.MULTILINE).search(text, start + len(name) + 1)
    return text[:start] + entry + (text[following.start() :] if following else "")
