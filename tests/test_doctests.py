"""The examples in docstrings show what the code returns."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CODE = [*(ROOT / "metassay").rglob("*.py"), *(ROOT / "papers").rglob("*.py")]
WITH_EXAMPLES = sorted(
    str(path.relative_to(ROOT))
    for path in CODE
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("file", WITH_EXAMPLES)
def test_the_examples_of_a_module_are_true(file: str) -> None:
    name = file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    results = doctest.testmod(
        importlib.import_module(name),
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
    )
    assert results.attempted > 0, "an example stands where doctest does not look"
    assert results.failed == 0
