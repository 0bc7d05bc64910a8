"""What a stage has said, as far as it may be shown: keys and remedies, never a document's text."""

LINES = 20
NOTE = "note: "


def notes(output: str) -> tuple[str, ...]:
    """The lines `note: ...` of a stage: what was done about the data that its owner should know."""
    return tuple(line for line in output.splitlines() if line.startswith(NOTE))


def last_words(output: str) -> str:
    """The last lines of a stage that failed; of a crash only where it broke."""
    if "Traceback (most recent call last)" in output:
        return _where_it_broke(output)
    kept = [line for line in output.splitlines() if line.strip()]
    return "\n".join(kept[-LINES:])


def _where_it_broke(output: str) -> str:
    """Frames and kind of the last exception, without its message: that could quote a document."""
    said = output.rpartition("Traceback (most recent call last)")[2].splitlines()[1:]
    frames = [line.strip() for line in said if line.startswith('  File "')]
    kind = next((line for line in said if line and not line[0].isspace()), "").partition(":")[0]
    return "\n".join(
        [*frames[-5:], f"{kind} (its message is not shown: it could quote a document)"]
    )
