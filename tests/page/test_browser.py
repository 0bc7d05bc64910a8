"""The page in a real browser, opened from the disk."""

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Error, Page, expect

from metassay.format.numbers import shown, shown_interval
from metassay.reporting.contract import Block
from metassay.reporting.shell import put_since
from speed.page import read, searches, seconds
from tests.page.conftest import Watched
from tests.page.invented import SCRIPT, Invented, invented_since

Watch = Callable[..., Watched]
CLAIM = "#texts?doc=visit-3&line=claim_recall%3A0&text=system_2"
VIEWS = {
    "answer": "#answer?criterion=factual_recall&level=document&metric=rougeL_recall",
    "problems": "#answer?problems=warning",
    "systems": "#systems?a=system_1&b=system_3",
    "since": "#since",
    "claims": "#claims?author=system_2",
    "texts": "#texts?x=rougeL_recall&y=people%3A+factual_recall&q=fever",
    "document": CLAIM,
    "beside": "#texts?doc=visit-3&text=system_1&beside=system_3&diff=1",
    "passage": "#texts?doc=visit-3&passage=3",
    "evidence": "#evidence?table=certificates",
    "matrix": "#evidence?table=confounds",
}


def settled(page: Page) -> Page:
    expect(page.locator(".wait")).to_have_count(0)
    return page


def test_from_the_disk_it_asks_no_network_and_reads_what_it_shows(tab: Watched) -> None:
    page = settled(tab.open())
    for first in (".answer", ".grid", ".data"):  # on the first screen
        expect(page.locator(first)).to_be_in_viewport(ratio=0.98)
    folder = tab.index.parent.as_uri()
    first = [url.removeprefix(folder + "/") for url in tab.requested]
    assert first == [
        "index.html",
        "page/app.css",
        "page/app.js",
        "page/data/head.js",
        "page/data/tables/certificates/0.js",
        "page/data/since.js",
    ]
    for address in VIEWS.values():
        settled(tab.open(address))
    assert all(url.startswith((folder, "about:")) for url in tab.requested)


def test_three_clicks_from_a_verdict_to_the_claim_that_counts_against_it(
    tab: Watched,
) -> None:
    page = tab.open()
    page.get_by_role("link", name=re.compile("promising claim_recall")).click()
    page.get_by_role("link", name="with claims that count against them").click()
    page.locator(".side.against").first.click()
    claim = page.locator(".line.open")
    expect(claim.locator(".side.against").first).to_be_visible()
    expect(claim).to_be_in_viewport()
    # What it was read against is lit, and leads back to it.
    expect(page.locator(".source li.lit").first).to_be_visible()
    page.locator(".source li.lit > a").first.click()
    page.locator(".source .ref").first.click()
    expect(page.locator(".line.open")).to_have_count(1)


def test_two_clicks_to_the_worst_claims_of_a_system(tab: Watched) -> None:
    page = tab.open()
    page.get_by_role("link", name="Claims", exact=True).click()
    page.get_by_label("System").select_option("system_2")
    first = page.locator("tbody tr").first
    expect(first.locator("td").first).to_have_text("system_2")
    expect(first.locator(".side.against").first).to_be_visible()
    counts = page.locator("tbody td.integer").all_inner_texts()
    worst = [int(count.split(" of ")[0]) for count in counts]
    assert worst == sorted(worst, reverse=True)
    # A claim leads to where it stands.
    claim = first.locator("a").inner_text()
    first.locator("a").click()
    expect(page.locator(".line.open .said")).to_contain_text(claim)
    # The same claims from the table of systems, with the same number.
    page = settled(tab.open("#systems"))
    cell = page.locator("tr", has_text="system_2").locator("a.fails").first
    n_failed, n_lines = re.findall(r"\d+", cell.inner_text())
    cell.click()
    summary = page.locator(".claims .summary")
    expect(summary).to_contain_text(
        f"{n_failed} of {n_lines} lines: missing from the text"
    )


