"""The site of docs/: it builds, without broken links, and asks nothing of other hosts."""

import re
import shutil
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.conftest import ROOT
from website.words import count_generated, count_read

SETTINGS = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]
EXCLUDED = tuple(line.lstrip("/") for line in SETTINGS["exclude_docs"].split())
EVERY = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
PAGES = {name for name in EVERY if not name.startswith(EXCLUDED)}


def build(project: Path) -> tuple[int, str]:
    """The exit code, and what was said, without colours."""
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(
        command, cwd=project, capture_output=True, text=True, check=False
    )
    return done.returncode, re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the site is made of, built."""
    pytest.importorskip("zensical")
    copied = tmp_path_factory.mktemp("site")
    shutil.copy(ROOT / "zensical.toml", copied)
    for folder in ("docs", "website"):
        shutil.copytree(ROOT / folder, copied / folder)
    code, output = build(copied)
    assert code == 0, output
    return copied


class Loaded(HTMLParser):
    """What a page loads by itself when it is opened, and where its links go."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.linked: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("src", "href", "data", "poster"):
                (self.linked if tag == "a" else self.loaded).append(value or "")
            if name == "style":
                self.loaded += URL.findall(value or "")


URL = re.compile(r"url\(['\"]?([^)'\"]*)")


def read(page: Path) -> Loaded:
    loaded = Loaded()
    loaded.feed(page.read_text("utf-8"))
    return loaded


def test_every_page_stands_in_the_navigation() -> None:
    named = [
        page for part in SETTINGS["nav"] for pages in part.values() for page in pages
    ]
    # A table's page is found by the search and by links of tables.md.
    others = [name for name in PAGES if not name.startswith("tables/")]
    assert sorted(named) == sorted(others), "zensical.toml > nav"


def test_the_site_can_be_read_in_an_afternoon() -> None:
    """A fact stands once; one that few need stands in the repository."""
    counts = count_read()
    assert sum(counts.values()) <= 40_000, counts
    assert set(counts) >= {"index.md", "metrics.md", "tutorials/ci.md"}
    assert all(words > 1000 for words in count_generated().values())


def test_pages_load_nothing_from_elsewhere_and_all_that_they_load_is_there(
    project: Path,
) -> None:
    site = project / "build/site"
    pages = sorted(site.rglob("*.html"))
    assert {str(page.relative_to(site)) for page in pages} >= {
        f"{name[:-3]}.html" for name in PAGES
    }
    for page in (path for path in pages if path.name != "404.html"):
        loaded = read(page).loaded
        assert len(loaded) > 3  # style, scripts, icon
        for address in loaded:
            parts = urlsplit(address)
            assert not parts.scheme or parts.scheme == "data", f"{page.name}: {address}"
            assert not parts.netloc, f"{page.name}: {address}"
            assert (page.parent / parts.path).exists(), f"{page.name}: {address}"
    styles = [URL.findall(style.read_text("utf-8")) for style in site.rglob("*.css")]
    foreign = [
        address
        for addresses in styles
        for address in addresses
        if urlsplit(address).netloc
    ]
    assert foreign == []


def test_links_lead_to_pages_that_are_there(project: Path) -> None:
    """Zensical checks those of Markdown; these are all."""
    for page in sorted((project / "build/site").rglob("*.html")):
        for address in read(page).linked if page.name != "404.html" else []:
            parts = urlsplit(address)
            if not parts.scheme and parts.path:
                assert (page.parent / parts.path).exists(), f"{page.name}: {address}"


def test_what_is_excluded_is_there_and_in_no_page(project: Path) -> None:
    assert all((ROOT / "docs" / name).exists() for name in EXCLUDED)
    site = project / "build/site"
    built = {str(page.relative_to(site)) for page in site.rglob("*.html")}
    assert not [name for name in built if name.startswith(("decisions/", "map."))]


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("[gone](gone.md)", "page does not exist"),
        ("[gone](index.md#no-such-heading)", "anchor does not exist"),
    ],
)
def test_a_broken_link_or_anchor_ends_the_build(
    project: Path, link: str, message: str
) -> None:
    page = project / "docs/language-models.md"
    whole = page.read_text("utf-8")
    page.write_text(f"{whole}\n{link}\n", "utf-8")
    code, output = build(project)
    page.write_text(whole, "utf-8")
    assert code != 0
    assert message in output
