"""The first passages, copied: the baseline that wins where sources begin with what matters."""

from collections.abc import Sequence

from metassay.generation.record import CopyOptions, System, by_rule, copied


def write(passages: Sequence[str], speakers: Sequence[str], options: CopyOptions) -> str:  # noqa: ARG001
    """Copy the first `options.passages` passages, each a line; nothing of an empty one."""
    return copied(passages, range(min(options.passages, len(passages))))


KIND = System(options=CopyOptions, write=by_rule("lead", write))
