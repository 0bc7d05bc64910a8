"""A page in one file, opened in a real browser far from its folder."""

import base64
import gzip
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from metassay.core.errors import BadInput
from metassay.reporting.shell import put_since
from metassay.reporting.single_file import single_file
from tests.page.conftest import Watched
from tests.page.invented import Invented, invented_since

Watch = Callable[..., Watched]
BLOCK = re.compile(r'<script type="text/plain" data-id="([^"]*)">([^<]*)</script>')


def read_blocks(page: bytes) -> dict[str, str]:
    """What lies in the file, by name."""
    return {
        name: gzip.decompress(base64.b64decode(block)).decode()
        for name, block in BLOCK.findall(page.decode())
    }


def test_one_file_has_every_view_and_asks_for_nothing(
    watch: Watch, invented: Path, tmp_path: Path
) -> None:
    file = tmp_path / "sent.html"
    file.write_bytes(single_file(invented.parent, texts=True))
    watched = watch(file)
    page = watched.open()
    for view in ("Systems", "Claims", "Texts", "Evidence"):
        page.get_by_role("link", name=view, exact=True).click()
        expect(page.locator(".wait")).to_have_count(0)
        expect(page.locator("tbody tr").first).to_be_visible()
    # Files that lie beside the page were not sent.
    expect(page.locator("a", has_text="CSV")).to_have_count(0)
    page = watched.open("#texts?doc=visit-3&text=system_2")
    expect(page.locator("mark.fails").first).to_be_visible()
    assert {url.split("#")[0] for url in watched.requested} == {file.as_uri()}


def test_without_texts_no_text_lies_in_the_file(
    watch: Watch, invented: Path, tmp_path: Path
) -> None:
    whole = read_blocks(single_file(invented.parent, texts=True))
    written = re.findall(r'"text":"([^"]{30,})"', whole["documents/0"])
    sent = single_file(invented.parent, texts=False)
    sent_blocks = read_blocks(sent)
    assert sent_blocks.keys() < whole.keys()
    assert {name.split("/")[0] for name in whole.keys() - sent_blocks.keys()} == {
        "documents",
        "search",
        "claims",
        "tables",
    }
    assert len(written) > 100
    everything = "".join(sent_blocks.values())
    assert not [text for text in written if text in everything]
    file = tmp_path / "sent.html"
    file.write_bytes(sent)
    page = watch(file).open()
    views = page.get_by_role("navigation", name="Views").get_by_role("link")
    assert views.all_inner_texts() == ["Answer", "Systems", "Since", "Evidence"]


def test_what_changed_is_sent_without_a_link_to_the_report_beside_the_page(
    watch: Watch, tmp_path: Path
) -> None:
    index = Invented(2, 2).write(tmp_path / "page")
    put_since(index.parent, invented_since("system_1", "visit-2"))
    file = tmp_path / "sent.html"
    file.write_bytes(single_file(index.parent, texts=False))
    page = watch(file).open("#since")
    expect(page.locator("tbody tr")).to_contain_text("regressed")
    expect(page.locator(".weeks svg")).to_have_count(2)
    expect(page.locator("main a")).to_have_count(0)


def test_a_page_of_another_version_is_refused(invented: Path, tmp_path: Path) -> None:
    data = tmp_path / "page/data"
    data.mkdir(parents=True)
    (data / "head.js").write_text('metassay("head",{"contract":1})\n', "utf-8")
    with pytest.raises(BadInput, match="metassay run writes it again"):
        single_file(tmp_path, texts=True)


def test_equal_folders_make_equal_files(invented: Path) -> None:
    first = single_file(invented.parent, texts=True)
    assert first == single_file(invented.parent, texts=True)
