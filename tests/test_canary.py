"""One word in every private text, and every route that it could take: it arrives nowhere."""

import csv
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from metassay.cli.main import main
from metassay.llm import client
from metassay.units.released_claims import FILE as CLAIMS
from stages.doorway import BAD_INPUT
from tests.llm.batch_setup import QUICK
from tests.llm.scripted_server import ScriptedServer
from tests.stage_setup import (
    CHAT,
    KEY,
    ROOT,
    SETTINGS,
    refresh_code,
    run_stage,
    tiny_project,
)

CANARY = "canary-5e1f"
RATED = ("study", "doc_id", "author", "rater", "criterion", "value")
GRADE = {"grade": {"low": 1, "high": 5, "better": "higher"}}
REFUSED = [("generate", "writer"), ("generate", "shown"), ("decompose", "apart")]
DONE = [
    ("generate", "lead"),
    ("segment", ""),
    ("decompose", "clauses"),
    ("align", "rouge_topk"),
    ("pair", "all"),
    ("judge", "lexical"),
    ("measure", ""),
    ("aggregate", ""),
]


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def put(folder: Path, doc_id: str) -> None:
    """A document with the word in each of its texts."""
    folder.mkdir(parents=True)
    passages = [
        {"text": f"The {CANARY} hurts {doc_id}.", "speaker": CANARY, "group": CANARY}
    ]
    source = {
        "doc_id": doc_id,
        "task": "note",
        "passages": passages,
        "attributes": {"a": CANARY},
    }
    texts = [
        {
            "doc_id": doc_id,
            "author": author,
            "text": f"PLAN\nA {CANARY} that hurts [{cited}].",
        }
        for author, cited in (("reference", 0), ("given_system", 7))
    ]
    (folder / "sources.jsonl").write_text(lines(source), encoding="utf-8")
    (folder / "texts.jsonl").write_text(lines(*texts), encoding="utf-8")


