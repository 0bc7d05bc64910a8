import base64
import hashlib
import re

import pandas as pd
import pytest

from metassay.reporting.report import write_report
from tests.reporting.html_tree import section, tree_of
from tests.reporting.invented_report import DOC, EVIL, SCRIPT

URLS = ("src", "href", "xlink:href", "action", "data", "poster", "srcset")


@pytest.fixture(scope="module")
def tree(page):
    return tree_of(page)


@pytest.fixture
def page_of(make_report, tmp_path, no_figures):
    """The page of the report with the named changes."""

    def written(**changes):
        write_report(make_report(**changes), tmp_path / "out")
        return (tmp_path / "out/index.html").read_text(encoding="utf-8")

    return written


def documents(tree):
    return [d for d in tree.all("details") if d.attributes.get("class") == "doc"]


def numbers(tree, name):
    """The cells of a section that have a number."""
    cells = [td for table in section(tree, name).all("table") for td in table.all("td")]
    return [td for td in cells if td.attributes.get("data-v")]


def test_well_formed_with_unique_ids(tree):
    every = [e for tag in ("section", "details", "li", "g", "path", "svg") for e in tree.all(tag)]
    ids = [e.attributes["id"] for e in every if "id" in e.attributes]
    assert len(ids) > 10
    assert len(ids) == len(set(ids))


def test_every_link_within_the_page_has_its_target(tree):
    ids = {e.attributes.get("id") for tag in ("section", "li") for e in tree.all(tag)}
    links = [a.attributes["href"] for a in tree.all("a") if a.attributes["href"].startswith("#")]
    assert "#d0p0" in links
    assert {link[1:] for link in links} <= ids
    marks = {
        e.attributes["id"] for tag in ("path", "g") for e in tree.all(tag) if "id" in e.attributes
    }
    used = [e.attributes["xlink:href"] for e in tree.all("use")]
    assert used
    assert {use[1:] for use in used} <= marks


def test_no_text_becomes_markup(page, tree):
    assert "alert(1)" in page
    assert SCRIPT not in page
    assert [len(script.texts) for script in tree.all("script")] == [1]
    assert not tree.all("b") or all(re.fullmatch(r"\[\d+\]", b.text()) for b in tree.all("b"))
    for element in _walk(tree):
        assert not [name for name in element.attributes if name.startswith("on")]


def _walk(element):
    yield element
    for child in element.children:
        yield from _walk(child)


@pytest.mark.parametrize(
    "text", [DOC, EVIL, f"missing: {SCRIPT}", f"rater {SCRIPT}", f"Tiny {SCRIPT}"]
)
def test_hostile_texts_read_as_they_were_written(tree, text):
    assert text in tree.text()


def test_what_choices_saw_is_said_before_any_number(tree):
    facts = dict(zip(*([e.text() for e in tree.all(tag)] for tag in ("dt", "dd")), strict=True))
    assert facts["Seen by choices"] == "words: looked at & noted"


def test_labels_inside_figures_are_escaped_and_no_formulas(tree):
    """`$x_1$` would be set as a formula, and lose its dollars, if labels were parsed."""
    drawn = " ".join(svg.text() for svg in tree.all("svg"))
    assert EVIL in drawn
    assert SCRIPT in drawn


def test_nothing_is_loaded(page, tree):
    for element in _walk(tree):
        if element.tag == "a":
            continue
        for name in URLS:
            assert element.attributes.get(name, "#").startswith("#"), (element.tag, name)
    assert not tree.all("link")
    assert not tree.all("img")
    assert "url(" not in page.replace("url(#", "")
    assert "@import" not in page
    hosts = set(re.findall(r"https?://[^/\s\"<]+", page))
    assert hosts <= {"https://example.org"}  # the citation, as text


