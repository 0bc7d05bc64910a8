"""ranked_sections: recall by hand, planted sections that are found again, and the alignment."""

import re
from pathlib import Path

import numpy as np
import pytest

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.units.alignment import ALIGNMENTS
from metassay.units.alignment.ranked_sections import (
    Ranker,
    choose_sections,
    fit_ranker,
    read_ranker,
    relevance,
    score,
    write_ranker,
)
from metassay.units.record import Statements


def test_relevance_and_score_by_hand() -> None:
    # 2 of 4 words of the reference, and 1 of 3 pairs.
    assert relevance("No fever, no cough", "She has no fever.") == (2 / 4 + 1 / 3) / 2
    assert relevance("No fever", "") == 0
    ranker = Ranker(words={"fever": 2.0, "rash": -1.0}, length=0.5, bias=-1.0)
    # "fever" twice among three words
    total = -1 + 0.5 * np.log(4) + 2 * np.log(3)
    assert score(ranker, "Fever, more fever") == pytest.approx(1 / (1 + np.exp(-total)))
    assert score(ranker, "") == pytest.approx(1 / (1 + np.exp(1)))


# ---- planted -------------------------------------------------------------------------------------

# References repeat sections that have some of these words, which are as rare as others.
TELLING = ["dose", "plan", "culture", "biopsy"]
FILLER = [f"word{number}" for number in range(60)]


def write_document(rng: np.random.Generator) -> tuple[list[str], str, list[int]]:
    """Ten sections of thirty words, of which three tell; the reference has their words."""
    telling = sorted(rng.choice(10, size=3, replace=False).tolist())
    sections = []
    for place in range(10):
        words = rng.choice(FILLER, size=28).tolist()
        words += rng.choice(TELLING if place in telling else FILLER, size=2).tolist()
        sections.append(" ".join(rng.permutation(words).tolist()))
    telling_words = [sections[place].split()[:15] for place in telling]
    return (
        sections,
        " ".join(word for words in telling_words for word in words),
        telling,
    )


def test_planted_sections_come_first_in_documents_that_were_not_read() -> None:
    rng = np.random.default_rng(7)
    documents = [write_document(rng) for _ in range(120)]
    ranker = fit_ranker([(sections, text) for sections, text, _ in documents[:80]])
    assert ranker == fit_ranker([(s, text) for s, text, _ in documents[:80]][::-1])
    hits = 0
    for sections, _, telling in documents[80:]:
        statements = Statements(sections, [str(n) for n in range(10)], ["x"])
        chosen = choose_sections(ranker, statements, 3)
        assert [place for place, _ in chosen] == sorted(place for place, _ in chosen)
        hits += len({place for place, _ in chosen} & set(telling))
    # By chance 3 of 10 would be found; a word in common leads to some of the others.
    assert hits / (3 * 40) > 0.8


def test_the_example_of_the_docs_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Path(__file__).parents[3] / "docs/tuning.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    (example,) = (block for block in blocks if "fit_ranker" in block)
    monkeypatch.chdir(tmp_path)
    exec(example, {})
    ranker = read_ranker(tmp_path / "ranker.json")
    plan, family = (score(ranker, text) for text in ("PLAN: rest", "FAMILY HISTORY"))
    assert plan > family


def test_without_anything_in_common_there_is_nothing_to_rank_by() -> None:
    with pytest.raises(BadInput, match="no section shares a word with its reference"):
        fit_ranker([(["fever", "cough"], "rash"), (["knee"], "")])


# ---- the alignment -------------------------------------------------------------------------------

RANKER = Ranker(words={"plan": 1.0, "family": -1.0}, length=0.0, bias=0.0)
NOTE = Statements(
    ["The plan is rest.", "Her family is well.", "More of the plan.", "Nothing."],
    ["note: plan", "note: family", "note: plan", ""],
    ["She rests.", "She is well."],
)


def test_statements_get_the_passages_of_the_best_sections(tmp_path: Path) -> None:
    path = tmp_path / "ranker.json"
    write_ranker(path, RANKER)
    assert read_ranker(path) == RANKER
    block = {"kind": "ranked_sections", "ranker": str(path), "sections": 2}
    record, options = choose(ALIGNMENTS, block, where="test")[1:]
    aligned = record.align([NOTE], options)
    first, second = aligned.documents[0]
    assert first == second
    # "plan" is twice in the first section: 1 / (1 + exp(-log 3)).
    assert first == [(0, 0.75), (2, 0.75), (3, 0.5)]
    assert aligned.notes == ("1 of 3 sections are not read, by the ranker",)
    assert [file.path for file in record.files(options)] == [path]
    recipe = record.recipe(options, None)
    assert recipe.startswith("ranked_sections,sections=2,ranker=ranker.json:")
    whole = record.align([NOTE], options.model_copy(update={"sections": 9}))
    assert (len(whole.documents[0][0]), whole.notes) == (4, ())


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"words": 1, "length": 0, "bias": 0}']
)
def test_a_file_that_is_no_ranker(tmp_path: Path, content: str) -> None:
    path = tmp_path / "ranker.json"
    path.write_text(content)
    with pytest.raises(BadInput, match="is not a ranker of sections"):
        read_ranker(path)