def rate(folder: Path, value: str, *, comment: bool = False) -> None:
    with (folder / "ratings.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([*RATED, "comment"] if comment else RATED)
        row = ["s", "d1", "given_system", "ann", "grade", value]
        rows.writerow([*row, CANARY] if comment else row)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def ward(
    tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A private benchmark, private examples and claims, and an endpoint for public text."""
    monkeypatch.setenv(KEY, "k")
    monkeypatch.setattr(client, "Policy", lambda: QUICK)
    root = tmp_path / "project"
    access = {"one": "private", "ward": "credentialed", "doclens_aci_claims": "private"}
    tiny_project(root, server.base_url, ["Replaced."], access=access)
    params = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    params["systems"] |= {
        "lead": {"kind": "lead", "passages": 1},
        "shown": CHAT | {"shots": 1, "examples": ["ward/dev/e1"]},
    }
    params["decompositions"] |= {
        "clauses": {"kind": "clauses"},
        "doclens_claims": {"kind": "doclens_claims"},
    }
    params["aggregation"]["resamples"] = 20
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    name(
        root,
        systems=["lead", "writer"],
        few_shot={"shown": "data/raw/ward"},
        criteria=GRADE,
    )
    put(root / "data/raw/one", "d1")
    put(root / "data/raw/ward/dev", "e1")
    rate(root / "data/raw/one", "3")
    claims = root / "data/raw/doclens_aci_claims" / CLAIMS
    claims.parent.mkdir()
    claims.write_text(
        json.dumps([{"example_id": "d1", "reference": CANARY}]), encoding="utf-8"
    )
    return root


def name(root: Path, **lists: Any) -> None:
    settings = yaml.safe_load((root / SETTINGS).read_text(encoding="utf-8"))
    (root / SETTINGS).write_text(yaml.safe_dump(settings | lists), encoding="utf-8")
    refresh_code(root)


def test_nothing_of_private_data_is_said_or_sent_on_the_way_to_the_scores(
    ward, server, monkeypatch, capfd
) -> None:
    assert run_stage(monkeypatch, ward, "ingest") == 0
    assert [run_stage(monkeypatch, ward, *stage) for stage in REFUSED[:2]] == [
        BAD_INPUT
    ] * 2
    name(
        ward,
        systems=["lead"],
        few_shot={},
        decompositions=["clauses"],
        judges=["lexical"],
    )
    assert [run_stage(monkeypatch, ward, *stage) for stage in DONE] == [0] * len(DONE)
    name(ward, decompositions=["apart"])
    assert run_stage(monkeypatch, ward, *REFUSED[2]) == BAD_INPUT
    name(
        ward,
        decompositions=[],
        released_claims={"doclens_claims": "data/raw/doclens_aci_claims"},
    )
    assert run_stage(monkeypatch, ward, "decompose", "doclens_claims") == BAD_INPUT
    name(ward, judges=["lexical", "reader"])
    assert run_stage(monkeypatch, ward, "judge", "reader") == BAD_INPUT
    output = "".join(capfd.readouterr())
    for dataset, access in (("one", "private"), ("ward", "credentialed")):
        assert f"dataset {dataset!r} is {access}" in output
    assert "a citation names a passage that does not exist" in output
    assert CANARY not in output
    assert not server.calls
    files = [file for file in (ward / ".work").rglob("*") if file.is_file()]
    # tables, which hold texts
    files = [file for file in files if "left_over" not in file.parts]
    assert files
    assert not [file for file in files if CANARY.encode() in file.read_bytes()]


def test_validate_and_cost_say_nothing_of_private_data_and_who_would_be_refused(
    ward, server, monkeypatch, capfd
) -> None:
    monkeypatch.chdir(ward)
    monkeypatch.setenv("COLUMNS", "400")
    assert main(["ledger", "cost", "one"]) == 0
    output = " ".join(capfd.readouterr().out.split())
    for stage in ("generate-writer", "generate-shown", "decompose"):
        assert (
            f"note: {stage} would stop before it asks: dataset 'one' is private"
            in output
        )
    assert output.count("dataset 'ward' is credentialed") == 2  # shown and decompose
    assert CANARY not in output
    shutil.copy(ROOT / "dvc.yaml", ward)
    assert main(["validate"]) == 0
    rate(ward / "data/raw/one", CANARY)
    assert main(["validate"]) == 2
    rate(ward / "data/raw/one", "3", comment=True)
    assert main(["validate"]) == 2
    output = "".join(capfd.readouterr())
    assert "'value' is not a finite number" in output
    assert CANARY not in output
    assert not server.calls


def torn(folder: Path) -> None:
    with (folder / "texts.jsonl").open("a", encoding="utf-8") as file:
        file.write(f'{{"doc_id": "d1", "author": "torn", "text": "{CANARY}')


def twice(folder: Path) -> None:
    texts = (folder / "texts.jsonl").read_text(encoding="utf-8")
    (folder / "texts.jsonl").write_text(texts * 2, encoding="utf-8")


def not_utf8(folder: Path) -> None:
    (folder / "sources.jsonl").write_bytes(CANARY.encode() + b"\xff\n")


def past_the_end(folder: Path) -> None:
    texts = (folder / "texts.jsonl").read_text(encoding="utf-8").replace("[0]", "[9]")
    (folder / "texts.jsonl").write_text(texts, encoding="utf-8")


def wrongly_typed(folder: Path) -> None:
    row = {"doc_id": "d1", "author": "a", "text": [CANARY], "status": CANARY}
    (folder / "texts.jsonl").write_text(lines(row), encoding="utf-8")


@pytest.mark.parametrize("damage", [torn, twice, not_utf8, past_the_end, wrongly_typed])
@pytest.mark.parametrize("where", ["data/raw/one", "data/raw/ward/dev"])
def test_messages_about_bad_files_hold_none_of_their_text(
    ward, monkeypatch, capfd, damage: Any, where: str
) -> None:
    assert run_stage(monkeypatch, ward, "ingest") == 0
    capfd.readouterr()
    damage(ward / where)
    params = yaml.safe_load((ward / "params.yaml").read_text(encoding="utf-8"))
    params["endpoints"]["here"]["sends"] = ["credentialed", "private"]
    (ward / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    stage = ("ingest", "") if where == "data/raw/one" else ("generate", "shown")
    assert run_stage(monkeypatch, ward, *stage) in (BAD_INPUT, 0)
    monkeypatch.chdir(ward)
    assert main(["ledger", "cost", "one"]) in (0, 2)
    assert CANARY not in "".join(capfd.readouterr())
