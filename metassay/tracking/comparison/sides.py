"""A side of a comparison: the numbers of one benchmark at one state, and what its dvc.lock says.

Tables of another state are had by their hash, from DVC's cache or a remote of the project; the one
module of the library that asks DVC.
"""

import contextlib
import hashlib
import logging
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import pandas as pd
import yaml
from pydantic import BaseModel, TypeAdapter

from metassay.core import strict_yaml
from metassay.core.errors import BadInput, raise_problems, refusal, shown
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import Benchmark
from metassay.core.stages import SORTS
from metassay.core.work import DVC_REMEDY
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.documents import DOCUMENT_CLUSTERS
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.parquet import Table, empty, read_file
from metassay.tables.scores import SCORES
from metassay.versions.code_yaml import FILE as CODE
from metassay.versions.code_yaml import versions, written

Lock = Mapping[str, Any]

_ABSENT = object()


class _File(BaseModel):
    path: str


class _Stage(BaseModel):
    """The form of what DVC writes of a stage."""

    deps: list[_File] | None = None
    outs: list[_File] | None = None
    params: dict[str, dict[str, Any]] | None = None


_STAGES = TypeAdapter(dict[str, _Stage])

# The list of a benchmark's params.yaml that names the instances of a stage.
_LISTS: Mapping[str, str] = {stage.name: stage.each for stage in SORTS[Benchmark][0] if stage.each}


def lock_text(file: Path) -> str:
    """The text of a lock for `parse_lock`, which refuses one that is not UTF-8; BadInput if there
    is no file."""
    if not file.is_file():
        raise BadInput(f"{file}: {_no_lock('')}")
    return file.read_text(encoding="utf-8", errors="replace")


def parse_lock(text: str, where: str) -> Lock:
    """What a dvc.lock says of the stages that there are; BadInput if it is none.

    Entries of instances that were struck off, which DVC keeps, are left out.
    """
    try:
        sound = "\ufffd" not in text and not strict_yaml.is_deep(text)
        found: Any = yaml.load(text, Loader=strict_yaml.LOADER) if sound else None
        stages = found["stages"]
        _STAGES.validate_python(stages, strict=True)
    except (yaml.YAMLError, ValueError, LookupError, TypeError, RecursionError):
        raise BadInput(f"{where}: {_no_lock(text)}") from None
    several = {name.partition("@")[0] for name in stages if "@" in name}
    stages = {name: stage for name, stage in stages.items() if name not in several}
    named: dict[str, Any] = {}
    for name, stage in stages.items():
        if "@" not in name:
            for file, keys in (stage.get("params") or {}).items():
                named |= keys if file.startswith(f"{BENCHMARKS.as_posix()}/") else {}
    there = {name: stage for name, stage in stages.items() if _is_named(name, named)}
    return {**found, "stages": there}


def _no_lock(text: str) -> str:
    line = strict_yaml.merge_line(text)
    if line:
        return (
            f"has the marks of a merge in line {line}; take one side whole: `git checkout"
            " --ours` (or --theirs) and its name"
        )
    return (
        "is not a dvc.lock with stages; restore an earlier one with git, or make it again:"
        " `metassay run` writes dvc.lock, `metassay watch accept` accepted.lock"
    )


def _is_named(stage: str, named: Mapping[str, Any]) -> bool:
    """Whether an instance such as `judge@lexical` is in the list that later stages read."""
    own, _, item = stage.partition("@")
    names = named.get(_LISTS.get(own, ""))
    return not item or not isinstance(names, list | dict) or item in names


def outs_of(lock: Lock) -> dict[str, str]:
    """The MD5 of everything that the lock's stages made, by path."""
    outs = [out for stage in lock["stages"].values() for out in stage.get("outs") or ()]
    return {str(out["path"]): str(out.get("md5", "")) for out in outs}


