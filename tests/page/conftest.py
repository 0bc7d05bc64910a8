"""A real browser, and invented pages that it opens from the disk."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from tests.page.invented import Invented


@pytest.fixture(scope="session")
def chromium() -> str:
    """Where the browser is, or a skip that says how to get one; in CI a failure."""
    names = ("chromium", "chromium-browser", "google-chrome")
    program = os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, names)), None
    )
    if program:
        return program
    remedy = (
        "needs a browser: apt-get install chromium, or set CHROMIUM to the path of one"
    )
    if os.environ.get("CI", "").lower() in ("true", "1"):
        pytest.fail(remedy)
    pytest.skip(remedy)


@pytest.fixture(scope="module")
def driver() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="module")
def browser(chromium: str, driver: Playwright) -> Iterator[Browser]:
    # as root Chromium starts only without
    sandbox = os.name != "posix" or os.geteuid() != 0
    running = driver.chromium.launch(executable_path=chromium, chromium_sandbox=sandbox)
    yield running
    running.close()


class Watched:
    """A tab, with everything that it asked for and complained of."""

    def __init__(self, browser: Browser, index: Path, **context: Any) -> None:
        self.index = index
        self.context = browser.new_context(**context)
        self.page: Page = self.context.new_page()
        self.requested: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requested.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))

    def open(self, address: str = "") -> Page:
        """Open an address of the page, as one that was sent: in a document of its own."""
        self.page.goto("about:blank")
        self.page.goto(self.index.as_uri() + address)
        self.page.locator("main h1").first.wait_for()
        return self.page

    def close(self) -> None:
        self.context.close()
        assert not self.complaints


@pytest.fixture(scope="session")
def invented(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Invented().write(tmp_path_factory.mktemp("invented") / "page")


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Invented(hostile=True).write(tmp_path_factory.mktemp("hostile") / "page")


@pytest.fixture
def watch(browser: Browser) -> Iterator[Callable[..., Watched]]:
    """What opens a page in a tab of its own; at the end no tab has a complaint."""
    tabs: list[Watched] = []

    def open_tab(index: Path, **context: Any) -> Watched:
        tabs.append(Watched(browser, index, **context))
        return tabs[-1]

    yield open_tab
    for watched in tabs:
        watched.close()


@pytest.fixture
def tab(watch: Callable[..., Watched], invented: Path) -> Watched:
    return watch(invented)
