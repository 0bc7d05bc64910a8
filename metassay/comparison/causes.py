"""Why numbers differ: what two locks of one benchmark say that went in, and only the roots of it.

A lock has, for every stage, the hashes of what it read and made, the settings that it read with
their values, and the versions of the code behind it (code.yaml). Going back from the scores, what
a stage made differs for its own settings, code or inputs, or since an earlier stage made something
else; only the former are roots. Where nothing that went in differs, and what came out does, the
same questions got other answers.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from metassay.comparison.changed_params import changed_params, relisted
from metassay.comparison.locks import Lock, outs_of

TARGETS: Final = ("scores.parquet", "leaderboard.parquet", "certificates.parquet")
KINDS: Final = ("data", "prompt", "model", "settings", "code", "answers")
NOT_THERE: Final[Mapping[str, Any]] = {}


class Cause(NamedTuple):
    """One root: its kind (one of KINDS), the first stage that it reaches, and what it is."""

    kind: str
    stage: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.what} (stage {self.stage})"


def causes(before: Lock, after: Lock) -> list[Cause]:
    """The roots of what differs in the scores; if these are alike, in leaderboard or certificates.

    None where all of these are alike. They are in the order of the DAG, each named once, with the
    first stage that it reaches. A root is a possible cause: where several reach the same stage, the
    locks cannot tell how much each did.
    """
    pair = _Pair(before, after)
    for target in TARGETS:
        differing = [path for path in pair.outs if path.endswith("/" + target) and pair.moved(path)]
        if differing:
            reached = _reached(pair, differing)
            found = [one for stage in pair.stages if stage in reached for one in _own(pair, stage)]
            return _once(found) or [
                Cause("settings", stage, f"{'with' if stage in pair.after else 'without'} {stage}")
                for stage in pair.stages
                if (stage in pair.after) != (stage in pair.before)
            ]
    return []


class _Pair:
    """Two locks side by side."""

    def __init__(self, before: Lock, after: Lock) -> None:
        self.before, self.after = before["stages"], after["stages"]
        # The later lock's order is that of the DAG; what is gone comes where it was.
        self.stages = list(dict.fromkeys([*self.after, *self.before]))
        self.relisted = relisted(
            *(
                [stage.get("params") or {} for stage in one.values()]
                for one in (self.before, self.after)
            )
        )
        self._made = outs_of(before), outs_of(after)
        self.outs = dict.fromkeys([*self._made[1], *self._made[0]])
        self.makers: dict[str, str] = {}
        for stages in (self.before, self.after):
            for name, stage in stages.items():
                self.makers |= {str(out["path"]): name for out in stage.get("outs") or ()}

    def moved(self, path: str) -> bool:
        """Whether an output differs, or is on one side only."""
        return self._made[0].get(path) != self._made[1].get(path)

    def sides(self, stage: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """What both locks say of a stage; nothing where one has none of that name."""
        return self.before.get(stage, NOT_THERE), self.after.get(stage, NOT_THERE)

    def inside(self, dependency: str) -> list[str]:
        """The outputs of stages that a dependency is, or holds."""
        return [o for o in self.outs if o == dependency or o.startswith(dependency + "/")]


def _reached(pair: _Pair, paths: list[str]) -> set[str]:
    """The stages behind these outputs, by way of outputs that differ."""
    found: set[str] = set()
    waiting = list(paths)
    while waiting:
        stage = pair.makers[waiting.pop()]
        if stage in found:
            continue
        found.add(stage)
        for dependency in _changed_dependencies(pair, stage):
            waiting += [path for path in pair.inside(dependency) if pair.moved(path)]
    return found


def _changed_dependencies(pair: _Pair, stage: str) -> list[str]:
    one, other = (
        {str(d["path"]): d.get("md5") for d in side.get("deps") or ()} for side in pair.sides(stage)
    )
    return [path for path in dict.fromkeys([*one, *other]) if one.get(path) != other.get(path)]


def _own(pair: _Pair, stage: str) -> list[Cause]:
    """What of a stage's own differs; `answers` where nothing that goes into it does."""
    before, after = pair.sides(stage)
    if not before or not after:
        return []  # which list names it is a setting that a later stage reads
    changed = _changed_dependencies(pair, stage)
    found = [Cause(_kind_of_file(path), stage, path) for path in changed if not pair.inside(path)]
    read = changed_params(before.get("params") or {}, after.get("params") or {}, pair.relisted)
    found += [Cause(kind, stage, what) for kind, what in read]
    if not found and before.get("cmd") != after.get("cmd"):
        found.append(Cause("code", stage, f"the command of {stage}"))
    if not found and not changed:
        found.append(Cause("answers", stage, f"{stage}: the same questions, other answers"))
    return found


def _kind_of_file(path: str) -> str:
    room = path.split("/", maxsplit=1)[0]
    if room in ("rubrics", "prompts"):
        return "prompt"
    return "model" if path.startswith(("data/judges", "data/segmenters")) else "data"


def _once(found: list[Cause]) -> list[Cause]:
    """Each root once, and a joint version only where none of what it is over is named."""
    first: dict[tuple[str, str], Cause] = {}
    for cause in found:
        first.setdefault((cause.kind, cause.what), cause)
    return [
        cause
        for (kind, what), cause in first.items()
        if not any(kind == k and w.startswith(f"{what}.") for k, w in first)
    ]