def inputs_of(lock: Lock) -> dict[str, str]:
    """The MD5 of the files and folders that the lock's stages read and none of them made."""
    made = outs_of(lock)
    deps = [dep for stage in lock["stages"].values() for dep in stage.get("deps") or ()]
    read = {str(dep["path"]): str(dep["md5"]) for dep in deps if dep.get("md5")}
    return {
        path: md5
        for path, md5 in read.items()
        if not any(one == path or one.startswith(f"{path}/") for one in made)
    }


def out_of_date(lock: Lock, read: Callable[[str], str | None]) -> list[str]:
    """What differs from what the stages read, each once: `code.yaml > judges.mini`.

    `read` gives the text of a file of the project at that state; None if there is none.
    """

    @cache
    def content(file: str) -> Any:
        try:
            return yaml.load(read(file) or "", Loader=strict_yaml.LOADER)
        except yaml.YAMLError:
            return None  # after a merge, perhaps: everything in it differs

    def at(file: str, key: str) -> Any:
        """The value at `judges.mini`; no name has a dot in it."""
        found = content(file)
        for name in key.split("."):
            found = found.get(name, _ABSENT) if isinstance(found, Mapping) else _ABSENT
        return found

    found: dict[str, None] = {}
    for stage in lock["stages"].values():
        for file, keys in (stage.get("params") or {}).items():
            differ = (key for key, value in keys.items() if at(file, key) != value)
            found |= dict.fromkeys(f"{file} > {key}" for key in differ)
    return list(found)


TABLES = Path("data/tables")
LOCK = "dvc.lock"
ACCEPTED = "accepted.lock"
HERE, OF_ACCEPTED, FOLDER, REVISION = "here", "accepted", "folder", "revision"
FILES: Final = {HERE: LOCK, OF_ACCEPTED: ACCEPTED}  # the locks in a benchmark's folder
NEEDED, MORE = (SCORES, LEADERBOARD), (CERTIFICATES, DOCUMENT_CLUSTERS)


@dataclass(frozen=True)
class Side:
    """The numbers of one benchmark at one state.

    `name`: as its user named it. `certificates` has no rows where nobody rated the texts.
    `clusters`: documents -> what they are of, as table document_clusters has it.
    `lock`: what its dvc.lock says; None for a folder of tables that lies in no project. `changed`:
    settings, code and, of tables that lie in a project, data that are others there than those it
    was run with: it wants another run.
    """

    name: str
    benchmark: str
    scores: pd.DataFrame
    leaderboard: pd.DataFrame
    certificates: pd.DataFrame
    clusters: Mapping[str, str]
    lock: Lock | None
    changed: tuple[str, ...] = ()


class State(NamedTuple):
    """What a word of the command line names; `commit` is that of a revision."""

    root: Path
    word: str
    of: str
    commit: str = ""

    def load(self, benchmark: str) -> Side:
        """Its numbers of a benchmark; BadInput where there are none."""
        if self.of == HERE:
            return here(self.root, benchmark)
        if self.of == OF_ACCEPTED:
            return of_lock(self.root, BENCHMARKS / benchmark / ACCEPTED, benchmark, self.word)
        if self.of == FOLDER:
            path = Path(self.word)
            return _of_tables(path, str(path), path.resolve().name)
        where = (BENCHMARKS / benchmark / LOCK).as_posix()
        text = self._text(where)
        if text is None:
            raise BadInput(
                f"{self.word}: has no {where}; name a revision in which {shown(benchmark)} was run"
                f" and its {LOCK} committed"
            )
        side = _of_text(self.root, text, f"{self.word}:{where}", benchmark, self.word)
        return _dated(side, self._text)

    def benchmarks(self) -> set[str]:
        """Those that it has a lock of that names scores; not of a folder, which is of one."""
        if self.of == REVISION:
            words = ("ls-tree", "-r", "-z", "--name-only", self.commit, f"{BENCHMARKS.as_posix()}/")
            listed = _git(self.root, *words).stdout.decode("utf-8", "replace").split("\0")
            files = [Path(one) for one in listed if Path(one).match(f"{BENCHMARKS}/*/{LOCK}")]
            lead = f"{self.word}:"
        else:
            lead, files = "", [*BENCHMARKS.glob(f"*/{FILES[self.of]}")]
        texts = {file: self._text(file.as_posix()) for file in files}
        return {
            file.parent.name
            for file, text in texts.items()
            if text and has_scores(text, file.parent.name, f"{lead}{file}")
        }

    def same_as(self, other: "State") -> bool:
        """Whether both are one state."""
        if self.of == other.of == FOLDER:
            return Path(self.word).resolve() == Path(other.word).resolve()
        return (self.of, self.commit) == (other.of, other.commit)

    def _text(self, file: str) -> str | None:
        """A file's text; None where it has none."""
        if self.of != REVISION:
            return lock_text(self.root / file)
        # `./`: the project may lie in a folder of a larger repository.
        found = _git(self.root, "show", f"{self.commit}:./{file}")
        return found.stdout.decode("utf-8", "replace") if found.returncode == 0 else None


