"""Names of benchmarks on the command line, checked before anything is imported or read."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from metassay.core.errors import hint, raise_problems

_FOLDER = Path("benchmarks")
_FILE = "params.yaml"


def check_names(names: Iterable[str]) -> None:
    """Raise BadInput for names that no folder of the project's benchmarks has.

    Outside of a project nothing is checked here: the command says that first.
    """
    known = sorted(path.parent.name for path in _FOLDER.glob(f"*/{_FILE}"))
    if known:
        raise_problems(name_problems(names, known))


def name_problems(names: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    """Yield a problem for each name that is not known, with the nearest that is."""
    folders = [*known]
    for name in names:
        if name in folders:
            continue
        if (_FOLDER / name).is_dir():
            file = _FOLDER / name / _FILE
            yield f"{file} does not exist; bring it back, as by git"
        else:
            close = hint(name, folders)
            joined = f"{close} There are" if close else "; there are"
            yield f"{_FOLDER}/: no {name!r}{joined}: {', '.join(folders)}"
