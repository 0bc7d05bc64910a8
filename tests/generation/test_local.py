"""Models on this machine: tiny ones, built here, that write nonsense but write it for real."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.generation import decoding
from metassay.generation.decoding import CausalOptions, Seq2SeqOptions, write_causal, write_seq2seq
from metassay.models import loading
from metassay.tables.documents import TEXTS
from metassay.tables.parquet import write
from metassay.text.headings import SECTIONS

torch = pytest.importorskip("torch", reason="needs metassay[models]")
transformers = pytest.importorskip("transformers", reason="needs metassay[models]")
pytest.importorskip("tokenizers", reason="needs metassay[models]")

from tests.models.tiny import TEMPLATE, bart, llama, t5  # noqa: E402 - it needs them

PROMPTS = Path(__file__).parents[2] / "prompts"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A folder per kind, built once."""
    built: dict[str, Path] = {}
    makers: dict[str, Callable[[Path], Path]] = {
        "bart": lambda folder: bart(folder, ends=list(range(8, 300, 6))),
        "endless": bart,
        "forced": lambda folder: bart(folder, forced=True),
        "t5": t5,
        "llama": llama,
        "untuned": lambda folder: llama(folder, template=None),
        "picky": lambda folder: llama(
            folder, template="{{ raise_exception('no system role') }}" + TEMPLATE
        ),
    }

    def model(kind: str) -> Path:
        if kind not in built:
            built[kind] = makers[kind](tmp_path_factory.mktemp(kind) / f"tiny-{kind}")
        return built[kind]

    return model


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What models wrote is kept below the folder that a test runs in."""
    monkeypatch.chdir(tmp_path)


COMMON = {
    "revision": None,
    "device": "cpu",
    "dtype": "float32",
    "batch_size": 2,
    "beams": 1,
    "max_new_tokens": 20,
    "seed": 0,
}
STYLE = {
    "unit": "full",
    "citations": False,
    "shots": 0,
    "examples": [],
    "example_citations": "none",
}


def seq2seq(model: Path, **changes: Any) -> Seq2SeqOptions:
    return parse(Seq2SeqOptions, COMMON | {"model": str(model)} | changes, where="test")


def causal(model: Path, **changes: Any) -> CausalOptions:
    return parse(CausalOptions, COMMON | STYLE | {"model": str(model)} | changes, where="test")


def sources(*passages: list[str]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "doc_id": f"d{number}",
                "task": "note",
                "passages": said,
                "speaker": ["doctor", "patient", "", ""][: len(said)],
                "group": [""] * len(said),
                "attributes": None,
            }
            for number, said in enumerate(passages)
        ]
    )


VISITS = sources(
    ["how is it?", "it hurts"],
    ["the knee", "stairs"],
    ["how long?"],
    ["today", "when i climb", "the stairs hurt"],
    ["hm"],
)


@pytest.mark.parametrize("kind", ["bart", "t5"])
def test_an_encoder_decoder_writes_for_every_document(models, kind: str, tmp_path) -> None:
    texts, warnings = write_seq2seq(VISITS, "s", seq2seq(models(kind)))
    assert texts["doc_id"].tolist() == [f"d{n}" for n in range(5)]
    assert set(texts["status"]) <= {"ok", "unparsed", "truncated"}
    assert (texts["status"] == "ok").sum() >= 2
    assert (texts["text"].notna() == (texts["status"] == "ok")).all()
    assert warnings == ()
    write(TEXTS, texts, tmp_path / "texts.parquet")


def test_the_same_input_gives_the_same_text_whatever_the_global_seed(models, tmp_path) -> None:
    # The model's own settings ask for sampling.
    first = write_seq2seq(VISITS, "s", seq2seq(models("bart"))).texts
    torch.manual_seed(99)
    state = torch.random.get_rng_state()
    other = tmp_path / "other.sqlite"
    again = write_seq2seq(VISITS.iloc[::-1], "s", seq2seq(models("bart")), store=other).texts
    assert torch.equal(torch.random.get_rng_state(), state)
    pd.testing.assert_frame_equal(first, again)


@pytest.mark.parametrize("kind", ["bart", "t5", "llama"])
def test_padding_does_not_change_a_text(models, kind: str) -> None:
    one_by_one, together = (
        write_causal(VISITS, "s", causal(models(kind), batch_size=size), prompts=PROMPTS).texts
        if kind == "llama"
        else write_seq2seq(VISITS, "s", seq2seq(models(kind), batch_size=size)).texts
        for size in (1, 5)
    )
    pd.testing.assert_frame_equal(
        one_by_one.drop(columns="recipe"), together.drop(columns="recipe")
    )


def test_greedy_is_the_likeliest_token_at_each_step(models) -> None:
    folder = models("bart")
    words = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder)
    ends = model.generation_config.eos_token_id
    expected = []
    for row in VISITS.itertuples():
        said = [f"[{s}] {p}" if s else p for s, p in zip(row.speaker, row.passages, strict=True)]
        ids = words("summarize: " + "\n".join(said), return_tensors="pt")
        tokens: list[int] = []
        while len(tokens) < 20 and not (tokens and tokens[-1] in ends):
            decoder = torch.tensor([[2, *tokens]])
            tokens.append(int(model(**ids, decoder_input_ids=decoder).logits[0, -1].argmax()))
        text = words.decode(tokens[:-1], skip_special_tokens=True).strip()
        expected.append(text if tokens[-1] in ends and text else None)
    texts = write_seq2seq(VISITS, "s", seq2seq(folder, prefix="summarize: ")).texts
    assert texts["text"].astype(object).where(texts["text"].notna(), None).tolist() == expected
    assert sum(text is not None for text in expected) >= 2


def test_beams_are_used(models) -> None:
    greedy = write_seq2seq(VISITS, "s", seq2seq(models("bart"))).texts
    beams = write_seq2seq(VISITS, "s", seq2seq(models("bart"), beams=4)).texts
    assert "|beams:4|" in beams["recipe"].iloc[0]
    assert greedy["text"].tolist() != beams["text"].tolist()


@pytest.mark.parametrize("kind", ["endless", "forced"])
def test_a_text_without_an_end_is_truncated(models, kind: str) -> None:
    # `forced` writes its end mark because it must, in the last place.
    texts = write_seq2seq(VISITS, "s", seq2seq(models(kind), max_new_tokens=5)).texts
    assert texts["status"].tolist() == ["truncated"] * 5
    assert texts["text"].isna().all()


LONG = sources(["the knee hurts " * 40], ["how is it?"])


def test_a_long_input_fails_and_is_named(models) -> None:
    texts, warnings = write_seq2seq(LONG, "s", seq2seq(models("bart")))
    assert texts["status"].iloc[0] == "truncated"
    assert texts["status"].iloc[1] != "truncated"
    (warning,) = warnings
    assert warning.startswith("s: doc_id 'd0', part 'full': the input has ")
    assert warning.endswith(" tokens, the model reads 64; nothing was written")
    assert "knee" not in warning
    assert "|limit:64|" in texts["recipe"].iloc[0]
    assert "|too_long:fail|" in texts["recipe"].iloc[0]


def test_a_long_input_is_cut_only_if_that_was_said(models) -> None:
    cut = seq2seq(models("bart"), too_long="cut")
    texts, warnings = write_seq2seq(LONG, "s", cut)
    assert len(warnings) == 1
    assert warnings[0].endswith("the model reads 64; only its beginning was read")
    assert "|too_long:cut|" in texts["recipe"].iloc[0]
    shorter = write_seq2seq(LONG, "s", seq2seq(models("bart"), too_long="cut", max_input=9))
    assert "|limit:9|" in shorter.texts["recipe"].iloc[0]
    # The end mark stays: the model sees eight tokens of text and then its end.
    loaded = loading.load("AutoModelForSeq2SeqLM", cut)
    tokens = loaded.tokenizer("the knee hurts " * 40, truncation=True, max_length=9)["input_ids"]
    assert (len(tokens), tokens[-1]) == (9, 2)


def test_a_source_without_passages_is_an_error(models) -> None:
    nothing = sources([], [" ", ""], ["how is it?"])
    for texts, _ in (
        write_seq2seq(nothing, "s", seq2seq(models("bart"))),
        write_causal(nothing, "s", causal(models("llama")), prompts=PROMPTS),
    ):
        assert texts["status"].tolist()[:2] == ["error", "error"]
        assert texts["status"].iloc[2] != "error"


def test_a_prompted_model_writes_sections(models, tmp_path) -> None:
    options = causal(models("llama"), unit="section", citations=True)
    texts, warnings = write_causal(VISITS, "s", options, prompts=PROMPTS)
    assert len(texts) == 20
    assert set(texts["part"]) == set(SECTIONS)
    assert set(texts["status"]) <= {"ok", "unparsed", "truncated"}
    assert warnings == ()
    assert texts["recipe"].iloc[0].startswith("causal|model:tiny-llama#")
    assert "prompt:write-section-cited#" in texts["recipe"].iloc[0]
    write(TEXTS, texts, tmp_path / "texts.parquet")


def test_a_prompted_model_needs_room_for_its_answer(models) -> None:
    texts, warnings = write_causal(
        VISITS, "s", causal(models("llama"), max_new_tokens=4090), prompts=PROMPTS
    )
    assert texts["status"].tolist() == ["truncated"] * 5
    assert len(warnings) == 5
    assert all("the model reads 6; nothing was written" in warning for warning in warnings)


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [("untuned", "has no chat template"), ("picky", "its chat template refuses")],
)
def test_a_model_that_cannot_be_prompted(models, kind: str, complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        write_causal(VISITS, "s", causal(models(kind)), prompts=PROMPTS)


def test_models_that_cannot_be_loaded(models, tmp_path) -> None:
    with pytest.raises(BadInput, match="is not a folder here"):
        write_seq2seq(VISITS, "s", seq2seq(tmp_path / "nothing"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="cannot be loaded by AutoModelForSeq2SeqLM"):
        write_seq2seq(VISITS, "s", seq2seq(tmp_path / "empty"))
    with pytest.raises(BadInput, match="cannot be loaded by AutoModelForSeq2SeqLM"):
        write_seq2seq(VISITS, "s", seq2seq(models("llama")))


def test_the_recipe_names_the_content_of_a_folder_not_its_place(models, tmp_path) -> None:
    texts = write_seq2seq(VISITS, "s", seq2seq(models("bart"))).texts
    (recipe,) = set(texts["recipe"])
    assert recipe.startswith("seq2seq|model:tiny-bart#")
    assert str(models("bart").parent) not in recipe
    assert f"|transformers:{transformers.__version__}|torch:{torch.__version__}|" in recipe
    other = bart(tmp_path / "tiny-bart", ends=[5])
    (changed,) = set(write_seq2seq(VISITS, "s", seq2seq(other)).texts["recipe"])
    assert changed != recipe


def cannot(*_: object) -> Any:
    raise AssertionError("the model was loaded")


@pytest.mark.parametrize("kind", ["bart", "llama"])
def test_a_second_run_loads_no_model(models, kind: str, monkeypatch) -> None:
    def run(visits: pd.DataFrame, **changes: Any) -> Any:
        if kind == "llama":
            return write_causal(visits, "s", causal(models(kind), **changes), prompts=PROMPTS)
        return write_seq2seq(visits, "s", seq2seq(models(kind), **changes))

    visits = pd.concat(
        [VISITS, sources(["the knee hurts " * 3000], [" "]).assign(doc_id=["l", "n"])]
    )
    first = run(visits)
    assert len(first.warnings) == 1
    monkeypatch.setattr(decoding, "_load", cannot)
    second = run(visits)
    pd.testing.assert_frame_equal(first.texts, second.texts)
    assert first.warnings == second.warnings
    # A part of it, in another benchmark and under another name, is there as well.
    run(visits.iloc[1:3])
    for changes in ({"max_new_tokens": 21}, {"beams": 2}, {"seed": 1}, {"batch_size": 3}):
        with pytest.raises(AssertionError, match="was loaded"):
            run(visits, **changes)


def test_only_what_is_new_is_decoded(models, monkeypatch) -> None:
    write_seq2seq(VISITS.iloc[:3], "s", seq2seq(models("bart")))
    decoded: list[int] = []
    batch = decoding._batch

    def counted(writer: Any, rows: Any, options: Any) -> Any:
        decoded.append(len(rows))
        return batch(writer, rows, options)

    monkeypatch.setattr(decoding, "_batch", counted)
    texts = write_seq2seq(VISITS, "s", seq2seq(models("bart"))).texts
    assert decoded == [2]
    monkeypatch.undo()
    pd.testing.assert_frame_equal(texts, write_seq2seq(VISITS, "s", seq2seq(models("bart"))).texts)


def test_a_model_that_lacks_weights_is_refused(models) -> None:
    # A decoder alone, read as an encoder with a decoder's name: its weights would be invented.
    with pytest.raises(BadInput, match=r"lacks \d+ of the weights of AutoModelForCausalLM"):
        write_causal(VISITS, "s", causal(models("bart")), prompts=PROMPTS)
