"""What only DVC knows: tables of another state by their hash, out of its cache or a remote of the
project, and whether files of data are those that a lock names.

The one module of the library that asks DVC.
"""

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path

from metassay.disk import refusal
from metassay.errors import BadInput

_NO_GIT = {"core": {"no_scm": True}}  # a project is as good without, as for runs


def find(root: Path, wanted: Mapping[str, str], *, name: str, benchmark: str) -> dict[str, Path]:
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
    failures = (DvcException, OSError, ImportError)
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
        if said:
            raise BadInput(f"{name}: {said}") from error
        raise BadInput(
            f"{name}: DVC can't be asked for tables of {benchmark}: {type(error).__name__}; run in"
            " a project that `dvc init` made, and check its remotes (docs/sharing.md)"
        ) from error
    return _there(files, name, benchmark)


def changed_files(root: Path, recorded: Mapping[str, str]) -> list[str]:
    """The files and folders of a project that are others than their hash, as DVC makes it, says.

    `recorded`: their MD5 by path. What is not there is passed over: a clone may have the tables
    alone. DVC keeps the hashes of files whose size and time are as before, so that only what was
    written since is read. An empty list, too, where DVC does not work: nothing is known then.
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
    except (DvcException, OSError, ImportError):
        return []
    return changed


def _there(files: Mapping[str, Path], name: str, benchmark: str) -> dict[str, Path]:
    absent = sorted(path for path, file in files.items() if not file.is_file())
    if absent:
        raise BadInput(_absent(absent, name, benchmark))
    return dict(files)


def _absent(paths: Iterable[str], name: str, benchmark: str) -> str:
    return (
        f"{name}: of that state {', '.join(paths)} are neither in DVC's cache nor in a remote;"
        f" `metassay push {benchmark} --to REMOTE` where they were made, or check that state out in"
        f" another clone, `metassay run {benchmark}` there, and compare with that clone's"
        f" data/tables/{benchmark}"
    )
