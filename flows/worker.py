"""A process that has DVC loaded and brings stages up to date, one at a time.

`python -m flows.worker FD`: an address of a stage per line comes on stdin, a line of JSON per
stage goes to the file descriptor FD; what DVC and the stage say goes to stdout and stderr.

It does what `dvc repro --single-item` does, by the same code, but for writing dvc.lock: DVC reads
and writes the whole file to change one entry, which takes seconds where a file has many. Here the
entry is written by DVC's own writer and put into the text; the bytes are the same. The file is
replaced at once, so that a kill can never leave half of it.
"""

import json
import logging
import os
import re
import sys
import traceback
from pathlib import Path
from typing import Any

from dvc.dvcfile import Lockfile
from dvc.exceptions import DvcException
from dvc.repo import Repo
from dvc.stage import PipelineStage, serialize
from dvc.stage.exceptions import StageCmdFailedError
from dvc.utils.serialize import dumps_yaml

from flows.dag import HALF_WRITTEN

HEAD = "schema: '2.0'\nstages:\n"


def main() -> None:
    """Serve until stdin is closed."""
    logging.getLogger("dvc").setLevel(logging.WARNING)  # the rest would stand among a stage's words
    with os.fdopen(int(sys.argv[1]), "w", encoding="utf-8") as replies:
        for line in sys.stdin:
            reply = reproduce(line.strip())
            sys.stdout.flush()
            sys.stderr.flush()
            replies.write(json.dumps(reply) + "\n")
            replies.flush()


def reproduce(address: str) -> dict[str, Any]:
    """Bring one stage up to date: whether it `ran`, and the exit `code` if it failed (0 if not)."""
    try:
        with Repo(_wait_for_lock=True) as repo:
            done = repo.reproduce(address, single_item=True, repro_fn=_reproduce)
    except DvcException as error:
        cause = error.__cause__ or error
        if not isinstance(cause, StageCmdFailedError):  # the stage itself has said what is wrong
            print(cause, file=sys.stderr)
        code = re.search(r"exited with (-?\d+)", str(cause))
        return {"ran": True, "code": int(code[1]) if code else 255}
    except Exception:  # noqa: BLE001 - whatever broke in DVC is told like a stage's own crash
        traceback.print_exc()
        return {"ran": True, "code": 255}
    return {"ran": bool(done), "code": 0}


def _reproduce(stage: PipelineStage, **options: Any) -> PipelineStage | None:
    done: PipelineStage | None = stage.reproduce(**options)
    if done:
        record(done)
    return done


def record(stage: PipelineStage) -> None:
    """Put the stage's entry into the dvc.lock beside its dvc.yaml."""
    lock = Path(stage.path).with_suffix(".lock")
    before = lock.read_text(encoding="utf-8") if lock.exists() else HEAD
    content = {"schema": "2.0", "stages": serialize.to_lockfile(stage)}
    entry = dumps_yaml(content).removeprefix(HEAD)
    part = lock.with_name(HALF_WRITTEN)
    after = put(before, entry)
    if after == before:
        return
    if after is not None:
        part.write_text(after, encoding="utf-8")
    else:  # not as DVC writes it: let DVC see to it
        part.write_text(before, encoding="utf-8")
        Lockfile(stage.repo, str(part)).dump(stage)
    part.replace(lock)


def put(text: str, entry: str) -> str | None:
    """The text of a lock file with this entry in the old one's place, or at the end.

    None if the text is not laid out as DVC lays it out, or if the entry has anchors: their numbers
    are those of the whole file.
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


if __name__ == "__main__":
    main()
