"""Models on this machine: tiny ones, built here, that write nonsense but write it for real."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.generation import decoding
from metassay.generation.decoding import (
    CausalOptions,
    Seq2SeqOptions,
    write_causal,
    write_seq2seq,
)
from metassay.generation.record import Generated
from metassay.models import loading
from metassay.tables.documents import TEXTS
from metassay.tables.parquet import read, round_trip
from metassay.tables.responses import RESPONSES
from metassay.text.headings import SECTIONS
from tests.stage_setup import run_stage, tiny_project

torch = pytest.importorskip("torch", reason="needs metassay[models]")
transformers = pytest.importorskip("transformers", reason="needs metassay[models]")
pytest.importorskip("tokenizers", reason="needs metassay[models]")

from tests.models.tiny import TEMPLATE, bart, llama, t5  # noqa: E402 - it needs them

PROMPTS = Path(__file__).parents[2] / "prompts"
Models = Callable[[str], Path]
REFUSES = "{{ raise_exception('no system role') }}" + TEMPLATE
MAKERS: dict[str, Callable[[Path], Path]] = {
    # its end mark, in the last place
    "bart": lambda folder: bart(folder, ends=list(range(8, 300, 6))),
    "endless": bart,
    "forced": lambda folder: bart(folder, forced=True),
    "t5": t5,
    "llama": llama,
    "untuned": lambda folder: llama(folder, template=None),
    "picky": lambda folder: llama(folder, template=REFUSES),
}
COMMON = {
    "revision": None,
    "device": "cpu",
    "dtype": "float32",
    "batch_size": 2,
    "beams": 1,
    "max_new_tokens": 20,
    "seed": 0,
}
STYLE: dict[str, Any] = {
    "unit": "full",
    "citations": False,
    "shots": 0,
    "examples": [],
    "example_citations": "none",
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Models:
    """A folder per kind, built once."""
    root = tmp_path_factory.mktemp("models")

    def model(kind: str) -> Path:
        folder = root / f"tiny-{kind}"
        return folder if folder.exists() else MAKERS[kind](folder)

    return model


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store of model outputs is below the folder that a test runs in."""
    monkeypatch.chdir(tmp_path)


def sources(*passages: list[str]) -> pd.DataFrame:
    frame = pd.DataFrame({"passages": passages}).assign(task="note", attributes=None)
    frame["doc_id"] = [f"d{number}" for number in range(len(frame))]
    speakers = ["doctor", "patient", "", ""]
    return frame.assign(speaker=[speakers[: len(texts)] for texts in passages])


VISITS = sources(
    ["how is it?", "it hurts"],
    ["the knee", "stairs"],
    ["how long?"],
    ["today", "when i climb", "the stairs hurt"],
    ["hm"],
)
LONG = sources(["the knee hurts " * 40], ["how is it?"])


def write(
    model: Path, rows: pd.DataFrame = VISITS, *, prompted: bool = False, **changes: Any
) -> Generated:
    block = COMMON | {"model": str(model)} | changes
    if prompted:
        options = parse(CausalOptions, STYLE | block, where="test")
        written = write_causal(rows, "s", options, prompts=PROMPTS)
    else:
        written = write_seq2seq(rows, "s", parse(Seq2SeqOptions, block, where="test"))
    round_trip(TEXTS, written.texts)
    return written


@pytest.mark.parametrize("kind", ["bart", "t5"])
def test_an_encoder_decoder_writes_for_every_document(
    models: Models, kind: str
) -> None:
    texts, warnings = write(models(kind))
    assert texts["doc_id"].tolist() == [f"d{n}" for n in range(5)]
    assert set(texts["status"]) <= {"ok", "unparsed", "truncated"}
    assert (texts["status"] == "ok").sum() >= 2
    assert (texts["text"].notna() == (texts["status"] == "ok")).all()
    assert warnings == ()


