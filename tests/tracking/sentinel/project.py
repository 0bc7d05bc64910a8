"""A project whose benchmark `one` was judged by a scripted model: invented claims, no texts."""

import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from metassay.core.params import load
from metassay.scoring.pairing.pairs import pair_id
from metassay.tables.criteria import CRITERIA
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import empty, write
from metassay.tables.parts import PARTS
from metassay.tables.units import UNITS
from metassay.tracking.sentinel.checking import open_judge
from tests.judges.llm_setup import asked_in, reply_of
from tests.llm.scripted_server import Answer, Call, ScriptedServer, answer_with

ROOT = Path(__file__).parents[3]
PRICES = {
    "date": "2026-11-01",
    "currency": "USD",
    "input_per_million": 1.0,
    "output_per_million": 2.0,
}
READER = {
    "kind": "llm",
    "model": "m",
    "style": "json",
    "per_call": "part",
    "shots": 0,
    "rounds": 1,
}
SYSTEMS = ("blue", "green")
CLAIMS = 4  # of each document's reference
TABLES = Path("data/tables/one")

Model = Callable[[str, int], str]  # hypothesis, and the number of the request -> label


def truth(hypothesis: str, _: int = 0) -> str:
    """Two thirds hold."""
    return (
        "not_entailed"
        if sum(map(int, hypothesis.split()[1:3])) % 3 == 0
        else "entailed"
    )


def script(model: Model) -> Callable[[Call], Answer]:
    """A server whose model answers so."""

    def answer(call: Call) -> Answer:
        items = asked_in(str(call.body["messages"][-1]["content"])).items
        entries = [
            {"number": item["number"], "label": model(item["hypothesis"], call.number)}
            for item in items
        ]
        return answer_with(reply_of("json", entries))

    return answer


def endpoint(server: ScriptedServer) -> dict[str, Any]:
    return {
        "kind": "openai",
        "base_url": server.base_url,
        "timeout": 5.0,
        "concurrency": 4,
    }


def project(root: Path, server: ScriptedServer, documents: int = 30) -> Path:
    """The params files, prompts and tables.

    Judge `reader` has judged, `follower` asks another model, `lexical` asks none. Call
    it in root.
    """
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    settings = yaml.safe_load(
        (ROOT / "benchmarks/sample/params.yaml").read_text(encoding="utf-8")
    )
    settings |= {"name": "one", "dataset": "one", "raw": "data/raw/one"}
    settings["judges"] = ["reader", "lexical"]
    model = {"endpoint": "here", "model": "m-1", "max_tokens": 200, "prices": PRICES}
    params["judges"] |= {"reader": READER, "follower": READER | {"model": "n"}}
    params["endpoints"] = {"here": endpoint(server)}
    params["models"] = {"m": model, "n": model | {"model": "n-2"}}
    params["questions"]["all"]["measures"] = ["claim_recall"]
    entry = {"reader": "files", "title": "tiny", "licence": "none", "access": "public"}
    registry = {"fetched": [], "datasets": {"one": entry | {"folder": "data/raw/one"}}}
    for name, content in (
        ("params.yaml", params),
        ("data/registry.yaml", registry),
        ("benchmarks/one/params.yaml", settings),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(yaml.safe_dump(content), encoding="utf-8")
    shutil.copytree(ROOT / "prompts", root / "prompts")
    pairs = _tables(root, documents)
    params = load()
    with open_judge(
        params, params.benchmarks["one"], "reader", pairs, "project"
    ) as judge:
        write(JUDGMENTS, judge.ask(pairs, 0), TABLES / "judgments/reader.parquet")
    return root


def _tables(root: Path, documents: int) -> pd.DataFrame:
    names = [f"d{n:02}" for n in range(documents)]
    authors = ("reference", *SYSTEMS)
    text = {"text": "t", "starts": [0], "ends": [1], "leaf": "yes", "status": "ok"}
    parts = [
        {
            "doc_id": doc,
            "author": author,
            "part": "full",
            **text,
            "made_up": [],
            "repeats": ["one"],
        }
        for doc in names
        for author in authors
    ]
    claim = {"part": "full", "kind": "claim", "status": "ok", "citations": []}
    units = [
        {
            "doc_id": doc,
            "author": "reference",
            **claim,
            "position": n,
            "text": f"c {number} {n}",
        }
        for number, doc in enumerate(names)
        for n in range(CLAIMS)
    ]
    question = {"instrument": "entailment", "measure": "claim_recall", "citation": -1}
    rows = []
    for (number, doc), author, n in product(enumerate(names), SYSTEMS, range(CLAIMS)):
        texts = f"text of {doc} by {author}", f"c {number} {n} {author}"
        place = {
            "doc_id": doc,
            "author": author,
            "part": "full",
            "position": n,
            "repeats": "one",
        }
        text_of = dict(zip(("premise", "hypothesis"), texts, strict=True))
        rows.append(
            {"pair_id": pair_id("entailment", *texts), **question, **place, **text_of}
        )
    pairs = pd.DataFrame(rows).reindex(columns=list(PAIRS.columns))
    unit_rows = pd.DataFrame(units).reindex(columns=list(UNITS.columns))
    for table, frame, name in (
        (PARTS, pd.DataFrame(parts), "parts"),
        (UNITS, unit_rows, "units"),
        (PAIRS, pairs, "pairs/all"),
        (PAIRS, empty(PAIRS), "pairs/given"),
        (CRITERIA, empty(CRITERIA), "criteria/given"),
    ):
        write(table, frame, root / TABLES / f"{name}.parquet")
    return pairs
