"""generate and decompose through their doorways, against a scripted server on loopback."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from metassay.core.kinds import choose
from metassay.llm import client
from metassay.llm.ledger import Ledger, import_
from metassay.llm.session import LEDGER
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.notes import NOTES
from metassay.tables.parquet import read, write
from metassay.tables.parts import PARTS
from metassay.tables.responses import RESPONSES
from metassay.tables.units import UNITS
from metassay.units import SEGMENTATIONS
from stages.doorway import BAD_INPUT, UNFINISHED
from tests.llm.batch_setup import QUICK
from tests.llm.scripted_server import (
    Answer,
    Call,
    ScriptedServer,
    answer_with,
    cut,
    dropped,
    failed,
    hang,
    refused,
)
from tests.stage_setup import KEY, refresh_code, run_stage, tiny_project
from tests.units.dividing import parts_of

CANARY = "canary-41c7"
TEXTS_AT = "data/tables/one/texts/writer.parquet"
GENERATED = "data/tables/one/responses/generate-writer.parquet"
DECOMPOSED = "data/tables/one/responses/decompose.parquet"
NOTED = "data/tables/one/notes/generate-writer.parquet"
POLICY = replace(QUICK, attempts=2)
OUTPUTS = [
    TEXTS_AT,
    GENERATED,
    NOTED,
    "data/tables/one/units.parquet",
    DECOMPOSED,
    "data/tables/one/notes/decompose.parquet",
]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key, and less patience than the stages have."""
    monkeypatch.setenv(KEY, "k")
    monkeypatch.setattr(client, "Policy", lambda: POLICY)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def faulty(call: Call) -> Answer:
    """Writes of the kind that the last message names; takes everything apart but `torn`."""
    question = str(call.body["messages"][-1]["content"])
    if call.is_claims:
        if "torn" in question:
            return failed(503)
        return answer_with(
            json.dumps({"items": [{"number": 1, "claims": ["The knee hurts."]}]})
        )
    kinds = {
        "down": failed(500),
        "hangs": hang(),
        "lost": dropped(),
        "wrong": failed(400),
        "declines": refused(),
        "long": cut("The kn"),
    }
    kind = re.findall(r"It (\w+)", question)[-1]
    return kinds.get(kind) or answer_with(f"The knee hurts [0]. It is {kind}.")


KINDS = ["fine", "down", "hangs", "lost", "wrong", "declines", "long", "torn"]
PASSAGES = [f"The knee hurts. It {kind}." for kind in KINDS]
STATUSES = ["ok", "error", "error", "error", "error", "refused", "truncated", "ok"]


def one_part_each(root: Path) -> None:
    """What segment makes of these texts: each is one part."""
    tables = root / "data/tables/one"
    texts, sources = (
        read(TEXTS, root / TEXTS_AT),
        read(SOURCES, tables / "sources.parquet"),
    )
    whole = choose(SEGMENTATIONS, {"kind": "whole"}, where="test")
    write(PARTS, parts_of(texts, sources, whole), tables / "parts.parquet")


def both_stages(monkeypatch: pytest.MonkeyPatch, root: Path) -> dict[str, bytes]:
    assert run_stage(monkeypatch, root, "generate", "writer") == 0
    one_part_each(root)
    assert run_stage(monkeypatch, root, "decompose", "apart") == 0
    return {name: (root / name).read_bytes() for name in OUTPUTS}


def bring(root: Path, tables: list[Path]) -> tuple[int, ...]:
    """`metassay ledger import` of a run's tables of responses."""
    with Ledger(root / LEDGER) as ledger:
        return tuple(import_(ledger, tables))


