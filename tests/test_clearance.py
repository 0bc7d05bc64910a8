"""Whose text goes where, through the doorways: by what a text may repeat and where its data lie.

`elsewhere` is an endpoint that may have public text alone. It counts what it gets.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from metassay.llm import client
from metassay.tables.documents import TEXTS
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import empty, write
from stages.doorway import BAD_INPUT
from tests.llm.batch_setup import QUICK
from tests.llm.scripted_server import Answer, Call, ScriptedServer, answer_with
from tests.stage_setup import CHAT, KEY, SETTINGS, refresh_code, run_stage, tiny_project

CANARY = "canary-93be"
SHOWN = {"shots": 1, "examples": ["ward/dev/e1"]}
PUBLIC = ["The knee hurts."]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "k")
    monkeypatch.setattr(client, "Policy", lambda: QUICK)


def answer(call: Call) -> Answer:
    """Claims where claims are asked for; else a note that repeats whatever it was shown."""
    if call.is_claims:
        return answer_with(
            json.dumps({"items": [{"number": 1, "claims": ["The knee hurts."]}]})
        )
    return answer_with(
        f"A {CANARY} [0]." if CANARY in call.prompt else "The knee hurts [0]."
    )


@pytest.fixture
def elsewhere() -> Iterator[ScriptedServer]:
    with ScriptedServer(answer) as running:
        yield running


def put(folder: Path, words: str) -> Path:
    """A source and its reference, in the form of own data."""
    folder.mkdir(parents=True, exist_ok=True)
    source = {"doc_id": "e1", "task": "note", "passages": [f"The {words} hurts."]}
    text = {"doc_id": "e1", "author": "reference", "text": f"A {words} that hurts."}
    (folder / "sources.jsonl").write_text(json.dumps(source), encoding="utf-8")
    (folder / "texts.jsonl").write_text(json.dumps(text), encoding="utf-8")
    return folder


PARAMS, REGISTRY = Path("params.yaml"), Path("data/registry.yaml")


def load(root: Path, file: Path = PARAMS) -> Any:
    return yaml.safe_load((root / file).read_text(encoding="utf-8"))


def edit(root: Path, file: Path, **changes: Any) -> None:
    (root / file).write_text(
        yaml.safe_dump(load(root, file) | changes), encoding="utf-8"
    )
    refresh_code(root)


def add(root: Path, key: str, **blocks: Any) -> None:
    """Change or add blocks of params.yaml."""
    edit(root, PARAMS, **{key: load(root)[key] | blocks})


def register(root: Path, **entries: dict[str, Any]) -> None:
    """Change or add entries of the registry."""
    datasets = load(root, REGISTRY)["datasets"]
    plain = {"reader": "files", "title": "tiny", "licence": "none"}
    merged = {
        name: datasets.get(name, plain) | entry for name, entry in entries.items()
    }
    edit(root, REGISTRY, datasets=datasets | merged)


@pytest.fixture
def written(
    tmp_path: Path, elsewhere: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A public benchmark, divided, whose writer was shown private examples and repeats them.

    Another endpoint is asked from then on.
    """
    root = tmp_path / "project"
    put(root / "data/raw/ward/dev", CANARY)
    put(root / "data/raw/clinic/dev", "elbow")
    settings = {"system": CHAT | SHOWN, "examples": "data/raw/ward"}
    settings |= {"access": {"ward": "private", "clinic": "public"}}
    settings |= {"endpoint": {"sends": ["private"]}}
    with ScriptedServer(answer) as allowed:
        tiny_project(root, allowed.base_url, PUBLIC, **settings)
        edit(root, SETTINGS, segmentation="whole")
        assert run_stage(monkeypatch, root, "generate", "writer") == 0
        assert CANARY in allowed.calls[0].prompt
    add(root, "systems", lead={"kind": "lead", "passages": 1})
    edit(root, SETTINGS, systems=["lead"])
    assert run_stage(monkeypatch, root, "generate", "lead") == 0
    write(TEXTS, empty(TEXTS), root / "data/tables/one/texts/given.parquet")
    assert run_stage(monkeypatch, root, "segment") == 0
    here = load(root)["endpoints"]["here"] | {
        "base_url": elsewhere.base_url,
        "sends": [],
    }
    add(root, "endpoints", here=here)
    return root


@pytest.fixture
def refusal(monkeypatch, capfd, elsewhere):
    """What a stage says that sends nothing, without the text that it may not send."""

    def message_of(root: Path, *stage: str) -> str:
        sent = len(elsewhere.calls)
        assert run_stage(monkeypatch, root, *stage) == BAD_INPUT
        message = capfd.readouterr().err
        assert CANARY not in message
        assert len(elsewhere.calls) == sent
        return re.sub(r", line \d+", "", message)

    return message_of


def struck_off(root: Path) -> None:
    edit(root, SETTINGS, few_shot={})


