"""What other tools wrote, read into tables of one's own: a module per tool, each with its KIND."""

import importlib
from collections.abc import Mapping

from metassay.imports.record import Kind

MODULES: Mapping[str, str] = {
    "inspect": "metassay.imports.inspect_logs",
    "lm-eval": "metassay.imports.lm_eval",
    "ragas": "metassay.imports.ragas",
    "deepeval": "metassay.imports.deepeval",
    "promptfoo": "metassay.imports.promptfoo",
    "langfuse": "metassay.imports.langfuse",
    "phoenix": "metassay.imports.phoenix",
    "mlflow": "metassay.imports.mlflow",
    "scout": "metassay.imports.scout",
    "label-studio": "metassay.imports.label_studio",
}


def load_kind(name: str) -> Kind:
    """The reader of one tool's files."""
    kind: Kind = importlib.import_module(MODULES[name]).KIND
    return kind
