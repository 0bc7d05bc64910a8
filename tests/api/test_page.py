"""The page of `meta-eval`: one file that needs nothing else, with the report's own sections."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import metassay
from metassay.core.errors import BadInput
from tests.reporting.html_tree import tree_of

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
def page(written: Path) -> str:
    return (written / "index.html").read_text("utf-8")


def test_the_page_has_the_report_s_sections_and_figures(page: str) -> None:
    headings = re.findall(r"<h2>(.*?)</h2>", page)
    assert headings[:3] == ["Headline", "Which metric to trust", "Metrics against people"]
    assert {"Agreement between raters", "How each person rated"} <= set(headings)
    assert headings[-1] == "Assumed and left out"
    assert page.count("<svg") == 4
    anchors = set(re.findall(r'href="#([^"]+)"', page))
    assert anchors <= set(re.findall(r'id="([^"]+)"', page))


def test_the_page_loads_nothing_and_its_links_lead_somewhere(written: Path, page: str) -> None:
    assert "default-src &#39;none&#39;" in page
    assert not re.findall(r'\bsrc="|url\((?!#)|@import', page)
    local = set(re.findall(r'href="([^#"][^"]*)"', page))
    assert local
    assert not [link for link in local if not (written / link).exists()]
    tree_of(page)


def test_names_are_escaped_and_warnings_stand_first(page: str) -> None:
    assert "<b>bold" not in page
    assert "<i>" not in page
    first = page.index("Look at this first.")
    assert first < page.index('<section id="headline">')
    assert "ratings names system &#39;&lt;B&gt;&#39; (16 rows)" in page


def test_equal_input_gives_an_equal_page(written: Path, tmp_path: Path, page: str) -> None:
    scores, ratings = frames()
    ratings["system"] = ratings["system"].replace("b", "<B>")
    ratings = ratings.sample(frac=1, random_state=1)
    metassay.meta_eval(scores, ratings, **FEW).save(tmp_path / "again")
    assert (tmp_path / "again/index.html").read_text("utf-8") == page


def test_ratings_alone_have_a_page_too(tmp_path: Path) -> None:
    metassay.meta_eval(ratings=frames()[1], **FEW).save(tmp_path / "out")
    page = (tmp_path / "out/index.html").read_text("utf-8")
    headings = re.findall(r"<h2>(.*?)</h2>", page)
    assert headings == ["Agreement between raters", "How each person rated", "Assumed and left out"]
    assert not (tmp_path / "out/figures").exists()


def test_a_folder_that_holds_something_is_left_alone(written: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in written.rglob("*")}
    with pytest.raises(BadInput, match="holds something already"):
        metassay.meta_eval(*frames(), **FEW).save(written)
    assert {path: path.stat().st_mtime_ns for path in written.rglob("*")} == before