def test_the_same_input_gives_the_same_text_whatever_the_global_seed(
    models: Models, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The model's own settings ask for sampling.
    first = write(models("bart")).texts
    torch.manual_seed(99)
    state = torch.random.get_rng_state()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    pd.testing.assert_frame_equal(first, write(models("bart"), VISITS.iloc[::-1]).texts)
    assert torch.equal(torch.random.get_rng_state(), state)


@pytest.mark.parametrize("kind", ["bart", "t5", "llama"])
def test_padding_does_not_change_a_text(models: Models, kind: str) -> None:
    alone, together = (
        write(models(kind), prompted=kind == "llama", batch_size=size).texts
        for size in (1, 5)
    )
    pd.testing.assert_frame_equal(
        alone.drop(columns="recipe"), together.drop(columns="recipe")
    )


def test_greedy_is_the_likeliest_token_at_each_step(models: Models) -> None:
    folder = models("bart")
    words = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder)
    ends = model.generation_config.eos_token_id
    expected = []
    for row in VISITS.itertuples():
        turns = [
            f"[{s}] {p}" if s else p
            for s, p in zip(row.speaker, row.passages, strict=True)
        ]
        ids = words("summarize: " + "\n".join(turns), return_tensors="pt")
        tokens: list[int] = []
        while len(tokens) < 20 and not (tokens and tokens[-1] in ends):
            decoder = torch.tensor([[2, *tokens]])
            tokens.append(
                int(model(**ids, decoder_input_ids=decoder).logits[0, -1].argmax())
            )
        text = words.decode(tokens[:-1], skip_special_tokens=True).strip()
        expected.append(text if tokens[-1] in ends and text else None)
    texts = write(folder, prefix="summarize: ").texts["text"]
    assert texts.astype(object).where(texts.notna(), None).tolist() == expected
    assert sum(text is not None for text in expected) >= 2
    beams = write(folder, prefix="summarize: ", beams=4).texts
    assert "|beams:4|" in beams["recipe"].iloc[0]
    assert beams["text"].tolist() != texts.tolist()


@pytest.mark.parametrize("kind", ["endless", "forced"])
def test_a_text_without_an_end_is_truncated(models: Models, kind: str) -> None:
    texts = write(models(kind), max_new_tokens=5).texts
    assert texts["status"].tolist() == ["truncated"] * 5
    assert texts["text"].isna().all()


def test_a_long_input_fails_or_is_cut_and_is_named(models: Models) -> None:
    for too_long, end in (
        ("fail", "nothing was written"),
        ("cut", "only its beginning was read"),
    ):
        texts, warnings = write(models("bart"), LONG, too_long=too_long)
        (warning,) = warnings
        assert warning.startswith("s: doc_id 'd0', part 'full': the input has ")
        assert warning.endswith(f" tokens, the model reads 64; {end}")
        assert "knee" not in warning
        assert "|limit:64|" in texts["recipe"].iloc[0]
        assert f"|too_long:{too_long}|" in texts["recipe"].iloc[0]
        assert texts["status"].iloc[1] != "truncated"
        if too_long == "fail":
            assert texts["status"].iloc[0] == "truncated"
    shorter = write(models("bart"), LONG, too_long="cut", max_input=9)
    assert "|limit:9|" in shorter.texts["recipe"].iloc[0]
    # The end mark stays: the model sees eight tokens of text and then its end.
    options = parse(
        Seq2SeqOptions, COMMON | {"model": str(models("bart"))}, where="test"
    )
    words = loading.load("AutoModelForSeq2SeqLM", options).tokenizer
    tokens = words("the knee hurts " * 40, truncation=True, max_length=9)["input_ids"]
    assert (len(tokens), tokens[-1]) == (9, 2)
    # A prompted model needs room for its answer, too.
    texts, warnings = write(models("llama"), prompted=True, max_new_tokens=4090)
    assert texts["status"].tolist() == ["truncated"] * 5
    assert {w.partition("the model ")[2] for w in warnings} == {
        "reads 6; nothing was written"
    }


@pytest.mark.parametrize("kind", ["bart", "llama"])
def test_a_source_without_passages_is_an_error(models: Models, kind: str) -> None:
    nothing = sources([], [" ", ""], ["how is it?"])
    statuses = write(models(kind), nothing, prompted=kind == "llama").texts["status"]
    assert (statuses == "error").tolist() == [True, True, False]


def test_a_prompted_model_writes_sections(models: Models) -> None:
    texts, warnings = write(
        models("llama"), prompted=True, unit="section", citations=True
    )
    assert len(texts) == 20
    assert set(texts["part"]) == set(SECTIONS)
    assert set(texts["status"]) <= {"ok", "unparsed", "truncated"}
    assert warnings == ()
    assert texts["recipe"].iloc[0].startswith("causal|model:tiny-llama#")
    assert "prompt:write-section-cited#" in texts["recipe"].iloc[0]


