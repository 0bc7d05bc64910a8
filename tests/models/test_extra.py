"""Without the extra `models` an error says what to install, and nothing else breaks."""

import subprocess
import sys
from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.models import extra

ROOT = Path(__file__).parents[2]
HINT = r'is not installed; run: pip install "metassay\[models\]"'

# Hides the extra from this process, imports everything that may use it, and then uses
# it.
WITHOUT = """
import importlib.metadata, importlib.util, sys
HIDDEN = ("torch", "transformers", "bert_score", "tokenizers")

class Hider:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hider())
found = importlib.metadata.version
def version(name):
    if name.replace("-", "_") in HIDDEN:
        raise importlib.metadata.PackageNotFoundError(name)
    return found(name)
importlib.metadata.version = version

from metassay.core.errors import BadInput
from metassay.generation import decoding
from metassay.metrics import bertscore
from metassay.models import encoders, matching, outputs

options = bertscore.BertscoreOptions(model=sys.argv[1], device="cpu", dtype="float32", idf=False)
# What needs no model is computed.
print(bertscore.measure(["", "a"], ["", ""], options)["bertscore_f1"])
for use in (
    lambda: bertscore.measure(["a"], ["b"], options),
    lambda: bertscore.recipe(options),
    lambda: encoders.load_encoder(options),
):
    try:
        use()
    except BadInput as error:
        print(error)
"""


def test_what_is_not_there_says_what_to_install(tmp_path: Path, monkeypatch) -> None:
    for use in (extra.module, extra.version, extra.folder):
        with pytest.raises(BadInput, match=f"no_such_package {HINT}"):
            use("no_such_package")
    # A package that is there but broken is not called absent.
    (tmp_path / "broken_package.py").write_text("import lacks_this", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="lacks_this"):
        extra.module("broken_package")


def test_nothing_else_breaks_without_the_extra(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, str(tmp_path)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    computed, *errors = done.stdout.splitlines()
    assert computed == (
        "[Measured(value=None, statistics=None, cut=False),"
        " Measured(value=0.0, statistics=None, cut=False)]"
    )
    assert len(errors) == 3
    assert all('run: pip install "metassay[models]"' in error for error in errors)
