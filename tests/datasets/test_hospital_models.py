"""The tiny models of the invented stays: the same bytes anywhere, and what each can do."""

import json
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")

import torch
import transformers

from metassay.tuning.corruption import context_of, draw_tokens, find_fakes
from tests.support import hospital_models

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "data/hospital_course_models"
STAYS = ("hospital_course", "hospital_course_training")


def test_the_files_are_those_that_the_script_makes(tmp_path: Path) -> None:
    hospital_models.write(tmp_path)
    names = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    there = {path.relative_to(FOLDER) for path in FOLDER.rglob("*") if path.is_file()}
    assert there - names == {Path("README.md")}
    for name in sorted(names):
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes(), name
    assert sum((FOLDER / name).stat().st_size for name in names) < 8e5


def texts() -> list[str]:
    found = []
    for name in STAYS:
        for line in (ROOT / f"data/{name}/summaries.jsonl").read_text("utf-8").splitlines():
            found += json.loads(line)["sentences"]
        for line in (ROOT / f"data/{name}/sources.jsonl").read_text("utf-8").splitlines():
            found += [one["text"] for one in json.loads(line)["passages"]]
    return found


def test_every_text_is_read_word_by_word_and_can_be_written_again() -> None:
    words = transformers.AutoTokenizer.from_pretrained(FOLDER / "bart")
    for text in set(texts()):
        tokens = words(text)["input_ids"]
        assert words.unk_token_id not in tokens, text
        assert words.decode(tokens, skip_special_tokens=True) == text


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_filler_writes_a_value_for_each_mask_and_all_else_again() -> None:
    words = transformers.AutoTokenizer.from_pretrained(FOLDER / "filler")
    network = transformers.AutoModelForSeq2SeqLM.from_pretrained(
        FOLDER / "filler", dtype=torch.float32
    )
    _, values = hospital_models.words()
    new = {value.removeprefix("▁") for value in values}
    rng = hospital_models.np.random.default_rng(1)
    for text in texts()[:600:30]:
        parts = text.split()
        at = int(rng.integers(len(parts)))
        span = [(at, at + 1)]
        row = words(words.mask_token.join(context_of(parts, span)), return_tensors="pt")
        with torch.inference_mode():
            decoded = torch.full((1, 1), network.config.decoder_start_token_id)
            for _ in range(60):
                scores = network(**row, decoder_input_ids=decoded).logits[:, -1]
                token = draw_tokens(scores, [rng], 0.95).argmax(-1)
                decoded = torch.cat([decoded, token[:, None]], 1)
                if token.item() == words.eos_token_id:
                    break
        written, fake = find_fakes(parts, span, words.decode(decoded[0], skip_special_tokens=True))
        assert len(written) == len(parts), text
        if any(fake):
            assert [fake.index(1)] == [at]
            assert written[at].rstrip(".,") in new