def state_of(word: str, root: Path = Path()) -> State:
    """What a word means; BadInput where that is nothing, or more than one thing."""
    git = bool(shutil.which("git")) and _git(root, "rev-parse", "--git-dir").returncode == 0
    commit = ""
    # No revision is written with a slash at its end, or with a dot at its beginning.
    if git and not word.startswith(".") and not word.endswith("/"):
        asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{word}^{{commit}}")
        commit = _git(root, *asked).stdout.decode().strip()
    could = [word] if word in FILES else [FOLDER] if Path(word, "scores.parquet").is_file() else []
    could += [REVISION] if commit else []
    if len(could) > 1:
        other = "rename the branch or tag" if word in FILES else f"write ./{word}"
        raise BadInput(
            f"{shown(word)} may be {' or '.join(could)}; write refs/heads/{word} (or"
            f" refs/tags/{word}) for the revision, or {other} for the other one"
        )
    if could:
        return State(root, word, could[0], commit if could[0] == REVISION else "")
    if word and (BENCHMARKS / word / PARAMS.name).is_file():
        raise BadInput(
            f"{shown(word)} is a benchmark, and --before and --after name states of it: `metassay"
            f" compare {word} --before STATE`, with a git revision, a folder or `accepted`"
        )
    if word and Path(word).is_dir():
        raise BadInput(
            f"{word}: the folder holds no scores.parquet; name one that does, such as"
            f" {TABLES / 'NAME'} of a checkout"
        )
    if not git:
        raise BadInput(
            f"{shown(word)} is not a folder with scores.parquet, and {Path.cwd()} is in no git"
            " repository that could have such a revision; name a folder, or run in the project"
        )
    raise BadInput(
        f"{shown(word)} is not a git revision here, and not a folder with scores.parquet; name a"
        " branch, tag or commit that `git log` knows (`git fetch` brings more), a folder, here or"
        " accepted"
    )


def here(root: Path, benchmark: str) -> Side:
    """What lies in data/tables/ now; BadInput unless dvc.lock says that it is of one run."""
    if not (root / BENCHMARKS / benchmark / LOCK).is_file():
        raise BadInput(
            f"{HERE}: {BENCHMARKS / benchmark / LOCK} is not there; `metassay run {benchmark}`"
        )
    return _of_tables(root / TABLES / benchmark, HERE, benchmark)


def of_lock(root: Path, file: Path, benchmark: str, name: str) -> Side:
    """The tables that a copy of dvc.lock names by hash, such as benchmarks/NAME/accepted.lock."""
    if not (root / file).exists():
        raise BadInput(f"{name}: {file} is not there; `metassay watch accept {benchmark}`")
    return _of_text(root, lock_text(root / file), str(file), benchmark, name)


