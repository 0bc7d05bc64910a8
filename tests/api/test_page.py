"""The page of `meta-eval`: the report's own shell, with the tables that there are."""

from pathlib import Path

import pytest

import metassay
from metassay.core.errors import BadInput
from tests.api.small_study import FEW, Frames, study
from tests.reporting import page_data


def frames() -> Frames:
    scores, ratings = study(("a", "b", "<b>bold</b> & co"), 8)
    scores = scores.rename(columns={"noise": "noise <i>"}).drop(columns="words")
    return scores, ratings.replace({"system": {"b": "<B>"}})


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page") / "out"
    metassay.meta_eval(*frames(), **FEW).save(folder)
    return folder


def test_the_page_has_the_answer_and_every_table(written: Path) -> None:
    head = page_data.head(written)
    assert (head["kind"], head["texts"], head["systems"]) == ("meta-eval", None, None)
    assert len(head["answer"]) == len(head["grid"]) == 1
    assert list(head["decisions"]) == ["global", "document", "system"]
    names = {info["name"] for info in head["tables"]}
    assert {"certificates", "correlations", "agreement", "raters"} <= names
    assert page_data.figures(head) == []
    assert not (written / "figures").exists()
    for info in head["tables"]:
        assert (written / info["csv"]).is_file()
        assert info["command"] == "meta_eval(scores, ratings)"
        assert all(column["means"] for column in info["columns"]), info["name"]
    certificates = page_data.table(written, "certificates")
    assert sorted(certificates["metric"].unique()) == ["good", "noise <i>"]
    first, *others = [
        line["text"] for line in head["problems"] if line["kind"] == "warning"
    ]
    assert first.startswith("ratings names system '<B>' (16 rows)")
    assert any("texts with scores and ratings" in line for line in others)
    assert [link["href"] for link in head["links"]] == ["choices.json"]


def test_equal_input_gives_an_equal_page(written: Path, tmp_path: Path) -> None:
    scores, ratings = frames()
    results = metassay.meta_eval(scores, ratings.sample(frac=1, random_state=1), **FEW)
    results.save(tmp_path / "again")
    before = {path: path.stat().st_mtime_ns for path in written.rglob("*")}
    for file in written.rglob("*.js"):
        again = tmp_path / "again" / file.relative_to(written)
        assert again.read_bytes() == file.read_bytes()
    with pytest.raises(BadInput, match="holds something already"):
        results.save(written)
    assert {path: path.stat().st_mtime_ns for path in written.rglob("*")} == before


def test_figures_are_drawn_for_who_asks(tmp_path: Path) -> None:
    metassay.meta_eval(*frames(), **FEW).save(tmp_path / "out", figures=True)
    files = {file.name for file in (tmp_path / "out/figures").iterdir()}
    assert files == {"forest.svg", "forest.png"}


def test_figures_without_matplotlib_say_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    results = metassay.meta_eval(ratings=frames()[1], **FEW)
    with pytest.raises(BadInput, match=r"figures: needs matplotlib.*pip install"):
        results.save(tmp_path / "out", figures=True)


def test_ratings_alone_have_a_page_too(tmp_path: Path) -> None:
    metassay.meta_eval(ratings=frames()[1], **FEW).save(tmp_path / "out")
    head = page_data.head(tmp_path / "out")
    assert [info["name"] for info in head["tables"]] == ["agreement", "raters"]
    assert (head["answer"], head["grid"]) == ([], [])
    assert not (tmp_path / "out/figures").exists()
