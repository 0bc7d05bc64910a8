"""A side of a comparison: the numbers of a benchmark at one state, and its dvc.lock.

Tables of another state are fetched by their hash, from DVC's cache or a remote of the
project. No other module of the library calls DVC.
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
from metassay.core.params import Benchmark, load
from metassay.core.stages import SORTS, VERSIONS
from metassay.core.versions import format_yaml, versions
from metassay.core.work import DVC_REMEDY
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.documents import DOCUMENT_CLUSTERS
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.parquet import Table, empty, read_file
from metassay.tables.scores import SCORES

Lock = Mapping[str, Any]

_ABSENT = object()


class NoTables(BadInput):
    """Tables of a state are not there, and nothing is wrong with those that are."""


class _File(BaseModel):
    path: str


class _Stage(BaseModel):
    """A stage in a dvc.lock, as DVC writes it."""

    deps: list[_File] | None = None
    outs: list[_File] | None = None
    params: dict[str, dict[str, Any]] | None = None


_STAGES = TypeAdapter(dict[str, _Stage])

# The list of a benchmark's params.yaml that names the instances of a stage.
_LISTS: Mapping[str, str] = {
    stage.name: stage.each for stage in SORTS[Benchmark][0] if stage.each
}


def lock_text(file: Path) -> str:
    """Read a lock for `parse_lock`, which checks that it is UTF-8; BadInput without a file."""
    if not file.is_file():
        raise BadInput(f"{file}: {_no_lock('')}")
    return file.read_text(encoding="utf-8", errors="replace")


def parse_lock(text: str, where: str) -> Lock:
    """Parse a dvc.lock, without instances no longer listed; raises BadInput if it is no lock."""
    try:
        readable = "\ufffd" not in text
        lock: Any = yaml.load(text, Loader=strict_yaml.LOADER) if readable else None
        stages = lock["stages"]
        _STAGES.validate_python(stages, strict=True)
    except (yaml.YAMLError, ValueError, LookupError, TypeError, RecursionError):
        raise BadInput(f"{where}: {_no_lock(text)}") from None
    listed = {name.partition("@")[0] for name in stages if "@" in name}
    stages = {name: stage for name, stage in stages.items() if name not in listed}
    lists: dict[str, Any] = {}
    for name, stage in stages.items():
        if "@" not in name:
            for file, keys in (stage.get("params") or {}).items():
                lists |= keys if file.startswith(f"{BENCHMARKS.as_posix()}/") else {}
    return {
        **lock,
        "stages": {n: stage for n, stage in stages.items() if _is_listed(n, lists)},
    }


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


def _is_listed(stage: str, lists: Mapping[str, Any]) -> bool:
    """Return whether an instance such as `judge@lexical` is in the list that later stages read."""
    name, _, item = stage.partition("@")
    names = lists.get(_LISTS.get(name, ""))
    return not item or not isinstance(names, list | dict) or item in names


def outs_of(lock: Lock) -> dict[str, str]:
    """Return the MD5 of each output of the lock's stages, by path."""
    outs = [out for stage in lock["stages"].values() for out in stage.get("outs") or ()]
    return {str(out["path"]): str(out.get("md5", "")) for out in outs}


def inputs_of(lock: Lock) -> dict[str, str]:
    """Return the MD5 of each file and folder that the lock's stages read and none of them made."""
    outs = outs_of(lock)
    deps = [dep for stage in lock["stages"].values() for dep in stage.get("deps") or ()]
    inputs = {str(dep["path"]): str(dep["md5"]) for dep in deps if dep.get("md5")}
    return {
        path: md5
        for path, md5 in inputs.items()
        if not any(out == path or out.startswith(f"{path}/") for out in outs)
    }


def differing_params(lock: Lock, read: Callable[[str], str | None]) -> list[str]:
    """List the params that differ from what the stages read, once each: `params.yaml > models`.

    `read` returns the text of a file of the project at that state; None if there is
    none.
    """

    @cache
    def content(file: str) -> Any:
        try:
            return yaml.load(read(file) or "", Loader=strict_yaml.LOADER)
        except yaml.YAMLError:
            return None  # after a merge, perhaps: everything in it differs

    def value_of(file: str, key: str) -> Any:
        """Return the value at `judges.mini`; no name has a dot in it."""
        value = content(file)
        for name in key.split("."):
            value = value.get(name, _ABSENT) if isinstance(value, Mapping) else _ABSENT
        return value

    differing: dict[str, None] = {}
    for stage in lock["stages"].values():
        for file, keys in (stage.get("params") or {}).items():
            changed = (
                key for key, value in keys.items() if value_of(file, key) != value
            )
            differing |= dict.fromkeys(f"{file} > {key}" for key in changed)
    return list(differing)