def test_policy_admits_only_the_page_s_own_script(page, tree):
    policy = next(m.attributes["content"] for m in tree.all("meta") if "http-equiv" in m.attributes)
    assert "default-src 'none'" in policy
    script = re.search(r"<script>(.*)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.group(1).encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy


def test_numbers_equal_the_tables(tree, frames):
    for name, column in (("leaderboard", "macro"), ("correlations", "value")):
        shown = [float(td.attributes["data-v"]) for td in numbers(tree, name)]
        assert sorted(shown) == sorted(frames[name][column].dropna())
    first = next(td for td in tree.all("td") if td.attributes.get("data-v") == "0.612345678901")
    assert "0.612" in first.text()
    assert "[0.500, 0.800]" in first.text()
    cells = [td.text() for td in numbers(tree, "correlations")]
    assert all("n = 6, " in cell for cell in cells)
    assert sum("1 undefined" in cell for cell in cells) == 2 * 2 * 3  # at document level


def test_undefined_and_failed_are_counted(tree):
    board = section(tree, "leaderboard").text()
    assert "n = 1 of 2" in board
    assert "2 of 4 missing, within [0.550, 0.750]" in board
    assert "undefined" in board


def test_best_is_marked_in_the_metric_s_direction(tree):
    best = {
        (row.all("th")[0].text(), place)
        for table in section(tree, "leaderboard").all("table")
        for row in table.all("tr")
        for place, td in enumerate(row.all("td"))
        if td.attributes.get("class") == "best"
    }
    # claim_recall and rouge1 (higher): plain, .712; edit_distance (lower): the other, .612
    assert best == {("plain", 0), (EVIL, 1)}


def test_banners(page, page_of):
    assert "The judge “lexical” is a lexical baseline" in page
    assert "Invented data." in page
    assert "Invented data." not in page_of(invented=False)


def test_verdicts_statuses_and_citations(tree):
    text, second = (" ".join(document.text().split()) for document in documents(tree))
    for words in (
        "entailed",
        "not entailed",
        "no evidence",
        "failed: refused",
        "[7], no such passage",
        "[0] alone: not entailed",
        "without [0]: entailed",
        "patient: My knee hurts.",
        "doctor & co: Since when?",
        "age: 40",
        "completeness: 80 (rater",
        "preference over plain: abstained",
        "coverage: 1 rating of single claims, 3 ratings of single statements",
    ):
        # an element's own text comes before its children's, so compare without the order
        assert all(word in text for word in words.split()), words
    assert "! no text: truncated" in second
    assert "all 2 questions failed, because there is no text to read" in second
    assert "undefined, 2 missing, within [0.000, 1.000]" in second


def test_failed_text_has_no_verdict_of_not_entailed(tree):
    second = documents(tree)[1]
    by_author = {
        d.all("summary")[0].texts[0].strip(): {td.attributes.get("class") for td in d.all("td")}
        for d in second.all("details")
        if d.attributes.get("class") == "text"
    }
    assert "n" in by_author[EVIL]
    assert by_author["plain"] == set()


def test_null_is_never_printed_as_a_word(written, tree):
    for file in written.rglob("*"):
        if file.suffix in (".html", ".md", ".csv", ".svg"):
            text = file.read_text(encoding="utf-8")
            assert not re.search(r"\b(nan|NaN|NA|NaT|inf)\b", text), file.name
            assert file.suffix == ".html" or "None" not in text, file.name
    assert "a premise nobody prints" not in tree.text()
    cells = [td.text().strip() for td in tree.all("td")]
    assert "undefined" in cells
    assert "None" not in cells
    assert "null" not in cells


def test_alignments_are_shown_where_given(page_of):
    aligned = pd.DataFrame(
        [[DOC, EVIL, "full", 0, "rouge_topk", [1, 0], [0.5, 0.25]]],
        columns=["doc_id", "author", "part", "position", "method", "passages", "values"],
    )
    assert page_of(alignments=aligned).count("aligned [1] [0]") == 1


def test_all_tables_empty(make_report, nothing, tmp_path):
    write_report(make_report(**nothing), tmp_path / "out")
    tree = tree_of((tmp_path / "out" / "index.html").read_text(encoding="utf-8"))
    assert not numbers(tree, "leaderboard")
    assert not section(tree, "headline").all("table")
    assert not documents(tree)
    assert not (tmp_path / "out" / "figures").exists()


def test_no_judge_no_ratings_one_author(page_of, frames, nothing):
    only = {
        name: frames[name][frames[name]["author"] == EVIL].reset_index(drop=True)
        for name in ("texts", "parts", "units", "scores", "leaderboard")
    }
    names = ("pairs", "judgments", "ratings", "correlations", "certificates", "agreement")
    tree = tree_of(page_of(**only, **{name: nothing[name] for name in names}))
    assert "is a lexical baseline" not in tree.text()
    assert not [td for td in tree.all("td") if td.attributes.get("class") in ("y", "n", "best")]
    assert "claim 1 of" in tree.text()


def test_characters_that_browsers_drop_are_shown_as_pictures(page_of):
    page = page_of(citation="NUL \0, escape \x1b[31m, line\n, <b>\x07</b>")
    assert "NUL \u2400, escape \u241b[31m, line\n, &lt;b&gt;\u2407&lt;/b&gt;" in page
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", page)


def test_characters_that_turn_what_follows_round_are_shown_as_escapes(page_of):
    page = page_of(citation="is \u202eeurt ton\u202c, \u2066so\u2069, \u05d0\u200f!")
    assert "is \\u202eeurt ton\\u202c, \\u2066so\\u2069, \u05d0\u200f!" in page
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", page)