def shown_others(root: Path) -> None:
    systems = [name for name in load(root, SETTINGS)["systems"] if name != "writer"]
    edit(root, SETTINGS, few_shot={"writer": "data/raw/clinic"}, systems=systems)
    add(root, "systems", writer=CHAT | SHOWN | {"examples": ["clinic/dev/e1"]})


def shown_nothing(root: Path) -> None:
    edit(root, SETTINGS, few_shot={}, systems=["lead", "writer"])
    add(root, "systems", writer=CHAT)


def set_aside(root: Path) -> None:
    struck_off(root)
    (root / "data/tables/one/texts/writer.parquet").unlink()


WAYS = [struck_off, shown_others, shown_nothing, set_aside]


@pytest.mark.parametrize("change", WAYS, ids=lambda change: change.__name__)
def test_a_text_that_repeats_private_examples_stays_whatever_the_params_say_now(
    written, change: Any, refusal
) -> None:
    change(written)
    message = refusal(written, "decompose", "apart")
    assert "dataset 'ward' is private" in message
    assert "params.yaml > endpoints > here > sends" in message


def test_a_judge_gets_no_text_that_repeats_private_examples_or_claims(
    written, elsewhere, monkeypatch, capfd
) -> None:
    # The judge that asks is deep inside: where there are no log-probabilities, all is
    # its.
    words, reader = (load(written)["judges"][name] for name in ("lexical", "reader"))
    members = {"first": reader | {"probability": "logprobs"}, "then": reader}
    steps = {"kind": "cascade", "unsure": [0, 1], "members": members}
    panel = {
        "kind": "jury",
        "by": "majority",
        "members": {"words": words, "steps": steps},
    }
    add(written, "judges", reader=panel)
    kinds = {"clauses": {"kind": "clauses"}, "released": {"kind": "doclens_claims"}}
    add(written, "decompositions", **kinds)
    edit(written, SETTINGS, decompositions=["clauses"], judges=["reader"])
    write(PAIRS, empty(PAIRS), written / "data/tables/one/pairs/given.parquet")

    def judged() -> int:
        for stage, item in (
            ("decompose", "clauses"),
            ("align", "rouge_topk"),
            ("pair", "all"),
        ):
            assert run_stage(monkeypatch, written, stage, item) == 0
        return run_stage(monkeypatch, written, "judge", "reader")

    struck_off(written)
    assert judged() == BAD_INPUT
    message = capfd.readouterr().err
    assert "dataset 'ward' is private" in message
    assert CANARY not in message
    assert not elsewhere.calls
    set_aside(written)
    assert run_stage(monkeypatch, written, "segment") == 0
    assert judged() == 0
    assert elsewhere.calls
    assert not [call for call in elsewhere.calls if CANARY in call.prompt]

    before, claims = len(elsewhere.calls), "doclens_aci_claims"
    register(written, **{claims: {"access": "private", "folder": f"data/raw/{claims}"}})
    folder = {"released": f"data/raw/{claims}"}
    edit(written, SETTINGS, decompositions=[], released_claims=folder)
    assert run_stage(monkeypatch, written, "judge", "reader") == BAD_INPUT
    assert f"dataset {claims!r} is private" in capfd.readouterr().err
    assert len(elsewhere.calls) == before


def test_examples_of_an_entry_that_is_gone_are_nobody_s_to_send(
    written, refusal
) -> None:
    struck_off(written)
    datasets = load(written, REGISTRY)["datasets"]
    del datasets["ward"]
    edit(written, REGISTRY, datasets=datasets)
    message = refusal(written, "decompose", "apart")
    assert "dataset 'ward' is not in data/registry.yaml" in message
    assert "remove the system whose texts repeat its examples" in message


def test_once_the_texts_are_gone_the_others_may_be_sent(
    written, elsewhere, monkeypatch
) -> None:
    struck_off(written)
    add(written, "systems", public_writer=CHAT)
    edit(written, SETTINGS, systems=["lead", "public_writer"])
    # What is left over keeps nobody from writing from the sources.
    assert run_stage(monkeypatch, written, "generate", "public_writer") == 0
    assert run_stage(monkeypatch, written, "segment") == 0
    assert run_stage(monkeypatch, written, "decompose", "apart") == 0
    assert elsewhere.calls
    assert not [call for call in elsewhere.calls if CANARY in call.prompt]


def test_sources_keep_the_class_of_the_dataset_that_they_are_of(
    tmp_path, elsewhere, refusal
) -> None:
    """The benchmark names a public dataset now, but nobody has read that one yet."""
    root = tmp_path / "project"
    access = {"one": "private", "clinic": "public"}
    tiny_project(root, elsewhere.base_url, [CANARY], access=access)
    edit(root, SETTINGS, dataset="clinic", raw="data/raw/clinic")
    message = refusal(root, "generate", "writer")
    assert "dataset 'one' is private" in message


# ---- an access class belongs to a place ------------------------------------------------------