@pytest.mark.parametrize(
    ("kind", "prompted", "problem"),
    [
        ("untuned", True, "has no chat template"),
        ("picky", True, "its chat template refuses"),
        # A decoder alone, read as an encoder with a decoder's name: weights would be
        # invented.
        ("bart", True, r"lacks \d+ of the weights of AutoModelForCausalLM"),
        ("llama", False, "cannot be loaded by AutoModelForSeq2SeqLM"),
        ("nowhere", False, "is not a folder here"),
    ],
)
def test_a_model_that_does_not_fit(
    models: Models, tmp_path: Path, kind: str, prompted: bool, problem: str
) -> None:
    model = models(kind) if kind in MAKERS else tmp_path / kind
    with pytest.raises(BadInput, match=problem):
        write(model, prompted=prompted)


def test_the_recipe_names_the_content_of_a_folder_not_its_place(
    models: Models, tmp_path: Path
) -> None:
    (recipe,) = set(write(models("bart")).texts["recipe"])
    assert recipe.startswith("seq2seq|model:tiny-bart#")
    assert str(models("bart").parent) not in recipe
    assert (
        f"|transformers:{transformers.__version__}|torch:{torch.__version__}|" in recipe
    )
    (changed,) = set(write(bart(tmp_path / "tiny-bart", ends=[5])).texts["recipe"])
    assert changed != recipe


@pytest.mark.parametrize("kind", ["bart", "llama"])
def test_a_second_run_loads_no_model(
    models: Models, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(visits: pd.DataFrame, **changes: Any) -> Generated:
        return write(models(kind), visits, prompted=kind == "llama", **changes)

    def fail(*_: object) -> Any:
        raise AssertionError("the model was loaded")

    more = sources(["the knee hurts " * 3000], [" "]).assign(doc_id=["l", "n"])
    visits = pd.concat([VISITS, more])
    first = run(visits)
    assert len(first.warnings) == 1
    monkeypatch.setattr(decoding, "_load", fail)
    second = run(visits)
    pd.testing.assert_frame_equal(first.texts, second.texts)
    assert first.warnings == second.warnings
    run(visits.iloc[1:3])  # a part of it is there as well
    for changes in (
        {"max_new_tokens": 21},
        {"beams": 2},
        {"seed": 1},
        {"batch_size": 3},
    ):
        with pytest.raises(AssertionError, match="was loaded"):
            run(visits, **changes)


def test_only_what_is_new_is_decoded(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(models("bart"), VISITS.iloc[:3])
    decoded: list[int] = []
    batch = decoding._batch

    def counted(writer: Any, rows: Any, options: Any) -> Any:
        decoded.append(len(rows))
        return batch(writer, rows, options)

    monkeypatch.setattr(decoding, "_batch", counted)
    texts = write(models("bart")).texts
    assert decoded == [2]
    pd.testing.assert_frame_equal(texts, write(models("bart")).texts)


def test_the_stage_asks_nobody_and_failed_documents_are_rows(
    models: Models, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    passages = [
        "how is the knee?",
        "",
        "the stairs hurt " * 2000,
        "it hurts",
        "when i climb",
    ]
    block = COMMON | {"kind": "seq2seq", "model": str(models("bart"))}
    root = tiny_project(
        tmp_path / "project", "http://127.0.0.1:9/v1", passages, system=block
    )
    path = root / "data/tables/one/texts/writer.parquet"
    assert run_stage(monkeypatch, root, "generate", "writer") == 0
    texts, first = read(TEXTS, path), path.read_bytes()
    assert texts["doc_id"].tolist() == [f"d{number:03}" for number in range(5)]
    statuses = texts["status"].tolist()
    assert statuses[1:3] == ["error", "truncated"]
    assert "ok" in statuses
    # Nobody was asked, and the ledger was not even opened.
    assert read(
        RESPONSES, root / "data/tables/one/responses/generate-writer.parquet"
    ).empty
    assert not list((root / ".work").glob("ledger*"))
    lines = capfd.readouterr().err
    assert "note: writer: doc_id 'd002', part 'full': the input has" in lines
    assert "stairs" not in lines
    assert run_stage(monkeypatch, root, "generate", "writer") == 0
    assert path.read_bytes() == first
