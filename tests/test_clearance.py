"""Whose text goes where, through the doorways: by what a text may repeat and where its data lie.

`elsewhere` is an endpoint that may have public text alone. It counts what it gets.
"""

import json
import re
import shutil
from collections.abc import Iterator
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
from tests.llm.scripted_server import Answer, Call, ScriptedServer, said
from tests.stage_setup import CHAT, KEY, OWN, refresh_code, run_stage, tiny_project

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
        return said(json.dumps({"items": [{"number": 1, "claims": ["The knee hurts."]}]}))
    return said(f"A {CANARY} [0]." if CANARY in call.prompt else "The knee hurts [0].")


@pytest.fixture
def allowed() -> Iterator[ScriptedServer]:
    with ScriptedServer(answer) as running:
        yield running


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


def edit(root: Path, file: Path, **changes: Any) -> None:
    content = yaml.safe_load((root / file).read_text(encoding="utf-8"))
    (root / file).write_text(yaml.safe_dump(content | changes), encoding="utf-8")
    refresh_code(root)


def register(root: Path, **entries: dict[str, Any]) -> None:
    """Change or add entries of the registry."""
    path = root / "data/registry.yaml"
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    plain = {"reader": "files", "title": "tiny", "licence": "none"}
    for name, entry in entries.items():
        content["datasets"][name] = content["datasets"].get(name, plain) | entry
    path.write_text(yaml.safe_dump(content), encoding="utf-8")


