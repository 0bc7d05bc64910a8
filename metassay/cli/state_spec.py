"""Which state of the numbers a word of the command line means: here, accepted, folder, revision."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from metassay.core.errors import BadInput, shown
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.tracking.comparison.locks import lock_text
from metassay.tracking.comparison.sides import (
    ACCEPTED,
    HERE,
    LOCK,
    TABLES,
    Side,
    commit_of,
    has_scores,
    here,
    is_repository,
    lock_at,
    locks_at,
    of_folder,
    of_lock,
    of_revision,
)

OF_ACCEPTED, FOLDER, REVISION = "accepted", "folder", "revision"
FILES: Final = {HERE: LOCK, OF_ACCEPTED: ACCEPTED}  # the locks in a benchmark's folder


class Meant(NamedTuple):
    """A state. `of`: `here`, `accepted`, `folder` or `revision`; `commit` is that of the last."""

    word: str
    of: str
    commit: str = ""

    def load(self, root: Path, benchmark: str) -> Side:
        """Its numbers of a benchmark; BadInput where there are none."""
        if self.of == HERE:
            return here(root, benchmark)
        if self.of == OF_ACCEPTED:
            return of_lock(root, BENCHMARKS / benchmark / ACCEPTED, benchmark, self.word)
        if self.of == FOLDER:
            return of_folder(root / self.word)
        return of_revision(root, self.word, benchmark)

    def same_as(self, other: "Meant") -> bool:
        """Whether both are one state."""
        if self.of == other.of == FOLDER:
            return Path(self.word).resolve() == Path(other.word).resolve()
        return (self.of, self.commit) == (other.of, other.commit)

    def benchmarks(self, root: Path) -> set[str]:
        """Those that it has a lock of that names scores; not of a folder, which is of one."""
        if self.of == REVISION:
            locks = {name: lock_at(root, self.word, name) for name in locks_at(root, self.word)}
            said, file = f"{self.word}:", LOCK
        else:
            files = (root / BENCHMARKS).glob(f"*/{FILES[self.of]}")
            locks = {one.parent.name: lock_text(one) for one in files}
            said, file = "", FILES[self.of]
        return {
            name
            for name, text in locks.items()
            if text and has_scores(text, name, f"{said}{BENCHMARKS / name / file}")
        }


def meant(root: Path, word: str) -> Meant:
    """What a word means; BadInput where that is nothing, or more than one thing."""
    commit = commit_of(root, word) if is_repository(root) else None
    is_folder = (root / word / "scores.parquet").is_file()
    could = [word] if word in FILES else []
    could += [FOLDER] if is_folder and word not in FILES else []
    # No revision is written with a slash at its end, or with a dot at its beginning.
    plain = not word.startswith(".") and not word.endswith("/")
    could += [REVISION] if commit and plain else []
    if len(could) > 1:
        other = "rename the branch or tag" if word in FILES else f"write ./{word}"
        raise BadInput(
            f"{shown(word)} may be {' or '.join(could)}; write refs/heads/{word} (or"
            f" refs/tags/{word}) for the revision, or {other} for the other one"
        )
    if not could:
        raise BadInput(_nothing(root, word))
    return Meant(word, could[0], commit or "" if could[0] == REVISION else "")


def _nothing(root: Path, word: str) -> str:
    if word and (root / BENCHMARKS / word / PARAMS.name).is_file():
        return (
            f"{shown(word)} is a benchmark, and what is compared are its states: `metassay compare"
            f" A --benchmark {word}`, with a git revision, a folder or `accepted` for A"
        )
    if word and (root / word).is_dir():
        return (
            f"{word}: the folder holds no scores.parquet; name one that does, such as"
            f" {TABLES / 'NAME'} of a checkout"
        )
    if not is_repository(root):
        return (
            f"{shown(word)} is no folder with scores.parquet, and {root.resolve()} is in no git"
            " repository that could have such a revision; name a folder, or run in the project"
        )
    return (
        f"{shown(word)} is no git revision here, and no folder with scores.parquet; name a branch,"
        " tag or commit that `git log` knows (`git fetch` brings more, with `--unshallow` all), a"
        " folder, here or accepted"
    )


def benchmarks_of(root: Path, sides: Sequence[Meant], named: Sequence[str]) -> list[str]:
    """The benchmarks to compare: those named, else all that have scores on every side."""
    folders = [side for side in sides if side.of == FOLDER]
    if folders and len(set(named)) > 1:
        raise BadInput("--benchmark: a folder of tables is of one benchmark; name no more than one")
    if named:
        return list(dict.fromkeys(named))
    if folders:
        return [(root / folders[-1].word).resolve().name]
    found = [side.benchmarks(root) for side in sides]
    both = sorted(set.intersection(*found))
    if not both:
        pairs = zip(sides, found, strict=True)
        said = "; ".join(f"{one.word}: {', '.join(sorted(has)) or 'none'}" for one, has in pairs)
        accepting = any(one.of == OF_ACCEPTED for one in sides)
        remedy = "`metassay accept` one" if accepting else f"run one there and commit its {LOCK}"
        raise BadInput(f"no benchmark has scores on every side ({said}); {remedy}")
    return both
