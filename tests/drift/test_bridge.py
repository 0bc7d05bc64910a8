"""From one judge to another: numbers by hand, and the commands."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from metassay.cli import sentinel
from metassay.cli.main import main
from metassay.drift.bridge import bridge
from metassay.drift.fixing import fix
from metassay.errors import BadInput
from metassay.parquet import read, write
from metassay.tables.pairs import PAIRS
from metassay.tables.sentinel import BRIDGES
from tests.drift.project import CLAIMS, TABLES, project, script, truth
from tests.llm.scripted_server import Answer, Call, ScriptedServer, whole

GONE = {"error": {"message": "The model `m-1` does not exist", "code": "model_not_found"}}


def follower(hypothesis: str, number: int) -> str:
    """More lenient with green, as to claims that do not hold in documents of an even number."""
    document = int(hypothesis.split()[1])
    lenient = hypothesis.endswith("green") and document % 2 == 0
    return "entailed" if lenient else truth(hypothesis, number)


def only_new(call: Call) -> Answer:
    """A server with the follower's model, and without the reader's."""
    if call.body["model"] == "n-2":
        return script(follower)(call)
    return whole(GONE, status="404 Not Found")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("bridge") / "project"
    root.mkdir()
    with ScriptedServer(script(truth)) as server, contextlib.chdir(root):
        project(root, server, documents=24)
        fix("one", "reader", anchors=80)
        server.script = only_new
        yield root


@pytest.fixture
def here(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = Path(shutil.copytree(template, tmp_path / "project"))
    monkeypatch.chdir(root)
    return root


def test_shifts_stand_for_all_items_and_not_for_the_draw(here: Path) -> None:
    made = bridge("one", "reader", "follower")
    pairs = read(PAIRS, TABLES / "pairs/all.parquet")
    texts = pairs["hypothesis"].astype(str)
    mean = (
        pd.DataFrame(
            {
                "author": pairs["author"],
                "before": texts.map(truth) == "entailed",
                "after": texts.map(lambda text: follower(text, 0)) == "entailed",
            }
        )
        .groupby("author")[["before", "after"]]
        .mean()
    )
    rows = made.shifts.set_index("author")
    # Half of what is drawn does not hold; of all claims a third.
    assert rows["before"].to_dict() == pytest.approx(mean["before"].to_dict())
    assert rows.loc["blue", "difference"] == 0
    assert rows.loc["green", "low"] < mean.loc["green", "after"] - mean.loc["green", "before"]
    assert mean.loc["green", "after"] - mean.loc["green", "before"] < rows.loc["green", "high"]
    assert rows.loc["green", "low"] > 0
    assert rows["items"].sum() == 80
    assert (rows["covered"] == 1).all()
    changed = made.found.changed.total
    assert made.labels["entailed"] == (40, changed)
    assert made.labels["not_entailed"] == (40, -changed)
    assert made.agreeing.share == pytest.approx(1 - changed / 80)
    assert made.agreeing.kappa == pytest.approx(1 - changed / 40)  # half of each verdict
    assert [one.share for one in made.own] == [1, 1, 1]


def test_an_edited_text_is_in_no_shift(here: Path) -> None:
    pairs = read(PAIRS, TABLES / "pairs/all.parquet")
    edited = pairs["doc_id"] == "d01"
    pairs["pair_id"] = pairs["pair_id"].mask(edited, pairs["pair_id"].str[::-1])
    before = bridge("one", "reader", "follower")
    write(PAIRS, pairs, TABLES / "pairs/all.parquet")
    after = bridge("one", "reader", "follower")
    assert before.left_out == 0 < after.left_out <= 2 * CLAIMS
    assert after.shifts["items"].sum() == 80 - after.left_out
    assert after.found == before.found
    assert after.spent.calls == 0  # what the ledger has is not asked again


def test_the_same_judge_is_no_bridge(here: Path) -> None:
    with pytest.raises(BadInput, match=r"asks as 'reader' did.*nothing to bridge"):
        bridge("one", "reader", "reader")
    with pytest.raises(BadInput, match=r"judge 'follower' has no anchors.*that have some: reader"):
        bridge("one", "follower", "reader")


def test_commands_print_what_they_found_and_end_with_its_code(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["sentinel", "check", "one"]) == sentinel.ALARM  # its model is gone
    assert "says that it has no model 'm-1' any more" in capsys.readouterr().out
    assert main(["sentinel", "bridge", "one", "reader", "follower"]) == 0
    out = capsys.readouterr().out
    assert "reader with its own, on average of its repetitions: 100.0 %" in out
    page = Path("reports/bridges/one/reader-follower.md")
    assert str(page) in out
    assert "| green | claim_recall |" in page.read_text(encoding="utf-8")
    assert len(read(BRIDGES, page.with_suffix(".parquet"))) == 2
    assert main(["sentinel", "fix", "one", "--judge", "lexical"]) == 2
    assert "needs no sentinel" in capsys.readouterr().err
