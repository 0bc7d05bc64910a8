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
from tests.reporting import invented_meta

ROOT = Path(__file__).parents[2]


def _bytes(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def test_files(written):
    tables = ["leaderboard", "correlations", *invented_meta.rows(), "answers"]
    tables += ["published_doclens_table20", "profile", "rating_violins", "ranks"]
    tables += ["conflict_shares", "system_groups"]
    figures = ("leaderboard", "forest", "violins")
    expected = ["index.html"]
    expected += [f"{table}.{kind}" for table in tables for kind in ("csv", "md")]
    expected += [f"figures/{figure}.{kind}" for figure in figures for kind in ("svg", "png")]
    shown = {*tables, "index"} - {"published_doclens_table20"}  # of which nothing is ours
    shards = [f"tables/{table}" for table in shown]
    shards = [f"page/data/{name}/0.js" for name in shards]
    shards += [f"page/data/{name}.js" for name in ("head", "since", "documents/0", "search/0")]
    assert sorted(_bytes(written)) == sorted([*expected, *shards, "page/app.js", "page/app.css"])


def test_same_bytes_elsewhere_with_other_hashes_and_settings(make_report, written, tmp_path):
    """Another process, folder, hash seed, locale and matplotlibrc change nothing."""
    report = make_report(published=["doclens_table20"])
    saved = tmp_path / "report.pickle"
    saved.write_bytes(pickle.dumps(report))
    (tmp_path / "matplotlibrc").write_text("font.size: 20\nsvg.fonttype: path\naxes.grid: True\n")
    code = (
        "import pickle; from pathlib import Path;"
        "from metassay.reporting.report import write_report;"
        "write_report(pickle.loads(Path('report.pickle').read_bytes()), Path('there'))"
    )
    settings = {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7", "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, **settings, "MATPLOTLIBRC": str(tmp_path / "matplotlibrc")},
        check=True,
    )
    assert _bytes(written) == _bytes(tmp_path / "there")


def test_row_order_of_the_input_changes_nothing_on_the_page(make_report, frames, written, tmp_path):
    shuffled = {name: frame.sample(frac=1, random_state=3) for name, frame in frames.items()}
    report = make_report(**shuffled, published=["doclens_table20"])
    write_report(report, tmp_path / "out")
    left, right = _bytes(written), _bytes(tmp_path / "out")
    made = (".csv", ".md", "ranks/0.js")  # in the order of what they are made of
    names = [name for name in left if not name.endswith(made)]
    assert [name for name in names if left[name] != right[name]] == []


def test_bytes_carry_no_path_and_no_time(written):
    for name, content in _bytes(written).items():
        assert str(written.parent).encode() not in content, name
        assert str(ROOT).encode() not in content, name
        assert b"tEXt" not in content, name
        assert b"dc:date" not in content, name


def test_global_matplotlib_state_is_left_alone(make_report, tmp_path):
    before = dict(matplotlib.rcParams)
    write_report(make_report(), tmp_path / "out")
    assert dict(matplotlib.rcParams) == before
    assert pyplot.get_fignums() == []


@pytest.mark.usefixtures("no_figures")
def test_empty_folder_is_filled_but_a_full_one_is_refused_and_kept(make_report, tmp_path):
    (tmp_path / "empty").mkdir()
    write_report(make_report(), tmp_path / "empty")
    assert (tmp_path / "empty" / "index.html").exists()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(BadInput, match="holds something already"):
        write_report(make_report(), tmp_path / "full")
    assert _bytes(tmp_path / "full") == {"mine.txt": b"mine"}


@pytest.mark.usefixtures("no_figures")
def test_what_a_killed_run_left_does_not_matter(make_report, tmp_path):
    (tmp_path / ".out.x.unfinished").mkdir()
    (tmp_path / ".out.x.unfinished" / "index.html").write_text("half")
    (tmp_path / ".out.x.unfinished" / "stale.csv").write_text("half")
    write_report(make_report(), tmp_path / "out")
    assert (tmp_path / "out" / "index.html").exists()
    assert not (tmp_path / "out" / "stale.csv").exists()


@pytest.mark.usefixtures("no_figures")
def test_nothing_is_left_when_writing_fails(make_report, frames, tmp_path):
    broken = frames["sources"].assign(speaker=[["one", "too", "many"]] * 2)
    with pytest.raises(BadInput, match=r"sources: 2 document\(s\) have not a speaker and a group"):
        write_report(make_report(sources=broken), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_csv_reads_back_to_the_tables(frames, written):
    for name in ("leaderboard", "correlations", *invented_meta.rows()):
        again = pd.read_csv(written / f"{name}.csv")
        there = frames[name].replace("", None)  # no text and none look alike in a file
        pd.testing.assert_frame_equal(again, there, check_dtype=False)