@pytest.fixture
def written(tmp_path: Path, allowed: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A public benchmark, divided, whose writer was shown private examples and repeats them."""
    root = tmp_path / "project"
    put(root / "data/raw/ward/dev", CANARY)
    put(root / "data/raw/clinic/dev", "elbow")
    system, folder = CHAT | SHOWN, "data/raw/ward"
    access = {"ward": "private", "clinic": "public"}
    may = {"sends": ["private"]}
    tiny_project(
        *(root, allowed.base_url, PUBLIC),
        **{"system": system, "examples": folder, "access": access, "endpoint": may},
    )
    edit(root, OWN, segmentation="whole")
    assert run_stage(monkeypatch, root, "generate", "writer") == 0
    assert CANARY in allowed.calls[0].prompt
    lead = {"lead": {"kind": "lead", "passages": 1}}
    params = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    edit(root, Path("params.yaml"), systems=params["systems"] | lead)
    edit(root, OWN, systems=["lead"])
    assert run_stage(monkeypatch, root, "generate", "lead") == 0
    write(TEXTS, empty(TEXTS), root / "data/tables/one/texts/given.parquet")
    assert run_stage(monkeypatch, root, "segment") == 0
    return root


@pytest.fixture
def refusal(monkeypatch, capfd, elsewhere):
    """What a stage says that sends nothing, without the text that it may not send."""

    def said(root: Path, *stage: str) -> str:
        sent = len(elsewhere.calls)
        assert run_stage(monkeypatch, root, *stage) == BAD_INPUT
        message = capfd.readouterr().err
        assert CANARY not in message
        assert len(elsewhere.calls) == sent
        return re.sub(r", line \d+", "", message)

    return said


def move(root: Path, to: ScriptedServer) -> None:
    """Another endpoint is asked from now on, which may have public text."""
    params = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    here = params["endpoints"]["here"] | {"base_url": to.base_url, "sends": []}
    edit(root, Path("params.yaml"), endpoints={"here": here})


def struck_off(root: Path) -> None:
    edit(root, OWN, few_shot={})


def shown_others(root: Path) -> None:
    others = CHAT | SHOWN | {"examples": ["clinic/dev/e1"]}
    own = yaml.safe_load((root / OWN).read_text(encoding="utf-8"))
    systems = [name for name in own["systems"] if name != "writer"]
    edit(root, OWN, few_shot={"writer": "data/raw/clinic"}, systems=systems)
    params = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    edit(root, Path("params.yaml"), systems=params["systems"] | {"writer": others})


def shown_nothing(root: Path) -> None:
    edit(root, OWN, few_shot={}, systems=["lead", "writer"])
    params = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    edit(root, Path("params.yaml"), systems=params["systems"] | {"writer": CHAT})


def set_aside(root: Path) -> None:
    struck_off(root)
    (root / "data/tables/one/texts/writer.parquet").unlink()


WAYS = [struck_off, shown_others, shown_nothing, set_aside]


@pytest.mark.parametrize("change", WAYS, ids=lambda change: change.__name__)
def test_a_text_that_repeats_private_examples_stays_whatever_the_params_say_now(
    written, elsewhere, change: Any, refusal
) -> None:
    move(written, elsewhere)
    change(written)
    message = refusal(written, "decompose", "apart")
    assert "dataset 'ward' is private" in message
    assert "params.yaml > endpoints > here > sends" in message


def test_a_judge_gets_no_text_that_repeats_private_examples_or_claims(
    written, elsewhere, monkeypatch, capfd
) -> None:
    move(written, elsewhere)
    params = yaml.safe_load((written / "params.yaml").read_text(encoding="utf-8"))
    kinds = {"clauses": {"kind": "clauses"}, "released": {"kind": "doclens_claims"}}
    decompositions = params["decompositions"] | kinds
    # The one that asks is deep inside: where there are no log-probabilities, all is its.
    words, reader = params["judges"]["lexical"], params["judges"]["reader"]
    unlikely = reader | {"probability": "logprobs"}
    members = {"first": unlikely, "then": reader}
    steps = {"kind": "cascade", "unsure": [0, 1], "members": members}
    panel = {"kind": "jury", "by": "majority", "members": {"words": words, "steps": steps}}
    judges = params["judges"] | {"reader": panel}
    edit(written, Path("params.yaml"), decompositions=decompositions, judges=judges)
    edit(written, OWN, decompositions=["clauses"], judges=["reader"])
    write(PAIRS, empty(PAIRS), written / "data/tables/one/pairs/given.parquet")

    def judged() -> int:
        for stage, item in (("decompose", "clauses"), ("align", "rouge_topk"), ("pair", "all")):
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
    edit(written, OWN, decompositions=[], released_claims=folder)
    assert run_stage(monkeypatch, written, "judge", "reader") == BAD_INPUT
    assert f"dataset {claims!r} is private" in capfd.readouterr().err
    assert len(elsewhere.calls) == before


def test_examples_of_an_entry_that_is_gone_are_nobody_s_to_send(
    written, elsewhere, refusal
) -> None:
    move(written, elsewhere)
    struck_off(written)
    registry = yaml.safe_load((written / "data/registry.yaml").read_text(encoding="utf-8"))
    del registry["datasets"]["ward"]
    (written / "data/registry.yaml").write_text(yaml.safe_dump(registry), encoding="utf-8")
    message = refusal(written, "decompose", "apart")
    assert "dataset 'ward' is not in data/registry.yaml" in message
    assert "remove the system whose texts repeat its examples" in message


def test_once_the_texts_are_gone_the_others_may_be_sent(written, elsewhere, monkeypatch) -> None:
    move(written, elsewhere)
    struck_off(written)
    public = {"public_writer": CHAT}
    params = yaml.safe_load((written / "params.yaml").read_text(encoding="utf-8"))
    edit(written, Path("params.yaml"), systems=params["systems"] | public)
    edit(written, OWN, systems=["lead", "public_writer"])
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
    edit(root, OWN, dataset="clinic", raw="data/raw/clinic")
    message = refusal(root, "generate", "writer")
    assert "dataset 'one' is private" in message


# ---- an access class belongs to a place ------------------------------------------------------


def in_another_folder(root: Path) -> str:
    edit(root, OWN, raw="data/raw/ward")
    return "data/raw/ward is not the folder of dataset 'one', which is public and lies in data/raw/"


def above_it(root: Path) -> str:
    edit(root, OWN, raw="data/raw")
    return "data/raw is not the folder of dataset 'one'"


def through_a_link(root: Path) -> str:
    shutil.rmtree(root / "data/raw/one")
    (root / "data/raw/one").symlink_to("ward")
    return "one: is public, and 'ward' is private, but data/raw/one and data/raw/ward share files"


def by_a_copied_block(root: Path) -> str:
    register(root, one={"folder": "data/raw/ward"})
    edit(root, OWN, raw="data/raw/ward")
    return "one: is public, and 'ward' is private, but data/raw/ward and data/raw/ward share files"


def by_a_block_of_a_folder_inside(root: Path) -> str:
    put(root / "data/raw/ward/inner", CANARY)
    register(root, one={"folder": "data/raw/ward/inner"})
    edit(root, OWN, raw="data/raw/ward/inner")
    return "data/raw/ward/inner and data/raw/ward share files"


def without_a_folder(root: Path) -> str:
    register(root, one={"folder": ""})
    return "data/registry.yaml > datasets > one > folder: missing; write where the dataset lies"


def by_a_copied_file(root: Path) -> str:
    shutil.copy(root / "data/raw/ward/sources.jsonl", root / "data/raw/one/more.jsonl")
    return (
        "data/raw/one/more.jsonl: lies in the folder of 'one', which is public, but it is"
        " data/raw/ward/sources.jsonl of 'ward', which is private; take it out"
    )


def by_a_linked_file(root: Path) -> str:
    (root / "data/raw/one/texts.jsonl").unlink()
    (root / "data/raw/one/texts.jsonl").symlink_to("../ward/texts.jsonl")
    return "it is data/raw/ward/texts.jsonl of 'ward', which is private"


def by_a_linked_folder(root: Path) -> str:
    (root / "data/raw/one/deep").symlink_to("../ward")
    return "data/raw/one/deep/sources.jsonl: lies in the folder of 'one'"


def in_an_example_s_folder(root: Path) -> str:
    shutil.copytree(root / "data/raw/ward", root / "data/raw/clinic/dev", dirs_exist_ok=True)
    register(root, clinic={"access": "public", "folder": "data/raw/clinic"})
    shown_others(root)
    return "data/raw/clinic/dev/sources.jsonl: lies in the folder of 'clinic', which is public"


def with_examples_of_another_folder(root: Path) -> str:
    register(root, clinic={"access": "public", "folder": "data/clinic"})
    shown_others(root)
    return "data/raw/clinic is not the folder of dataset 'clinic', which is public and lies in data"


@pytest.fixture
def labelled(tmp_path: Path, elsewhere: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A public benchmark that is ingested, beside a private dataset that nobody reads."""
    root = tmp_path / "project"
    access = {"one": "public", "ward": "private"}
    tiny_project(root, elsewhere.base_url, PUBLIC, access=access)
    put(root / "data/raw/one", "knee")
    put(root / "data/raw/ward", CANARY)
    edit(root, OWN, criteria={})
    assert run_stage(monkeypatch, root, "ingest") == 0
    return root


@pytest.mark.parametrize(
    "how",
    [
        *(in_another_folder, above_it, through_a_link, by_a_copied_block, without_a_folder),
        *(by_a_block_of_a_folder_inside, by_a_copied_file, by_a_linked_file, by_a_linked_folder),
        *(in_an_example_s_folder, with_examples_of_another_folder),
    ],
    ids=lambda how: how.__name__,
)
def test_private_text_that_is_labelled_public_is_not_sent(labelled, how: Any, refusal) -> None:
    expected = how(labelled)
    assert expected in refusal(labelled, "generate", "writer")


@pytest.mark.parametrize("how", [in_another_folder, above_it], ids=lambda how: how.__name__)
def test_ingest_reads_a_dataset_s_own_folder_alone(labelled, how: Any, refusal) -> None:
    before = (labelled / "data/tables/one/sources.parquet").read_bytes()
    expected = how(labelled)
    said = refusal(labelled, "ingest")
    assert f"benchmarks/one/params.yaml > raw: {expected}" in said
    assert (labelled / "data/tables/one/sources.parquet").read_bytes() == before


def test_the_folder_may_be_named_by_another_path(labelled, elsewhere, monkeypatch) -> None:
    (labelled / "link").symlink_to("data/raw/one")
    for raw in ("link", "data/raw/../raw/one", str(labelled / "data/raw/one")):
        edit(labelled, OWN, raw=raw)
        assert run_stage(monkeypatch, labelled, "ingest") == 0
    assert run_stage(monkeypatch, labelled, "generate", "writer") == 0
    assert elsewhere.calls