TABLES = Path("data/tables")
LOCK = "dvc.lock"
ACCEPTED = "accepted.lock"
HERE, OF_ACCEPTED, FOLDER, REVISION = "here", "accepted", "folder", "revision"
FILES: Final = {HERE: LOCK, OF_ACCEPTED: ACCEPTED}  # the locks in a benchmark's folder
NEEDED, MORE = (SCORES, LEADERBOARD), (CERTIFICATES, DOCUMENT_CLUSTERS)


@dataclass(frozen=True)
class Side:
    """The numbers of a benchmark at one state.

    `name`: as its user named it. `certificates` has no rows where nobody rated the
    texts. `clusters`: document -> cluster, as in table document_clusters. `lock`: its
    dvc.lock; None for a folder of tables outside a project. `changed`: settings, code
    and, for tables in a project, data that have changed since the run. If there are
    any, run again.
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
    """The state of the project here that a word names; only a revision has a `commit`."""

    word: str
    kind: str
    commit: str = ""

    def load(self, benchmark: str) -> Side:
        """Load the numbers of a benchmark; raises BadInput if there are none."""
        if self.kind == HERE:
            return load_here(Path(), benchmark)
        if self.kind == OF_ACCEPTED:
            return load_locked(
                Path(), BENCHMARKS / benchmark / ACCEPTED, benchmark, self.word
            )
        if self.kind == FOLDER:
            path = Path(self.word)
            return _load_folder(path, str(path), path.resolve().name)
        where = (BENCHMARKS / benchmark / LOCK).as_posix()
        text = self.text(where)
        if text is None:
            raise BadInput(
                f"{self.word}: has no {where}; name a revision in which {shown(benchmark)} was run"
                f" and its {LOCK} committed"
            )
        lock = parse_lock(text, f"{self.word}:{where}")
        side = _load_locked(Path(), lock, f"{self.word}:{where}", benchmark, self.word)
        return replace(side, changed=tuple(differing_params(lock, self.text)))

    def benchmarks(self) -> set[str]:
        """Return the benchmarks whose lock has scores; not for a folder of a single benchmark."""
        if self.kind == REVISION:
            query = (
                "ls-tree",
                "-r",
                "-z",
                "--name-only",
                self.commit,
                f"{BENCHMARKS.as_posix()}/",
            )
            names = _git(*query).stdout.decode("utf-8", "replace").split("\0")
            files = [
                Path(name)
                for name in names
                if Path(name).match(f"{BENCHMARKS}/*/{LOCK}")
            ]
            lead = f"{self.word}:"
        else:
            lead, files = "", [*BENCHMARKS.glob(f"*/{FILES[self.kind]}")]
        texts = {file: self.text(file.as_posix()) for file in files}
        return {
            file.parent.name
            for file, text in texts.items()
            if text and has_scores(text, file.parent.name, f"{lead}{file}")
        }

    def same_as(self, other: "State") -> bool:
        """Return whether both words name the same state."""
        if self.kind == other.kind == FOLDER:
            return Path(self.word).resolve() == Path(other.word).resolve()
        return (self.kind, self.commit) == (other.kind, other.commit)

    def text(self, file: str) -> str | None:
        """Return a file's text; None if this state has no such file."""
        if self.kind != REVISION:
            return lock_text(Path(file))
        # `./`: the project may lie in a folder of a larger repository.
        result = _git("show", f"{self.commit}:./{file}")
        return (
            result.stdout.decode("utf-8", "replace") if result.returncode == 0 else None
        )


