"""The two files of `metassay meta-eval`: a result, or plain lines and exit 2."""

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.cli.main import main
from tests.fuzz.mutations import ACCIDENTS, ODD_TEXTS, damaged
from tests.fuzz.rule import FEW, check_line, handled

SCORES = b"doc_id,system,good,words\n" + b"".join(
    b"d%d,%s,%d.5,%d\n" % (d, s, (d * 7 + i * 3) % 5, 10 + d + i)
    for d in range(5)
    for i, s in enumerate((b"a", b"b", b"c"))
)
RATINGS = b"doc_id,system,rater,grade\n" + b"".join(
    b"d%d,%s,%s,%d\n" % (d, s, rater, 1 + (d * 7 + i * 3 + j) % 5)
    for d in range(5)
    for i, s in enumerate((b"a", b"b", b"c"))
    for j, rater in enumerate((b"ann", b"bob"))
)
SOUND = {"scores.csv": SCORES, "ratings.csv": RATINGS}
QUICK = ["--resamples", "20", "--permutations", "20"]


@pytest.fixture(autouse=True, scope="module")
def _no_page() -> Iterator[None]:
    """The page takes longer than all the rest, and gets the same tables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("metassay.reporting.meta_page.write_meta_page", lambda *_, **__: None)
        yield


def check(
    name: str, content: bytes, capsys: pytest.CaptureFixture[str], files: Iterable[str] = SOUND
) -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for other, sound in SOUND.items():
            (folder / other).write_bytes(content if other == name else sound)
        out = folder / "out"
        given = [str(folder / other) for other in files]
        code = handled(lambda: main(["meta-eval", *given, *QUICK, "--out", str(out)])).value
        said = capsys.readouterr()
        assert (folder / name).read_bytes() == content
        if code == 0:
            assert list(out.glob("*.csv"))
            return
        assert code == 2
        assert not out.exists(), "half written"
        lines = said.err.splitlines()
        assert lines
        for line in lines:
            check_line(line.replace(made, ""))


@pytest.mark.parametrize("name", SOUND)
def test_bytes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    @FEW
    @given(ACCIDENTS)
    def run(accidents: Any) -> None:
        content = damaged(SOUND[name], accidents)
        check(name, content, capsys)

    run()


@pytest.mark.parametrize("name", SOUND)
def test_cells(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    @FEW
    @given(st.integers(0, 15), st.integers(0, 3), st.integers(0, len(ODD_TEXTS) - 1))
    def run(line: int, column: int, value: int) -> None:
        rows = [row.split(b",") for row in SOUND[name].splitlines()]
        rows[line][column] = ODD_TEXTS[value].encode("utf-8", "surrogatepass")
        check(name, b"\n".join(b",".join(row) for row in rows), capsys)

    run()


def test_ratings_alone(capsys: pytest.CaptureFixture[str]) -> None:
    @FEW
    @given(ACCIDENTS)
    def run(accidents: Any) -> None:
        check("ratings.csv", damaged(RATINGS, accidents), capsys, ["ratings.csv"])

    run()