@pytest.mark.parametrize(
    "keyless", ["a key that is not there", "a server that is not there"]
)
def test_a_run_with_failures_is_repeated_to_the_byte_without_a_request(
    tmp_path, server, monkeypatch, caplog, keyless: str
) -> None:
    server.script = faulty
    with_key = keyless == "a key that is not there"
    endpoint = {"timeout": 1.0} | ({} if with_key else {"key_env": None})
    settings = {"endpoint": endpoint, "max_missing": 0.5}
    first = tiny_project(tmp_path / "first", server.base_url, PASSAGES, **settings)
    outputs = both_stages(monkeypatch, first)
    assert read(TEXTS, first / TEXTS_AT)["status"].tolist() == STATUSES
    units = read(UNITS, first / "data/tables/one/units.parquet").query(
        "kind == 'claim'"
    )
    assert units.set_index("doc_id")["status"].to_dict() == {
        "d000": "ok",
        "d007": "error",
    }

    responses = read(RESPONSES, first / GENERATED)
    lost = responses.query("status == 'error'")
    assert sorted(lost["finish_reason"]) == [
        "connection",
        "http_400",
        "http_500",
        "timeout",
    ]
    assert lost[["text", "prompt_tokens", "completion_tokens"]].isna().all().all()
    assert len(responses) == len(PASSAGES)
    (torn,) = read(RESPONSES, first / DECOMPOSED).query("status == 'error'")[
        "finish_reason"
    ]
    assert torn == "http_503"

    sent = server.requests.total()
    if with_key:
        monkeypatch.delenv(KEY)
        again = server.base_url
    else:
        with ScriptedServer() as other:
            again = other.base_url  # nobody listens there any more
    settings["max_missing"] = 0  # of what nobody can ask for, none is missing too much
    clone = tiny_project(tmp_path / "clone", again, PASSAGES, **settings)
    assert bring(clone, [first / GENERATED, first / DECOMPOSED]) == (10, 10, 0, 0)
    assert both_stages(monkeypatch, clone) == outputs
    assert server.requests.total() == sent
    assert "4 question(s) without an answer are not asked again" in caplog.text
    assert "knee" not in caplog.text


def test_whoever_has_a_key_asks_failed_questions_again_and_no_other(
    tmp_path, server, monkeypatch
) -> None:
    server.script = faulty
    first = tiny_project(
        tmp_path / "first", server.base_url, PASSAGES[:2], max_missing=0.5
    )
    assert run_stage(monkeypatch, first, "generate", "writer") == 0
    clone = tiny_project(
        tmp_path / "clone", server.base_url, PASSAGES[:2], max_missing=0.5
    )
    bring(clone, [first / GENERATED])
    server.script = lambda call: answer_with("Mended [0].")
    for root in (first, clone):  # its own ledger is no other than an imported one
        sent = len(server.calls)
        assert run_stage(monkeypatch, root, "generate", "writer") == 0
        assert len(server.calls) == sent + 1
        assert "It down" in server.calls[-1].prompt
        texts = read(TEXTS, root / TEXTS_AT)["text"].tolist()
        assert texts == ["The knee hurts [0]. It is fine.", "Mended [0]."]
        assert set(read(RESPONSES, root / GENERATED)["status"]) == {"ok"}
    monkeypatch.delenv(KEY)  # what was answered since is no failure any more
    assert run_stage(monkeypatch, first, "generate", "writer") == 0
    assert read(TEXTS, first / TEXTS_AT)["text"].tolist()[1] == "Mended [0]."


def test_an_endpoint_that_goes_down_leaves_what_was_answered_and_the_run_goes_on_later(
    tmp_path, monkeypatch, caplog, capfd
) -> None:
    """Without a key to go by, a server that is not there is no reason to repeat what failed."""
    passages = [f"{CANARY}: case {number}." for number in range(90)]
    root = tmp_path / "project"

    def run(base_url: str) -> int:
        tiny_project(root, base_url, passages, endpoint={"key_env": None})
        return run_stage(monkeypatch, root, "generate", "writer")

    def check_missing(left: int) -> None:
        message = capfd.readouterr().err
        assert f"model 'm': {left} of 90 answers are missing" in message
        assert "its endpoint failed too often in a row" in message
        assert (
            "Run again when the endpoint is up: only what is missing is asked."
            in message
        )
        assert CANARY not in message + caplog.text
        assert not (root / TEXTS_AT).exists()
        assert not (root / GENERATED).exists()

    with ScriptedServer() as gone:
        nowhere = gone.base_url
    for _ in range(2):  # where nobody ever listened no run takes the last for finished
        assert run(nowhere) == UNFINISHED
        check_missing(90)
    breaking = [answer_with(f"Text {number}.") for number in range(5)]
    with ScriptedServer(
        lambda call: breaking.pop() if breaking else dropped()
    ) as server:
        assert run(server.base_url) == UNFINISHED
        check_missing(85)
    assert run(server.base_url) == UNFINISHED  # refused: nobody listens there any more
    check_missing(85)
    with ScriptedServer(lambda call: answer_with("Text.")) as later:
        assert run(later.base_url) == 0
        assert later.requests.total() == 85
    texts = read(TEXTS, root / TEXTS_AT)
    assert texts["status"].eq("ok").all()
    assert texts["text"].eq("Text.").sum() == 85


