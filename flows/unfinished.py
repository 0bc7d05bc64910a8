"""Stages that lack answers of language models: run again, although their inputs are as before.

DVC cannot know that asking again may get what is missing. It is read from the tables `responses`
that stages have written, and from whether there is a key, or anybody who listens.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from metassay.llm.messages import mendable

RESPONSES = "responses"


def answers(stage: Any) -> list[Path]:
    """The files of answers that one of DVC's stages writes: none if it asks no model."""
    outs = (Path(out.fs_path) for out in stage.outs)
    return [out for out in outs if out.parent.name == RESPONSES]


def asks_again(stage: Any) -> bool:
    """Whether one of DVC's stages lacks answers that asking again may get, and can ask."""
    models = {model for file in answers(stage) for model in _lacking(file, mendable)}
    return bool(models) and _can_ask(models)


def lacks(stage: Any) -> bool:
    """Whether one of DVC's stages lacks any answer, such as one that failed for good."""
    return any(_lacking(file, lambda _: True) for file in answers(stage))


def _lacking(file: Path, counts: Callable[[str], bool]) -> set[str]:
    """The models, by their provider's identifier, without answers for reasons that count."""
    import pyarrow.parquet as pq

    from metassay.tables.parquet_file import DAMAGE

    try:
        # Not the whole file: it holds every text.
        found = pq.read_table(file, columns=["status", "finish_reason"]).to_pydict()
        pairs = zip(found["status"], found["finish_reason"], strict=True)
        rows = [
            n for n, (status, why) in enumerate(pairs) if status == "error" and counts(str(why))
        ]
        if not rows:
            return set()
        requests = pq.read_table(file, columns=["request"]).take(rows)["request"].to_pylist()
        return {str(json.loads(request)["model"]) for request in requests}
    except DAMAGE:
        return set()  # not there, or not as its stage wrote it: then DVC runs the stage


def _can_ask(models: set[str]) -> bool:
    from metassay.core import strict_yaml
    from metassay.core.options import PARAMS
    from metassay.llm.endpoints import can_ask, parse_models

    params: Any = strict_yaml.load(PARAMS)
    known = parse_models(params["endpoints"], params["models"])
    places = {model.endpoint for model in known.models.values() if model.model in models}
    return any(can_ask(known.endpoints[place]) for place in sorted(places))
