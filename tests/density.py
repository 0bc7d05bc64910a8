"""How densely the code is written: a table to compare with other projects and with before.

    python -m tests.density

Packed lines are hard to read. Well-kept projects have 29 to 40 characters a line and
under 10 % of lines of 90 characters or more. The numbers follow from writing one idea
a line; they are not aims by themselves.
"""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.form import unpacked_literals

ROOT = Path(__file__).parents[1]
FOLDERS = ("metassay", "stages", "flows", "papers", "tests")
LONG = 90  # characters of a long line
_RECORD_BASES = {"NamedTuple", "TypedDict"}
_WORD = re.compile(r"[\w'-]+|#.*|")


def measure(folder: str) -> dict[str, str]:
    """Measure the files of a folder that git knows, and those it does not ignore.

    Returns
    -------
    dict of str to str
        Values by what they are: of Python files, then how many YAML and text files
        there are that are more than lists of words.
    """
    files = _list_files(folder)
    texts = [path.read_text("utf-8") for path in files if path.suffix == ".py"]
    trees = [ast.parse(text) for text in texts]
    unpacked = [line for tree in trees for line in unpacked_literals(tree)]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    all_lines = [line for text in texts for line in text.splitlines()]
    lines = [line for line in all_lines if line.strip()]
    long = [line for line in lines if len(line) >= LONG]
    comments = [line for line in lines if line.strip().startswith("#")]
    characters = sum(len(line.strip()) for line in lines)
    records = [node for node in nodes if is_record(node)]
    data = [path for path in files if path.suffix in (".yaml", ".yml", ".txt")]
    return {
        "Python files": f"{len(texts):,}",
        "lines that are not blank": f"{len(lines):,}",
        "characters a line": f"{characters / len(lines):.1f}",
        f"lines of {LONG} characters or more": f"{len(long) / len(lines):.1%}",
        "lines of comment": f"{len(comments) / len(lines):.1%}",
        "unpacked literals": f"{len(unpacked):,}",
        "record types": f"{len(records):,}",
        "YAML and text files, not lists of words": f"{sum(map(has_grammar, data)):,}",
    }


def is_record(node: ast.AST) -> bool:
    """Whether a node is the class of a record: a dataclass, a named tuple or a typed dict."""
    if not isinstance(node, ast.ClassDef):
        return False
    bases = {ast.unparse(base) for base in node.bases}
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    is_dataclass = any(name.startswith("dataclass") for name in decorators)
    return is_dataclass or bool(bases & _RECORD_BASES)


def has_grammar(path: Path) -> bool:
    """Whether a file has more than one word a line, comments aside."""
    lines = path.read_text("utf-8").splitlines()
    return not all(_WORD.fullmatch(line.strip()) for line in lines)


def write_table() -> Iterator[str]:
    """Yield the lines of a Markdown table with a column per folder."""
    columns = {folder: measure(folder) for folder in FOLDERS}
    yield f"| | {' | '.join(columns)} |"
    yield "|---" * (len(columns) + 1) + "|"
    for name in columns[FOLDERS[0]]:
        values = [column[name] for column in columns.values()]
        yield f"| {name} | {' | '.join(values)} |"


def _list_files(folder: str) -> list[Path]:
    command = ["git", "ls-files", "-co", "--exclude-standard", folder]
    names = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    )
    paths = [ROOT / name for name in names.stdout.splitlines()]
    return [path for path in paths if path.is_file()]


if __name__ == "__main__":
    for line in write_table():
        print(line)
