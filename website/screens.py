"""The figures of README and docs, drawn from reports: python -m website.screens

Run it after a change of the page, of the sample or of mts_dialog, and commit what it
draws. It opens the sample's report in Chromium (CHROMIUM names another browser) and
copies the forest plot of mts_dialog; `metassay run sample mts_dialog` makes both.
docs/figures/power.png is drawn by `python -m tests.calibration.page`.
"""

import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parent.parent
FIGURES = ROOT / "docs/figures"
SAMPLE = ROOT / "reports/sample/index.html"
FOREST = ROOT / "reports/mts_dialog/figures/forest.png"
SIZE = {"width": 1280, "height": 760}


def main() -> None:
    """Draw every figure of docs/figures that shows a report."""
    for benchmark, file in (("sample", SAMPLE), ("mts_dialog", FOREST)):
        if not file.exists():
            sys.exit(f"{file} does not exist; run: metassay run {benchmark}")
    shutil.copyfile(FOREST, FIGURES / "mts_dialog_forest.png")
    browser_file = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=browser_file, chromium_sandbox=os.geteuid() != 0
        )
        context = browser.new_context(viewport=SIZE, color_scheme="light")
        page = context.new_page()
        draw_answer(page)
        draw_claim(page)
        browser.close()


def draw_answer(page: Page) -> None:
    """Draw the first screen."""
    page.goto(SAMPLE.as_uri())
    page.locator(".metrics .dot").first.wait_for()
    page.screenshot(path=FIGURES / "page_answer.png")


def draw_claim(page: Page) -> None:
    """Draw the first claim that is missing in a text, opened in its document."""
    page.goto(f"{SAMPLE.as_uri()}#claims?measure=claim_recall")
    page.locator("tbody th a").first.click()
    page.locator(".line.open").first.wait_for()
    page.screenshot(path=FIGURES / "page_claim.png")


if __name__ == "__main__":
    main()
