"""What a stage has said, as far as it may be shown: keys and remedies, never a document's text."""

import re
import shutil
import signal
from pathlib import Path

LINES = 20
_LEAST = 1 << 20  # bytes
NOTE = "note: "
_CRASH = "Traceback (most recent call last)"
_GROUP = f"Exception Group {_CRASH}"
_MARGIN = re.compile(r"^ *\| ")
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '[\w.]+'")


def notes(output: str) -> tuple[str, ...]:
    """The lines `note: ...` of a stage: what was done about the data that its owner should know."""
    return tuple(line for line in output.splitlines() if line.startswith(NOTE))


def last_words(output: str, code: int, why: str = "") -> str:
    """The last lines of a stage that failed, of a crash only where it broke; then DVC's reason, if
    it was DVC that failed, and the signal that ended it, if one did."""
    if _CRASH in output:
        said = _where_it_broke(output)
    else:
        said = [line for line in output.splitlines() if line.strip()][-LINES:]
    said += [line for line in (why, _killed_by(code)) if line]
    return "\n".join(said) or _silence()


def _silence() -> str:
    """A stage's words go to the disk, which may be why there are none."""
    if shutil.disk_usage(Path.cwd()).free < _LEAST:
        return "there is hardly room left on the disk; make room and run the same again"
    return "it said nothing; run it by itself to see more (docs/running.md)"


def _killed_by(code: int) -> str:
    """The signal of an exit code: below 0 as Python says it, above 128 as a shell does."""
    try:
        name = signal.Signals(-code if code < 0 else code - 128).name
    except ValueError:
        return ""
    memory = ", perhaps because there was no memory left" if name == "SIGKILL" else ""
    return f"killed by {name}{memory}; the next run starts it again"


def _where_it_broke(output: str) -> list[str]:
    """Frames and kind of the last exception, without its message: that could quote a document."""
    said = output.rpartition(_CRASH)[2].splitlines()[1:]
    if _GROUP in output:
        said = [_MARGIN.sub("", line) for line in said]
    frames = [line.strip() for line in said if line.startswith('  File "')]
    last = next((line for line in said if line and not line[0].isspace()), "")
    if _NO_MODULE.fullmatch(last):
        return [*frames[-5:], f"{last}; install what the project needs (README.md)"]
    kind = last.partition(":")[0]
    return [*frames[-5:], f"{kind} (its message is not shown: it could quote a document)"]
