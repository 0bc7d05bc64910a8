"""Judges know the training half alone: no word of the test half stands in their code."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from metassay.text.vocabulary import SPLIT, words

ROOT = Path(__file__).parents[3]
JUDGE = ROOT / "metassay/judges/semantic"
# Each constant that has such a word, where it stands and as often as it does: what
# users are told, and arguments of libraries. No rule reads them; a list of words would
# be one constant more.
SHOWN = [
    ("coefficients", "forbid", "forbid"),
    ("features", "stable", "stable"),
    ("judge", "every word has support", "support"),
    ("judge", "support ", "support"),
    ("judge", "violations cannot be told by support", "support"),
    ("judge", "without support: ", "support"),
]
# A name of a feature or a field (best_0, supporting_sentences) is one word, which no
# text has.
_ESCAPE = re.compile(r"\\[a-zA-Z]")  # of a pattern, no letter of the word behind it
_WORD = re.compile(r"[A-Za-z]\w*")


def constants(code: str) -> Iterator[str]:
    """The strings of a file, those within others too, but for docstrings."""
    tree = ast.parse(code)
    docstrings = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node not in docstrings
        ):
            yield node.value


def unseen(code: str) -> Iterator[tuple[str, str]]:
    """Each constant with a word of the test half, and the word."""
    for text in constants(code):
        text_words = f" {' '.join(_WORD.findall(_ESCAPE.sub(' ', text)))} "
        for kind in SPLIT:
            for word in words(kind, "test"):
                plain = " ".join(_WORD.findall(word))
                if f" {plain} " in (
                    text_words if word != word.lower() else text_words.lower()
                ):
                    yield text, word


def test_no_word_of_the_test_half_is_in_a_judges_code() -> None:
    rows = [
        (str(file.relative_to(JUDGE).with_suffix("")), text, word)
        for file in sorted(JUDGE.rglob("*.py"))
        for text, word in unseen(file.read_text(encoding="utf-8"))
    ]
    assert sorted(rows) == SHOWN


def test_lists_rules_and_patterns_with_unseen_words_are_found() -> None:
    code = '''
"""Mild is told here."""
LIST = _set("moderate mild extreme")
PAIRS = {"kidney": ["hip", "knee"]}
PATTERN = re.compile(r"\\\\bin\\\\s+the\\\\s+(?:liver|lisinopril)\\\\b")
NAMES = ("best_0", "stable_ones")
def rule(word):
    """Severe is told here."""
    return word == "HTN" or f"{word} high blood pressure"
'''
    seen = {word for _, word in unseen(code)}
    assert {"mild", "knee", "liver", "lisinopril", "HTN", "high blood pressure"} <= seen
    assert not {"best", "stable", "severe", "hip", "kidney"} & seen


def test_only_the_training_half_is_asked_for() -> None:
    for file in sorted(JUDGE.rglob("*.py")):
        assert '"test"' not in file.read_text(encoding="utf-8"), file.name