def test_claims_that_are_listed_are_saved_as_csv(tab: Watched) -> None:
    page = settled(tab.open("#claims?author=system_2&q=fever"))
    shown_claims = page.locator("tbody th").all_inner_texts()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    saved = pd.read_csv(download.value.path())
    assert list(saved["text"]) == shown_claims
    assert set(saved["author"]) == {"system_2"}
    assert set(saved["side (lexical)"]) == {"against"}


def test_what_fails_is_marked_in_the_text_and_keys_go_from_one_to_the_next(
    tab: Watched,
) -> None:
    page = settled(tab.open("#texts?doc=visit-3&text=system_2"))
    text = page.get_by_role("region", name="system_2")
    marks = text.locator("mark.fails")
    failed = text.locator(".line", has=page.locator(".side.against").first)
    n = int(re.findall(r"\d+", page.locator(".failures b").inner_text())[0])
    assert marks.count() == n <= failed.count()
    expect(marks.first.locator(".hint")).to_be_hidden()
    marks.first.focus()
    expect(marks.first.locator(".hint")).to_contain_text("not entailed")
    page.keyboard.press("n")
    first = page.locator(".line.open .said").inner_text()
    page.keyboard.press("n")
    if n > 1:
        assert page.locator(".line.open .said").inner_text() != first
        page.keyboard.press("p")
    assert page.locator(".line.open .said").inner_text() == first
    page.get_by_label("only failures below").check()
    assert text.locator(".line").count() == failed.count()


def test_an_address_is_a_state_and_back_and_forward_work(tab: Watched) -> None:
    page = tab.open("#texts?author=system_2")
    page.get_by_role("link", name="visit-3").click()
    page.locator(".line .said").nth(2).click()
    expect(page.locator(".line.open")).to_have_count(1)
    address, text = (
        page.evaluate("location.hash"),
        page.locator(".line.open").inner_text(),
    )
    page.go_back()
    expect(page.locator(".line.open")).to_have_count(0)
    page.go_back()
    expect(page.locator(".summary")).to_contain_text("12 of 84 texts")
    page.go_forward()
    page.go_forward()
    expect(page.locator(".line.open")).to_have_text(
        re.compile(re.escape(text.split("\n")[0]))
    )
    assert tab.open(address).locator(".line.open").inner_text() == text


def press_until(page: Page, key: str, focused: str) -> None:
    """Press a key until what has the focus matches a selector."""
    for _ in range(80):
        page.keyboard.press(key)
        if page.evaluate("s => document.activeElement.matches(s)", focused):
            return
    raise AssertionError(f"{key} never reaches {focused}")


def test_the_keyboard_alone_suffices(tab: Watched) -> None:
    page = tab.open()
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    press_until(page, "Tab", ".grid a")
    page.keyboard.press("Enter")
    expect(page.locator(".certificate")).to_be_visible()
    press_until(page, "Tab", ".certificate a[href*='apart']")
    page.keyboard.press("Enter")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("fever knee")
    expect(page.locator(".summary")).not_to_contain_text("84 of 84")
    press_until(page, "Tab", "tbody th a")
    page.keyboard.press("Enter")
    press_until(page, "Tab", ".said")
    page.keyboard.press("Enter")
    expect(page.locator(".line.open")).to_be_visible()
    for gone in (".line.open", ".document"):
        page.keyboard.press("Escape")
        expect(page.locator(gone)).to_have_count(0)


# In the dark only colours differ. Axe's `preload` fetches style sheets, which files may
# not.
RULES = {
    "light": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"],
    "dark": ["color-contrast"],
}


