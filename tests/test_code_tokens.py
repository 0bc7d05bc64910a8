"""Code as a version: what a Python file says to the machine."""

import contextlib
import os
import shutil
import subprocess
import sys
import tokenize
from itertools import product
from pathlib import Path

import pytest

from metassay.versions import closure
from metassay.versions.closure import code_words, hash_of, join_strings

ROOT = Path(__file__).parent.parent
VECTOR = '''\
"""Docstring."""
from x import (  # a comment
    y,
)
a = f"{y!r:>{width}} and {'é' + f'{1:.2f}'} {{}} {y = }" "plain" rf\'\\d{y}\'
b = f"""über {
    y
} lines
# no comment
"""; c = 1_000.5e-3j
class C:

    "An attribute's docstring"
    x: int = 0 if not y else ~y @ 2 ** 3  \\
        << 1

    async def f(self, *, a=b"\\x00", **k) -> "C":
        """Another."""
        match a:
            case {"k": [1, *_]} if (n := 1): return lambda: (yield)
        f"{print()}"
'''


def test_tokens_are_the_same_under_every_python():
    assert hash_of(code_words(VECTOR)) == "a41e262b34fe6e1e"  # written once, under 3.11


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_every_file_of_ours_has_the_same_tokens_under(version):
    program = (
        "import sys, pathlib\nfrom metassay.versions.closure import code_words, hash_of\n"
        "files = sorted(pathlib.Path('.').glob('[ms]*/**/*.py'))\n"
        "print(len(files), hash_of(w for f in files for w in code_words(f.read_text('utf-8'))))\n"
    )

    def run(python: str, *, check: bool = True) -> "subprocess.CompletedProcess[str]":
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [python, "-S", "-c", program if check else ""]
        return subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=check,
        )

    if version == "{}.{}".format(*sys.version_info):
        pytest.skip("that is the Python which runs this")
    python = shutil.which(f"python{version}")
    if python is None or run(python, check=False).returncode:
        pytest.skip(f"Python {version} is not installed")
    assert run(python).stdout == run(sys.executable).stdout


def test_the_parts_of_an_f_string_are_one_token(monkeypatch):
    """As Python 3.12 gives them, by hand: x = f"a{f'{y}'}b" + f-string over two lines."""
    opening, middle, closing = 901, 902, 903
    monkeypatch.setattr(closure, "_OPENING", {opening})
    monkeypatch.setattr(closure, "_CLOSING", {closing})
    lines = ["x = f\"a{f'{y}'}b\" + f'''é{\n", "z}'''\n"]
    parts = [  # kind, text, first and last column, first and last row
        (tokenize.NAME, "x", 0, 1, 1, 1),
        (tokenize.OP, "=", 2, 3, 1, 1),
        (opening, 'f"', 4, 6, 1, 1),
        (middle, "a", 6, 7, 1, 1),
        (tokenize.OP, "{", 7, 8, 1, 1),
        (opening, "f'", 8, 10, 1, 1),
        (tokenize.OP, "{", 10, 11, 1, 1),
        (tokenize.NAME, "y", 11, 12, 1, 1),
        (tokenize.OP, "}", 12, 13, 1, 1),
        (closing, "'", 13, 14, 1, 1),
        (tokenize.OP, "}", 14, 15, 1, 1),
        (middle, "b", 15, 16, 1, 1),
        (closing, '"', 16, 17, 1, 1),
        (tokenize.OP, "+", 18, 19, 1, 1),
        (opening, "f'''", 20, 24, 1, 1),
        (middle, "é", 24, 25, 1, 1),
        (tokenize.NL, "\n", 26, 27, 1, 1),
        (tokenize.NAME, "z", 0, 1, 2, 2),
        (closing, "'''", 2, 5, 2, 2),
        (tokenize.NEWLINE, "\n", 5, 6, 2, 2),
    ]
    tokens = [
        tokenize.TokenInfo(kind, text, (row, left), (end, right), "")
        for kind, text, left, right, row, end in parts
    ]
    wanted = ["x", "=", "f\"a{f'{y}'}b\"", "+", "f'''é{\nz}'''", "\n"]
    assert [text for _, text, _ in join_strings(tokens, lines)] == wanted


NOISE = ["", "   ", "\t", "# note", '    # f\'{x}\' """', "\f"]
STATEMENTS = [
    "x = [1,",
    "2]",
    "def f():",
    "    if x:",
    "        return f'{x}'",
    "    y = (",
    ")",
    "z = 1",
]


def test_blank_lines_and_comments_may_stand_anywhere():
    words = code_words("\n".join(STATEMENTS) + "\n")
    for noise, at in product([*NOISE, "\n".join(NOISE)], range(len(STATEMENTS))):
        lines = [*STATEMENTS[:at], noise, *STATEMENTS[at:]]
        assert code_words("\n".join(lines)) == words, (noise, at)


def test_a_further_word_is_seen_anywhere():
    words = code_words("\n".join(STATEMENTS))
    for word, at in product(["q", "7", "'s'"], range(len(STATEMENTS))):
        lines = list(STATEMENTS)
        lines[at] = (
            lines[at].replace("x", word).replace("2", word).replace("z", word)
            + f" {word}"
        )
        with contextlib.suppress(tokenize.TokenError):
            assert code_words("\n".join(lines)) != words, (word, at)