def has_scores(text: str, benchmark: str, where: str) -> bool:
    """Whether a lock names scores: those of tests of judges and of segmentations do not."""
    return _path(benchmark, SCORES) in outs_of(parse_lock(text, where))


def _git(root: Path, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False)


def _of_text(root: Path, text: str, where: str, benchmark: str, name: str) -> Side:
    lock = parse_lock(text, where)
    made = _made(lock, where, benchmark)
    paths = {table.name: _path(benchmark, table) for table in (*NEEDED, *MORE)}
    wanted = {path: made[path] for path in paths.values() if path in made}
    found = found_tables(root, wanted, name=name, benchmark=benchmark)
    return _side(name, benchmark, lock, {key: found.get(path) for key, path in paths.items()})


def _made(lock: Lock, where: str, benchmark: str) -> dict[str, str]:
    """The hashes of what the lock's stages made; BadInput where scores are not among it."""
    made = outs_of(lock)
    absent = [path for path in (_path(benchmark, table) for table in NEEDED) if path not in made]
    if absent:
        raise BadInput(
            f"{where}: does not name {', '.join(absent)}: it belongs to another benchmark, or to a"
            f" test, which has none; or the benchmark was not run (`metassay run {benchmark}`); or"
            " the file was cut short (restore it with git)"
        )
    return made


def _of_tables(folder: Path, name: str, benchmark: str) -> Side:
    at = BENCHMARKS / benchmark / LOCK
    whole = folder.resolve()
    file = whole.parents[2] / at if whole.parts[-3:-1] == TABLES.parts else None
    files = {table.name: folder / f"{table.name}.parquet" for table in (*NEEDED, *MORE)}
    lock = parse_lock(lock_text(file), str(file)) if file and file.is_file() else None
    made = {} if lock is None else _made(lock, str(file), benchmark)
    problems, absent = [], []
    for table in NEEDED:
        one = files[table.name]
        if not one.is_file():
            remedy = f"`metassay run {benchmark}` makes it, `dvc pull` brings it"
            absent.append(f"{name}: {one} is not there; {remedy}")
        elif made and _md5(one) != made[_path(benchmark, table)]:
            remedy = f"`metassay run {benchmark}` there"
            problems.append(f"{one} is not the one that {at} beside it names; {remedy}")
    raise_problems([*problems, *absent])
    there = {key: one if one.is_file() else None for key, one in files.items()}
    side = _side(name, benchmark, lock, there)
    if lock is None:
        return side
    project = whole.parents[2]
    texts: dict[str, str] = {}
    if name == HERE:
        # code.yaml may not have been written since code or a prompt was edited. What cannot be
        # read the next run tells of.
        with contextlib.suppress(BadInput):
            texts[CODE] = written(versions(project))

    def text(path: str) -> str | None:
        file = project / path
        if path in texts or not file.is_file():
            return texts.get(path)
        return file.read_text(encoding="utf-8", errors="replace")

    dated = _dated(side, text)
    data = _changed_files(project, inputs_of(lock))
    return replace(dated, changed=(*data, *dated.changed))


def _dated(side: Side, read: Callable[[str], str | None]) -> Side:
    return replace(side, changed=tuple(out_of_date(side.lock or {"stages": {}}, read)))


def _side(name: str, benchmark: str, lock: Lock | None, files: Mapping[str, Path | None]) -> Side:
    def table(which: Table) -> pd.DataFrame:
        file = files[which.name]
        try:
            return empty(which) if file is None else read_file(which, file)
        except BadInput as error:
            raise BadInput(f"{name}: {which.name}: {line}" for line in error.problems) from error

    tables = (table(SCORES), table(LEADERBOARD), table(CERTIFICATES))
    together = table(DOCUMENT_CLUSTERS)
    clusters = dict(zip(together["doc_id"], together["cluster"], strict=True))
    return Side(name, benchmark, *tables, clusters, lock)


