"""The page of `meta-eval`: the report's own shell, with the tables that there are."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import metassay
from metassay.core.errors import BadInput
from tests.reporting import page_data

FEW = {"resamples": 20, "permutations": 20}
ODD = "<b>bold</b> & co"


def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(4)
    texts = [(f"d{d}", system) for d in range(8) for system in ("a", "b", ODD)]
    keys = pd.DataFrame(texts, columns=["doc_id", "system"])
    quality = rng.normal(size=len(keys))
    scores = keys.assign(**{"good": quality, "noise <i>": rng.normal(size=len(keys))})
    each = [
        keys.assign(rater=one, grade=np.rint(quality + rng.normal(size=len(keys)))) for one in "xy"
    ]
    return scores, pd.concat(each)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    scores, ratings = frames()
    ratings["system"] = ratings["system"].replace("b", "<B>")
    folder = tmp_path_factory.mktemp("page") / "out"
    metassay.meta_eval(scores, ratings, **FEW).save(folder)
    return folder


@pytest.fixture(scope="module")
def head(written: Path) -> Any:
    return page_data.head(written)


def test_the_page_has_the_answer_every_table_and_figures(written: Path, head: Any) -> None:
    assert (head["kind"], head["texts"], head["systems"]) == ("meta-eval", None, None)
    assert len(head["answer"]) == len(head["grid"]) == 1
    assert list(head["decisions"]) == ["global", "document", "system"]
    names = {info["name"] for info in head["tables"]}
    assert {"certificates", "correlations", "agreement", "raters"} <= names
    assert page_data.figures(head) == ["forest"]
    for info in head["tables"]:
        assert (written / info["csv"]).is_file()
        assert info["command"] == "meta_eval(scores, ratings)"
        assert [one["name"] for one in info["columns"] if not one["means"]] == [], info["name"]
    certificates = page_data.table(written, "certificates")
    assert sorted(certificates["metric"].unique()) == ["good", "noise <i>"]


def test_warnings_stand_first_and_notes_and_choices_are_there(head: Any) -> None:
    first, *others = [one["text"] for one in head["problems"] if one["kind"] == "warning"]
    assert first.startswith("ratings names system '<B>' (16 rows)")
    assert any("texts with scores and ratings" in one for one in others)
    assert [link["href"] for link in head["links"]] == ["choices.json"]


def test_equal_input_gives_an_equal_page(written: Path, tmp_path: Path) -> None:
    scores, ratings = frames()
    ratings["system"] = ratings["system"].replace("b", "<B>")
    ratings = ratings.sample(frac=1, random_state=1)
    metassay.meta_eval(scores, ratings, **FEW).save(tmp_path / "again")
    for file in written.rglob("*.js"):
        again = tmp_path / "again" / file.relative_to(written)
        assert again.read_bytes() == file.read_bytes()


def test_ratings_alone_have_a_page_too(tmp_path: Path) -> None:
    metassay.meta_eval(ratings=frames()[1], **FEW).save(tmp_path / "out")
    head = page_data.head(tmp_path / "out")
    assert [info["name"] for info in head["tables"]] == ["agreement", "raters"]
    assert (head["answer"], head["grid"]) == ([], [])
    assert not (tmp_path / "out/figures").exists()


def test_a_folder_that_holds_something_is_left_alone(written: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in written.rglob("*")}
    with pytest.raises(BadInput, match="holds something already"):
        metassay.meta_eval(*frames(), **FEW).save(written)
    assert {path: path.stat().st_mtime_ns for path in written.rglob("*")} == before