@pytest.mark.parametrize(("most", "code"), [(0.29, UNFINISHED), (0.3, 0)])
def test_a_stage_goes_on_up_to_the_share_that_may_be_missing_and_keeps_a_note(
    tmp_path, server, monkeypatch, capfd, most: float, code: int
) -> None:
    passages = [f"The knee hurts. It kind{n}." for n in range(7)]
    passages += [f"The knee hurts {n}. It down." for n in range(3)]
    server.script = faulty
    root = tiny_project(
        tmp_path / "project", server.base_url, passages, max_missing=most
    )
    assert run_stage(monkeypatch, root, "generate", "writer") == code
    message = capfd.readouterr().err
    assert "model 'm': 3 of 10 answers are missing (http_500 3)" in message
    assert "knee" not in message
    assert (root / NOTED).exists() == (root / TEXTS_AT).exists() == (code == 0)
    if code == 0:
        (note,) = read(NOTES, root / NOTED)["note"]
        assert f"note: {note}\n" in message
        assert "the next `metassay run` asks for them again" in note
    server.script = lambda call: answer_with("Mended [0].")
    assert run_stage(monkeypatch, root, "generate", "writer") == 0
    assert len(server.calls) == 10 + 3 * (POLICY.attempts - 1) + 3
    assert read(NOTES, root / NOTED).empty


SHOWN = {"shots": 1, "examples": ["ward/dev/e1"]}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of a project with an example of `ward`, whose source and text name the canary."""
    place = tmp_path / "project/data/raw/ward/dev"
    place.mkdir(parents=True)
    source = {"doc_id": "e1", "task": "note", "passages": [f"The {CANARY} hurts."]}
    text = {"doc_id": "e1", "author": "reference", "text": f"A {CANARY} that hurts."}
    (place / "sources.jsonl").write_text(json.dumps(source), encoding="utf-8")
    (place / "texts.jsonl").write_text(json.dumps(text), encoding="utf-8")
    return tmp_path / "project"


def test_private_examples_of_a_public_benchmark_go_only_where_they_may(
    root, server, monkeypatch, capfd
) -> None:
    server.script = lambda call: answer_with(
        f"A {CANARY} [0]."
    )  # as models do, it repeats its example
    ward = {"access": {"ward": "private"}, "examples": "data/raw/ward", "system": SHOWN}
    unknown = [
        {"system": SHOWN | {"examples": [name]}, "examples": "data/raw"}
        # of a dataset that nobody registered
        for name in ("ward/dev/e1", "./ward/dev/e1")
    ]
    for settings in (ward, ward | {"endpoint": {"sends": ["credentialed"]}}, *unknown):
        tiny_project(root, server.base_url, PASSAGES[:1], **settings)
        assert run_stage(monkeypatch, root, "generate", "writer") == BAD_INPUT
        message = capfd.readouterr().err
        assert CANARY not in message
        if settings not in unknown:
            assert "dataset 'ward' is private" in message
            assert "params.yaml > endpoints > here > sends" in message
    assert not server.calls
    may = {"endpoint": {"sends": ["private"]}}
    tiny_project(root, server.base_url, PASSAGES[:1], **ward, **may)
    assert run_stage(monkeypatch, root, "generate", "writer") == 0
    assert CANARY in server.calls[0].prompt

    # The text repeats the example, so decompose must not send it elsewhere either.
    one_part_each(root)
    with ScriptedServer(faulty) as elsewhere:
        for settings, code in ((ward, BAD_INPUT), (ward | may, 0)):
            tiny_project(root, elsewhere.base_url, PASSAGES[:1], **settings)
            assert run_stage(monkeypatch, root, "decompose", "apart") == code
            assert CANARY not in capfd.readouterr().err
            assert any(CANARY in call.prompt for call in elsewhere.calls) is (code == 0)


def test_what_dvc_does_not_watch_is_not_read(root, server, monkeypatch, capfd) -> None:
    settings = {"system": SHOWN, "access": {"ward": "public"}}
    tiny_project(root, server.base_url, PASSAGES[:1], **settings)
    assert run_stage(monkeypatch, root, "generate", "writer") == BAD_INPUT
    message = capfd.readouterr().err
    assert message.startswith("benchmarks/one/params.yaml, line ")
    assert "> systems: 'writer' reads" in message
    assert "name it under few_shot instead, with the folder data/raw/ward" in message
    assert not server.calls
    for folder in ("data/raw/ward", "data/raw"):
        tiny_project(root, server.base_url, PASSAGES[:1], examples=folder, **settings)
        assert run_stage(monkeypatch, root, "generate", "writer") == 0

    one_part_each(root)
    params = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    params["decompositions"]["apart"] = {"kind": "doclens_claims"}
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    refresh_code(root)
    assert run_stage(monkeypatch, root, "decompose", "apart") == BAD_INPUT
    message = capfd.readouterr().err
    assert "> decompositions: 'apart' reads" in message
    assert (
        "released_claims instead, with the folder data/raw/doclens_aci_claims"
        in message
    )