def state_of(word: str) -> State:
    """Return the state that a word names; raises BadInput if it names none, or several."""
    git = bool(shutil.which("git")) and _git("rev-parse", "--git-dir").returncode == 0
    commit = ""
    # No revision is written with a slash at its end, or with a dot at its beginning.
    if git and not word.startswith(".") and not word.endswith("/"):
        query = (
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            f"{word}^{{commit}}",
        )
        commit = _git(*query).stdout.decode().strip()
    kinds = []
    if word in FILES:
        kinds.append(word)
    elif Path(word, "scores.parquet").is_file():
        kinds.append(FOLDER)
    if commit:
        kinds.append(REVISION)
    if len(kinds) > 1:
        other = "rename the branch or tag" if word in FILES else f"write ./{word}"
        raise BadInput(
            f"{shown(word)} can be {' or '.join(kinds)}; write refs/heads/{word} (or"
            f" refs/tags/{word}) for the revision, or {other} for the other one"
        )
    if kinds:
        return State(word, kinds[0], commit if kinds[0] == REVISION else "")
    if word and (BENCHMARKS / word / PARAMS.name).is_file():
        raise BadInput(
            f"{shown(word)} is a benchmark, and --before and --after name states of it: `metassay"
            f" compare {word} --before STATE`, with a git revision, a folder or `accepted`"
        )
    if word and Path(word).is_dir():
        raise BadInput(
            f"{word}: the folder has no scores.parquet; name one that has it, such as"
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


def load_here(root: Path, benchmark: str) -> Side:
    """Load what data/tables/ has now; raises BadInput unless it is of the run in dvc.lock."""
    if not (root / BENCHMARKS / benchmark / LOCK).is_file():
        raise BadInput(
            f"{HERE}: {BENCHMARKS / benchmark / LOCK} does not exist; `metassay run {benchmark}`"
        )
    return _load_folder(root / TABLES / benchmark, HERE, benchmark)


def load_locked(root: Path, file: Path, benchmark: str, name: str) -> Side:
    """Load tables by the hashes in a copy of dvc.lock, such as benchmarks/NAME/accepted.lock."""
    if not (root / file).exists():
        raise BadInput(
            f"{name}: {file} does not exist; `metassay watch accept {benchmark}`"
        )
    lock = parse_lock(lock_text(root / file), str(file))
    return _load_locked(root, lock, str(file), benchmark, name)


def has_scores(text: str, benchmark: str, where: str) -> bool:
    """Return whether a lock names scores: locks of judge and segmentation tests do not."""
    return table_path(benchmark, SCORES) in outs_of(parse_lock(text, where))


def _git(*arguments: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(["git", *arguments], capture_output=True, check=False)


def _load_locked(root: Path, lock: Lock, where: str, benchmark: str, name: str) -> Side:
    outs = _require_outs(lock, where, benchmark)
    paths = {table.name: table_path(benchmark, table) for table in (*NEEDED, *MORE)}
    hashes = {path: outs[path] for path in paths.values() if path in outs}
    files = fetch_tables(root, hashes, name=name, benchmark=benchmark)
    return _side(
        name, benchmark, lock, {key: files.get(path) for key, path in paths.items()}
    )


def _require_outs(lock: Lock, where: str, benchmark: str) -> dict[str, str]:
    """Return the hashes of the outputs; raises BadInput if scores or leaderboard are missing."""
    outs = outs_of(lock)
    missing = [
        path
        for path in (table_path(benchmark, table) for table in NEEDED)
        if path not in outs
    ]
    if missing:
        raise BadInput(
            f"{where}: does not name {', '.join(missing)}: it belongs to another benchmark, or to a"
            f" test, which has none; or the benchmark was not run (`metassay run {benchmark}`); or"
            " the file was cut short (restore it with git)"
        )
    return outs


def _load_folder(folder: Path, name: str, benchmark: str) -> Side:
    lock_path = BENCHMARKS / benchmark / LOCK
    full = folder.resolve()
    lock_file = (
        full.parents[2] / lock_path if full.parts[-3:-1] == TABLES.parts else None
    )
    files = {table.name: folder / f"{table.name}.parquet" for table in (*NEEDED, *MORE)}
    lock = None
    if lock_file and lock_file.is_file():
        lock = parse_lock(lock_text(lock_file), str(lock_file))
    outs = {} if lock is None else _require_outs(lock, str(lock_file), benchmark)
    problems, missing = [], []
    for table in NEEDED:
        file = files[table.name]
        if not file.is_file():
            remedy = f"`metassay run {benchmark}` makes it, `dvc pull` brings it"
            missing.append(f"{name}: {file} does not exist; {remedy}")
            continue
        md5 = hashlib.md5(file.read_bytes(), usedforsecurity=False).hexdigest()
        if outs and md5 != outs[table_path(benchmark, table)]:
            remedy = f"`metassay run {benchmark}` there"
            problems.append(
                f"{file} is not the one that {lock_path} beside it names; {remedy}"
            )
    if missing and not problems:
        raise NoTables(missing)
    raise_problems([*problems, *missing])
    present = {key: path if path.is_file() else None for key, path in files.items()}
    side = _side(name, benchmark, lock, present)
    if lock is None:
        return side
    project = full.parents[2]
    texts: dict[str, str] = {}
    if name == HERE:
        # versions.yaml may be older than the last edit of a prompt or a version. The
        # next run reports what cannot be read.
        with contextlib.suppress(BadInput):
            texts[VERSIONS] = format_yaml(versions(project, load(project)))

    def text(path: str) -> str | None:
        file = project / path
        if path in texts or not file.is_file():
            return texts.get(path)
        return file.read_text(encoding="utf-8", errors="replace")

    data = _changed_files(project, inputs_of(lock))
    return replace(side, changed=(*data, *differing_params(lock, text)))


def _side(
    name: str, benchmark: str, lock: Lock | None, files: Mapping[str, Path | None]
) -> Side:
    def table(contract: Table) -> pd.DataFrame:
        file = files[contract.name]
        try:
            return empty(contract) if file is None else read_file(contract, file)
        except BadInput as error:
            raise BadInput(
                f"{name}: {contract.name}: {line}" for line in error.problems
            ) from error

    tables = (table(SCORES), table(LEADERBOARD), table(CERTIFICATES))
    members = table(DOCUMENT_CLUSTERS)
    clusters = dict(zip(members["doc_id"], members["cluster"], strict=True))
    return Side(name, benchmark, *tables, clusters, lock)


def tables_of(benchmark: str) -> list[str]:
    """Return the paths of the tables that a comparison reads."""
    return [table_path(benchmark, table) for table in (*NEEDED, *MORE)]


def table_path(benchmark: str, table: Table) -> str:
    """Return the path of a benchmark's table, as locks name it."""
    return (TABLES / benchmark / f"{table.name}.parquet").as_posix()


_NO_GIT = {"core": {"no_scm": True}}  # a project needs no git, as for runs


def fetch_tables(
    root: Path, hashes: Mapping[str, str], *, name: str, benchmark: str
) -> dict[str, Path]:
    """Return the files of the MD5 `hashes`, by the path of each table.

    What the cache lacks is pulled from the project's remotes, the default remote first.
    Raises BadInput if none has it.
    """
    # Imported here because DVC is slow to import; it has no types.
    from dvc.exceptions import DvcException  # type: ignore[import-untyped]
    from dvc.repo import Repo  # type: ignore[import-untyped]
    from dvc_data.hashfile.hash_info import HashInfo

    # DVC warns of what a remote lacks, but another remote may have it; BadInput names
    # the rest.
    logging.getLogger("dvc.data_cloud").setLevel(logging.ERROR)
    # ImportError: the package for this kind of remote is not installed.
    failures = (DvcException, OSError, ImportError, sqlite3.Error)
    try:
        with Repo(str(root), config=_NO_GIT) as repo:
            cache = repo.cache.local
            first = repo.config["core"].get("remote")
            refused: Exception | None = None
            for remote in sorted(
                repo.config["remote"], key=lambda name: (name != first, name)
            ):
                missing = [md5 for md5 in hashes.values() if not cache.exists(md5)]
                try:
                    if missing:
                        repo.cloud.pull(
                            [HashInfo("md5", md5) for md5 in missing], remote=remote
                        )
                except failures as error:
                    refused = error  # another remote may have it
            if refused and not all(map(cache.exists, hashes.values())):
                raise refused
            files = {path: Path(cache.oid_to_path(md5)) for path, md5 in hashes.items()}
    except failures as error:
        remedy = (
            DVC_REMEDY
            if isinstance(error, sqlite3.Error)
            else "run in a project that `dvc init` made, and check its remotes (docs/weekly.md)"
        )
        failure = f"DVC can't be asked for tables of {benchmark}: {type(error).__name__}; {remedy}"
        reason = (refusal(error) if isinstance(error, OSError) else None) or failure
        raise BadInput(f"{name}: {reason}") from error
    missing = sorted(path for path, file in files.items() if not file.is_file())
    if missing:
        raise NoTables(
            f"{name}: missing tables, neither in DVC's cache nor in a remote: {', '.join(missing)};"
            f" `metassay push {benchmark} --to REMOTE` where they were made, or check that state"
            f" out in another clone, `metassay run {benchmark}` there, and compare with that"
            f" clone's data/tables/{benchmark}"
        )
    return files


def _changed_files(root: Path, recorded: Mapping[str, str]) -> list[str]:
    """List existing files and folders with another MD5 than DVC's; empty if DVC does not work."""
    present = {path: md5 for path, md5 in recorded.items() if (root / path).exists()}
    if not present:
        return []
    from dvc.exceptions import DvcException
    from dvc.repo import Repo
    from dvc_data.hashfile.build import build

    changed = []
    try:
        with Repo(str(root), config=_NO_GIT) as repo:
            for path, md5 in present.items():
                odb, full = repo.cache.local, str((root / path).resolve())
                *_, built = build(
                    odb, full, odb.fs, "md5", ignore=repo.dvcignore, dry_run=True
                )
                if built.hash_info.value != md5:
                    changed.append(path)
    except (DvcException, OSError, ImportError, sqlite3.Error):
        return []
    return changed