def tables_of(benchmark: str) -> list[str]:
    """The paths of the tables that a comparison reads."""
    return [_path(benchmark, table) for table in (*NEEDED, *MORE)]


def _path(benchmark: str, table: Table) -> str:
    return (TABLES / benchmark / f"{table.name}.parquet").as_posix()


def _md5(file: Path) -> str:
    return hashlib.md5(file.read_bytes(), usedforsecurity=False).hexdigest()


_NO_GIT = {"core": {"no_scm": True}}  # a project is as good without, as for runs


def found_tables(
    root: Path, wanted: Mapping[str, str], *, name: str, benchmark: str
) -> dict[str, Path]:
    """The files of these MD5 hashes, by the path of the table that each was.

    What is not in the cache is brought from the project's remotes, the default one first, if there
    is one. Raises BadInput, which says what to do, where none has it.
    """
    # Slow to import, and only needed here; dvc has no types.
    from dvc.exceptions import DvcException  # type: ignore[import-untyped]
    from dvc.repo import Repo  # type: ignore[import-untyped]
    from dvc_data.hashfile.hash_info import HashInfo

    # It warns of what a remote lacks, which another one may have; what none has, we say.
    logging.getLogger("dvc.data_cloud").setLevel(logging.ERROR)
    # ImportError: a remote of a sort whose package is not installed.
    failures = (DvcException, OSError, ImportError, sqlite3.Error)
    try:
        with Repo(str(root), config=_NO_GIT) as repo:
            cache = repo.cache.local
            first = repo.config["core"].get("remote")
            refused: Exception | None = None
            for remote in sorted(repo.config["remote"], key=lambda one: (one != first, one)):
                absent = [md5 for md5 in wanted.values() if not cache.exists(md5)]
                try:
                    if absent:
                        repo.cloud.pull([HashInfo("md5", md5) for md5 in absent], remote=remote)
                except failures as error:
                    refused = error  # another one may have it
            if refused and not all(map(cache.exists, wanted.values())):
                raise refused
            files = {path: Path(cache.oid_to_path(md5)) for path, md5 in wanted.items()}
    except failures as error:
        said = refusal(error) if isinstance(error, OSError) else None
        remedy = (
            DVC_REMEDY
            if isinstance(error, sqlite3.Error)
            else "run in a project that `dvc init` made, and check its remotes (docs/weekly.md)"
        )
        why = f"DVC can't be asked for tables of {benchmark}: {type(error).__name__}; {remedy}"
        said = said or why
        raise BadInput(f"{name}: {said}") from error
    absent = sorted(path for path, file in files.items() if not file.is_file())
    if absent:
        raise BadInput(
            f"{name}: missing tables, neither in DVC's cache nor in a remote: {', '.join(absent)};"
            f" `metassay push {benchmark} --to REMOTE` where they were made, or check that state"
            f" out in another clone, `metassay run {benchmark}` there, and compare with that"
            f" clone's data/tables/{benchmark}"
        )
    return files


def _changed_files(root: Path, recorded: Mapping[str, str]) -> list[str]:
    """The files and folders that are there and are others than their MD5, as DVC makes it, says.

    An empty list, too, where DVC does not work: nothing is known then.
    """
    there = {path: md5 for path, md5 in recorded.items() if (root / path).exists()}
    if not there:
        return []
    from dvc.exceptions import DvcException
    from dvc.repo import Repo
    from dvc_data.hashfile.build import build

    changed = []
    try:
        with Repo(str(root), config=_NO_GIT) as repo:
            for path, md5 in there.items():
                given = (repo.cache.local, str((root / path).resolve()), repo.cache.local.fs, "md5")
                *_, found = build(*given, ignore=repo.dvcignore, dry_run=True)
                if found.hash_info.value != md5:
                    changed.append(path)
    except (DvcException, OSError, ImportError, sqlite3.Error):
        return []
    return changed
