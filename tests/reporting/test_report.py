"""The folder of a report: which files, the same bytes anywhere, whole or not at all."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import matplotlib
import pandas as pd
import pytest
from matplotlib import pyplot

from metassay.core.errors import BadInput
from metassay.reporting.report import write_report
from metassay.reporting.shell import encode
from metassay.reporting.single_file import single_file
from tests.page.test_single_file import read_blocks
from tests.reporting.invented_report import meta_rows

ROOT = Path(__file__).parents[2]
_AGAIN = """
import pickle
from pathlib import Path
from metassay.reporting.report import write_report
write_report(pickle.loads(Path('report.pickle').read_bytes()), Path('there'))
"""


def files_in(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_files(written):
    tables = ["leaderboard", *meta_rows(), "answers"]
    tables += ["published_doclens_table20", "profile", "rating_violins", "ranks"]
    tables += ["conflict_shares", "system_groups"]
    figures = ("leaderboard", "forest", "violins")
    expected = {"index.html", "page/app.js", "page/app.css"}
    expected |= {f"{table}.csv" for table in tables}
    expected |= {
        f"figures/{figure}.{kind}" for figure in figures for kind in ("svg", "png")
    }
    # of which nothing is ours
    shown = {*tables, "index"} - {"published_doclens_table20"}
    expected |= {f"page/data/tables/{table}/0.js" for table in shown}
    expected |= {
        f"page/data/{name}.js"
        for name in ("head", "since", "documents/0", "search/0", "claims/0")
    }
    assert set(files_in(written)) == expected


def test_one_file_without_texts_has_no_source_text_or_claim(frames, written):
    """Every text of the benchmark's tables, of 12 characters or more."""
    known = {
        text.strip()
        for table, column in (
            ("texts", "text"),
            ("parts", "text"),
            ("units", "text"),
            ("judgments", "explanation"),
        )
        for text in frames[table][column].dropna()
    }
    known |= {text for passages in frames["sources"]["passages"] for text in passages}
    # as JSON has them
    encoded = {encode(text).decode()[1:-1] for text in known if len(text) >= 12}
    whole = "".join(read_blocks(single_file(written, texts=True)).values())
    assert len([text for text in encoded if text in whole]) > 10
    sent = "".join(read_blocks(single_file(written, texts=False)).values())
    assert [text for text in encoded if text in sent] == []


def test_same_bytes_elsewhere_with_other_hashes_and_settings(
    make_report, written, tmp_path
):
    """Another process, folder, hash seed, locale and matplotlibrc change nothing."""
    report = make_report(published=["doclens_table20"])
    (tmp_path / "report.pickle").write_bytes(pickle.dumps(report))
    (tmp_path / "matplotlibrc").write_text(
        "font.size: 20\nsvg.fonttype: path\naxes.grid: True\n"
    )
    settings = {
        "PYTHONPATH": str(ROOT),
        "PYTHONHASHSEED": "7",
        "LC_ALL": "C",
        "TZ": "Asia/Tokyo",
    }
    settings["MATPLOTLIBRC"] = str(tmp_path / "matplotlibrc")
    command = [sys.executable, "-c", _AGAIN]
    subprocess.run(command, cwd=tmp_path, env={**os.environ, **settings}, check=True)
    assert files_in(written) == files_in(tmp_path / "there")
    for name, content in files_in(written).items():
        # no path, no time
        for word in (str(written.parent), str(ROOT), "tEXt", "dc:date"):
            assert word.encode() not in content, name


def test_row_order_of_the_input_changes_nothing_on_the_page(
    make_report, frames, written, tmp_path
):
    shuffled = {
        name: frame.sample(frac=1, random_state=3) for name, frame in frames.items()
    }
    before = dict(matplotlib.rcParams)
    write_report(
        make_report(**shuffled, published=["doclens_table20"]), tmp_path / "out"
    )
    assert dict(matplotlib.rcParams) == before  # no state outlives a drawing
    assert pyplot.get_fignums() == []
    left, right = files_in(written), files_in(tmp_path / "out")
    in_order_of_input = (".csv", "ranks/0.js")
    names = [name for name in left if not name.endswith(in_order_of_input)]
    assert [name for name in names if left[name] != right[name]] == []


@pytest.mark.usefixtures("no_figures")
def test_a_report_is_whole_or_not_there(make_report, frames, tmp_path):
    """An empty folder and what a killed run left do not matter; a full one stays as it is."""
    (tmp_path / "out").mkdir()
    (tmp_path / ".out.x.unfinished").mkdir()
    (tmp_path / ".out.x.unfinished" / "stale.csv").write_text("half")
    write_report(make_report(), tmp_path / "out")
    assert (tmp_path / "out" / "index.html").exists()
    assert not (tmp_path / "out" / "stale.csv").exists()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(BadInput, match="holds something already"):
        write_report(make_report(), tmp_path / "full")
    assert files_in(tmp_path / "full") == {"mine.txt": b"mine"}
    before = set(tmp_path.iterdir())
    broken = frames["sources"].assign(speaker=[["one", "too", "many"]] * 2)
    with pytest.raises(
        BadInput, match=r"sources: 2 document\(s\) have not a speaker and a group"
    ):
        write_report(make_report(sources=broken), tmp_path / "broken")
    assert set(tmp_path.iterdir()) == before


def test_csv_reads_back_to_the_tables(frames, written):
    for name in ("leaderboard", *meta_rows()):
        again = pd.read_csv(written / f"{name}.csv")
        there = frames[name].replace("", None)  # no text and none look alike in a file
        pd.testing.assert_frame_equal(again, there, check_dtype=False)