@pytest.mark.parametrize("scheme", RULES)
def test_no_width_scrolls_sideways_and_axe_finds_nothing_serious(
    watch: Watch, invented: Path, scheme: str
) -> None:
    watched = watch(invented, color_scheme=scheme)
    options = {
        "preload": False,
        "runOnly": RULES[scheme],
        "resultTypes": ["violations"],
    }
    for address in VIEWS.values():
        page = settled(watched.open(address))
        for width in (1280, 768, 390):
            page.set_viewport_size({"width": width, "height": 844})
            wide = "document.documentElement.scrollWidth - innerWidth"
            assert page.evaluate(wide) <= 0, (address, width)
        bad = [
            (v["id"], v["nodes"][0]["html"][:200])
            for v in Axe().run(page, options=options).response["violations"]
            if v["impact"] in ("serious", "critical")
        ]
        assert not bad, (address, scheme)


def test_colours_are_the_readers_choice(tab: Watched) -> None:
    def paper() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    page = tab.open()
    light = paper()
    page.get_by_label("Colours").select_option("dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    dark = paper()
    assert light != dark
    page = tab.open()
    assert paper() == dark


def test_what_is_printed_has_no_controls(tab: Watched) -> None:
    page = settled(tab.open(CLAIM))
    page.emulate_media(media="print")
    expect(page.locator("header")).to_be_hidden()
    expect(page.locator(".line.open")).to_be_visible()
    expect(page.locator(".source li").last).to_be_visible()


def test_numbers_are_those_of_the_tables(tab: Watched) -> None:
    board = pd.read_csv(tab.index.with_name("leaderboard.csv")).query(
        "metric == 'error_count'"
    )
    certificates = pd.read_csv(tab.index.with_name("certificates.csv"))
    page = settled(tab.open("#systems?metric=error_count"))
    shown_rows = page.locator("table tbody tr").all_inner_texts()
    in_order = board.sort_values("macro")["author"]  # fewer errors are better
    assert [row.split()[0] for row in shown_rows] == list(in_order)
    for author, macro, n, missing in board[
        ["author", "macro", "n", "n_missing"]
    ].itertuples(index=False):
        page = settled(tab.open(f"#texts?author={author}&x=error_count"))
        rest = f", {missing} without" if missing else ""
        expect(page.locator(".summary")).to_contain_text(
            f"mean error_count {shown(macro)} (n = {n}{rest})"
        )
    first = certificates.query(
        "criterion == 'hallucination' and level == 'system'"
    ).iloc[1]
    page = settled(tab.open("#evidence?is.criterion=hallucination&is.level=system"))
    expect(page.locator("table tbody tr").nth(1)).to_contain_text(
        shown(first["value"]) + shown_interval(first["low"], first["high"])
    )


def test_two_systems_differ_by_the_mean_of_their_differences(tab: Watched) -> None:
    page = settled(tab.open("#texts?x=bertscore_f1"))
    values: dict[str, dict[str, float]] = {}
    column = page.locator("thead th").all_inner_texts().index("bertscore_f1")
    for row in page.locator("tbody tr").all():
        cells = row.locator("th, td").all_inner_texts()
        if cells[column]:
            values.setdefault(cells[1], {})[cells[0]] = float(cells[column])
    a, b = values["system_1"], values["system_2"]
    both = [a[name] - b[name] for name in a if name in b]
    page = settled(tab.open("#systems?a=system_1&b=system_2&x=bertscore_f1"))
    summary = page.locator(".summary").inner_text()
    mean = float(re.search(r"mean difference ([−\d.]+)", summary)[1].replace("−", "-"))  # type: ignore[index]
    assert mean == pytest.approx(sum(both) / len(both), abs=0.0011)
    wins = sum(d > 0 for d in both)
    assert f"system_1 is better in {wins}," in summary


def test_hostile_texts_are_shown_as_text(watch: Watch, hostile: Path) -> None:
    evil = watch(hostile)
    page = evil.open()
    assert SCRIPT in page.locator("h1").inner_text()
    for address in VIEWS.values():
        settled(evil.open(address.replace("system_2", "").replace("visit-3", "")))
    page = settled(evil.open("#texts"))
    page.locator("tbody tr th a").nth(1).click()
    page.locator(".line .said").nth(3).click()
    written = page.locator(".text .written").last.inner_text()
    for text in (
        SCRIPT,
        "\\u202eright-to-left\\u202c",
        "NUL ␀ bell ␇",
        "lone \ud800 surrogate",
    ):
        assert text in written
    assert "עברית" in written
    assert page.evaluate("window.broken") is None
    # What no code of the page does, no code can: text that becomes elements.
    with pytest.raises(Error, match="TrustedHTML"):
        page.evaluate("document.body.innerHTML = '<b>'")
    evil.complaints.clear()


def test_a_word_of_megabytes_opens(watch: Watch, tmp_path: Path) -> None:
    class Long(Invented):
        def _words(self, n: int) -> str:
            return (
                "a" * 2_500_000
                if n == 14 and self.random.random() < 0.1
                else super()._words(n)
            )

    index = Long(2, 2).write(tmp_path / "page")
    # no file could hold a document
    assert (index.parent / "page/data/documents/0/0.js").is_file()
    assert all(file.stat().st_size < 2_000_000 for file in index.parent.rglob("*.js"))
    page = settled(watch(index).open("#texts?doc=visit-1&text=system_1&show=0,1,2"))
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_what_changed_since_the_numbers_were_accepted_is_a_line_that_leads_to_its_report(
    watch: Watch, tmp_path: Path
) -> None:
    index = Invented(2, 2).write(tmp_path / "page")
    since = invented_since("system_1", "visit-2")
    put_since(index.parent, since)
    watched = watch(index)
    page = watched.open()
    page.locator(".data").get_by_role("link", name=since.title).click()
    facts = page.locator(".given")
    expect(facts).to_contain_text("2026-03-02 06:00 UTC")
    expect(facts).to_contain_text("0123456789+")
    for text in (*since.answer, *since.causes, *since.drift, *since.certificates):
        expect(page.locator("main")).to_contain_text(text.replace("`", ""))
    row = page.locator("tbody tr")
    expect(row).to_contain_text("regressed")
    expect(row).to_contain_text("p = .004")
    # A row per system, and what a picture says is spoken, too.
    expect(page.locator(".weeks svg")).to_have_count(2)
    spoken = page.locator(".weeks svg").first.get_attribute("aria-label")
    assert (
        spoken
        == "3 runs, from 0.600 on 2026-02-16 to 0.500 [0.400, 0.600] on 2026-03-02"
    )
    expect(page.locator(".weeks .worse")).to_have_count(1)
    report = page.get_by_role("link", name="The whole report of changes")
    assert report.get_attribute("href") == since.href
    row.get_by_role("link", name="visit-2").click()
    expect(page.locator("h1")).to_have_text("visit-2")
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        settled(watched.open("#since"))
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_without_a_comparison_the_view_since_says_what_to_type(tab: Watched) -> None:
    page = settled(tab.open())
    expect(page.locator(".data a", has_text="since accepted, of")).to_have_count(0)
    page.get_by_role("link", name="Since", exact=True).click()
    commands = page.locator("main code").all_inner_texts()
    assert commands == [
        "metassay watch accept invented",
        "metassay watch check invented",
    ]


def test_two_systems_stand_side_by_side_with_their_differences_marked(
    tab: Watched,
) -> None:
    page = settled(tab.open("#systems?a=system_1&b=system_3"))
    page.get_by_role("region", name="system_1 and system_3").locator(
        "tbody a"
    ).first.click()
    expect(page.get_by_label("mark differences")).to_be_checked()
    texts = page.locator("section.text")
    assert texts.count() == 2
    expect(texts.locator(".written .only").first).to_be_visible()
    lines = page.locator(".line")
    everything = lines.count()
    page.get_by_label("only differences below").check()
    expect(page.locator(".apart")).to_have_count(lines.count())
    assert 0 < lines.count() < everything
    page.get_by_label("mark differences").uncheck()
    expect(page.locator(".only, .apart")).to_have_count(0)
    assert lines.count() == everything


def test_ten_metrics_fit_a_screen_of_1280_pixels(watch: Watch, tmp_path: Path) -> None:
    class Ten(Invented):
        headline = tuple(f"a_metric_{n}" for n in range(10))

        def _leaderboard(self) -> pd.DataFrame:
            board = super()._leaderboard()
            board = board[board["metric"] == "rougeL_recall"].assign(n_missing=3)
            return pd.concat(board.assign(metric=metric) for metric in self.headline)

    index = Ten(2, 4).write(tmp_path / "page")
    watched = watch(index, viewport={"width": 1280, "height": 900})
    page = settled(watched.open("#systems"))
    board = page.get_by_role("region", name="Leaderboard")
    expect(board.locator("thead th")).to_have_count(11)
    assert board.evaluate("box => box.scrollWidth - box.clientWidth") <= 0
    # A bar is as long as its value on a scale from 0 to 1.
    cell = board.locator("tbody td").first
    width = cell.locator(".bar i").evaluate("bar => bar.style.width")
    assert float(width.rstrip("%")) == pytest.approx(
        100 * float(cell.locator("a").first.inner_text()), abs=0.6
    )


def test_markdown_of_a_text_is_shown_and_can_be_read_as_it_was_written(
    watch: Watch, tmp_path: Path
) -> None:
    class Marked(Invented):
        def _words(self, n: int) -> str:
            return f"**{super()._words(n)}**"

    index = Marked(2, 2).write(tmp_path / "page")
    page = settled(watch(index).open("#texts?doc=visit-1&text=system_1"))
    text = page.get_by_role("region", name="system_1").locator(".written")
    expect(text.locator(".strong").first).to_be_visible()
    assert "**" not in text.inner_text()
    page.get_by_label("texts as they were written").check()
    assert "**" in text.inner_text()


def test_a_missing_data_file_is_told(watch: Watch, tmp_path: Path) -> None:
    index = Invented(2, 2).write(tmp_path / "page")
    (tmp_path / "page/page/data/documents/0.js").unlink()
    watched = watch(index)
    page = watched.open("#texts")
    page.locator("tbody tr th a").first.click()
    expect(page.get_by_role("alert")).to_contain_text(
        "page/data/documents/0.js is missing"
    )
    watched.complaints.clear()  # the browser says so too


class Many(Invented):
    """1,000 documents by 16 systems, without claims: as many rows as speed/page.py has."""

    def _block(self, sentences: list[str], starts: list[int], skill: float) -> Block:
        return Block("claim_recall", "Is each claim in the source?", "claim", [], [])


def test_a_thousand_documents_by_sixteen_systems(watch: Watch, tmp_path: Path) -> None:
    index = Many(1000, 16).write(tmp_path / "page")
    assert all(file.stat().st_size < 2_000_000 for file in index.parent.rglob("*.js"))
    watched = watch(index)
    times = [seconds(watched.page, index.as_uri(), ".metrics .dot") for _ in range(3)]
    assert min(times) < 1
    assert read(index.parent, watched.requested) / len(times) < 1_000_000
    page = settled(watched.open("#texts"))
    assert min(searches(page)) < 100
    page.locator("#q").fill("fever knee")
    expect(page.locator(".summary")).to_contain_text("of 17,000 texts")
    page.locator(".scroll").evaluate("box => (box.scrollTop = box.scrollHeight)")
    expect(page.locator("tbody tr").last).to_contain_text("visit-1000")
    assert page.locator("tbody tr").count() < 60
    # Who comes back from a text finds the list as it was left.
    page.locator("tbody tr").last.locator("th a").click()
    expect(page.locator("h1")).to_have_text("visit-1000")
    page.go_back()
    expect(page.locator("tbody tr").last).to_contain_text("visit-1000")
