"""A page of 1,000 documents x 16 systems x 6 metrics x 2 judges: to write it, and to use it.

`python speed/page.py` writes an invented page and prints the seconds and the memory
that it took, then opens it in Chromium (CHROMIUM names another): bytes and time of the
first view, of the list of all texts and of a document, and the time of searches, from
the key to the picture.
"""

import os
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.page.invented import Invented

DOCUMENTS, SYSTEMS, ROUNDS = 1000, 16, 5
QUERIES = (
    "fever",
    "fever knee",
    '"left knee"',
    "effusion swelling imaging",
    "visit",
    "absent words",
)
QUICK = {"DOCUMENTS": 10, "SYSTEMS": 4, "ROUNDS": 1}
# From the event to the first frame after it.
SEARCH = """async (query) => {
  const box = document.getElementById("q");
  box.value = query;
  const start = performance.now();
  box.dispatchEvent(new Event("input", { bubbles: true }));
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - start;
}"""


def read(folder: Path, urls: Sequence[str]) -> int:
    """Bytes of the files of a page that were asked for."""
    start = folder.as_uri() + "/"
    names = [
        url.removeprefix(start).split("#")[0] for url in urls if url.startswith(start)
    ]
    return sum((folder / name).stat().st_size for name in names)


@contextmanager
def chromium() -> Iterator[Page]:
    """A tab of a browser that runs without a window."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=path, chromium_sandbox=os.geteuid() != 0
        )
        yield browser.new_page()
        browser.close()


def seconds(page: Page, url: str, ready: str) -> float:
    """From the call to what is looked for, in a document of its own."""
    page.goto("about:blank")
    start = time.perf_counter()
    page.goto(url)
    page.locator(ready).first.wait_for()
    return time.perf_counter() - start


def searches(page: Page) -> list[float]:
    """Milliseconds of each query, the texts being loaded."""
    page.evaluate(SEARCH, "first")
    page.locator(".summary", has_text="of").wait_for()
    return [page.evaluate(SEARCH, query) for query in QUERIES for _ in range(ROUNDS)]


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "page"
        start = time.perf_counter()
        index = Invented(DOCUMENTS, SYSTEMS).write(folder)
        built = time.perf_counter() - start
        files = [file.stat().st_size for file in folder.rglob("*.js")]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"written in {built:.1f} s, {peak:.0f} MB at most")
        total, largest = sum(files) / 1e6, max(files) / 1e6
        print(f"{total:.0f} MB in {len(files)} files, the largest {largest:.2f} MB")
        with chromium() as page:
            asked: list[str] = []
            page.on("request", lambda request: asked.append(request.url))
            for name, address, ready in (
                ("first view", "", ".metrics .dot"),
                ("all texts", "#texts", "tbody th a"),
                (
                    "a document",
                    f"#texts?doc=visit-{DOCUMENTS // 2}&text=system_3",
                    ".line",
                ),
            ):
                times = []
                for _ in range(ROUNDS):
                    asked.clear()
                    times.append(seconds(page, index.as_uri() + address, ready))
                size = read(folder, asked) / 1e3
                print(
                    f"{name}: {1000 * statistics.median(times):.0f} ms, {size:.0f} kB read"
                )
            seconds(page, index.as_uri() + "#texts", "tbody th a")
            times = sorted(searches(page))
            print(
                f"search: {statistics.median(times):.0f} ms, {times[-1]:.0f} ms at most"
            )


if __name__ == "__main__":
    if "--quick" in sys.argv:
        globals().update(QUICK)
    main()