def raw(folder: str) -> Callable[[Path], None]:
    return lambda root: edit(root, SETTINGS, raw=folder)


def linked(root: Path) -> None:
    shutil.rmtree(root / "data/raw/one")
    (root / "data/raw/one").symlink_to("ward")


def copied_block(root: Path) -> None:
    register(root, one={"folder": "data/raw/ward"})
    edit(root, SETTINGS, raw="data/raw/ward")


def inner_block(root: Path) -> None:
    put(root / "data/raw/ward/inner", CANARY)
    register(root, one={"folder": "data/raw/ward/inner"})
    edit(root, SETTINGS, raw="data/raw/ward/inner")


def copied_file(root: Path) -> None:
    shutil.copy(root / "data/raw/ward/sources.jsonl", root / "data/raw/one/more.jsonl")


def linked_file(root: Path) -> None:
    (root / "data/raw/one/texts.jsonl").unlink()
    (root / "data/raw/one/texts.jsonl").symlink_to("../ward/texts.jsonl")


def examples_folder(root: Path) -> None:
    shutil.copytree(
        root / "data/raw/ward", root / "data/raw/clinic/dev", dirs_exist_ok=True
    )
    register(root, clinic={"access": "public", "folder": "data/raw/clinic"})
    shown_others(root)


def other_folder(root: Path) -> None:
    register(root, clinic={"access": "public", "folder": "data/clinic"})
    shown_others(root)


SHARED = "one: is public, and 'ward' is private, but data/raw/"
LABELS: dict[str, tuple[Callable[[Path], None], str]] = {
    "another folder": (
        raw("data/raw/ward"),
        "data/raw/ward is not the folder of dataset 'one', which is public and lies in data/raw/",
    ),
    "above it": (raw("data/raw"), "data/raw is not the folder of dataset 'one'"),
    "a link": (linked, f"{SHARED}one and data/raw/ward share files"),
    "a copied block": (copied_block, f"{SHARED}ward and data/raw/ward share files"),
    "a folder inside": (
        inner_block,
        "data/raw/ward/inner and data/raw/ward share files",
    ),
    "no folder": (
        lambda root: register(root, one={"folder": ""}),
        "data/registry.yaml > datasets > one > folder: missing; write where the dataset lies",
    ),
    "a copied file": (
        copied_file,
        "data/raw/one/more.jsonl: lies in the folder of 'one', which is public, but it is"
        " data/raw/ward/sources.jsonl of 'ward', which is private; take it out",
    ),
    "a linked file": (
        linked_file,
        "it is data/raw/ward/texts.jsonl of 'ward', which is private",
    ),
    "a linked folder": (
        lambda root: (root / "data/raw/one/deep").symlink_to("../ward"),
        "data/raw/one/deep/sources.jsonl: lies in the folder of 'one'",
    ),
    "an example's folder": (
        examples_folder,
        "data/raw/clinic/dev/sources.jsonl: lies in the folder of 'clinic', which is public",
    ),
    "examples of another folder": (
        other_folder,
        "data/raw/clinic is not the folder of dataset 'clinic', which is public and lies in data",
    ),
}


@pytest.fixture
def labelled(
    tmp_path: Path, elsewhere: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A public benchmark that is ingested, beside a private dataset that nobody reads."""
    root = tmp_path / "project"
    access = {"one": "public", "ward": "private"}
    tiny_project(root, elsewhere.base_url, PUBLIC, access=access)
    put(root / "data/raw/one", "knee")
    put(root / "data/raw/ward", CANARY)
    edit(root, SETTINGS, criteria={})
    assert run_stage(monkeypatch, root, "ingest") == 0
    return root


@pytest.mark.parametrize("name", LABELS)
def test_private_text_that_is_labelled_public_is_not_sent(
    labelled, name: str, refusal
) -> None:
    change, expected = LABELS[name]
    change(labelled)
    assert expected in refusal(labelled, "generate", "writer")


@pytest.mark.parametrize("name", ["another folder", "above it"])
def test_ingest_reads_a_dataset_s_own_folder_alone(
    labelled, name: str, refusal
) -> None:
    before = (labelled / "data/tables/one/sources.parquet").read_bytes()
    change, expected = LABELS[name]
    change(labelled)
    message = refusal(labelled, "ingest")
    assert f"benchmarks/one/params.yaml > raw: {expected}" in message
    assert (labelled / "data/tables/one/sources.parquet").read_bytes() == before


def test_the_folder_may_be_named_by_another_path(
    labelled, elsewhere, monkeypatch
) -> None:
    (labelled / "link").symlink_to("data/raw/one")
    for folder in ("link", "data/raw/../raw/one", str(labelled / "data/raw/one")):
        edit(labelled, SETTINGS, raw=folder)
        assert run_stage(monkeypatch, labelled, "ingest") == 0
    assert run_stage(monkeypatch, labelled, "generate", "writer") == 0
    assert elsewhere.calls
