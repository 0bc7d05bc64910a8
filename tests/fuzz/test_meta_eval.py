"""The two files of `metassay meta-eval`: a result, or plain lines and exit 2."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from metassay.cli.main import main
from tests.fuzz.mutations import ACCIDENTS, ODD_TEXTS, damaged
from tests.fuzz.rule import check_line, fuzz, handled

RATERS = ("ann", "bob")
TEXTS = [(d, i, system) for d in range(5) for i, system in enumerate("abc")]
SCORES = [f"d{d},{s},{(d * 7 + i * 3) % 5}.5,{10 + d + i}\n" for d, i, s in TEXTS]
RATINGS = [
    f"d{d},{s},{rater},{1 + (d * 7 + i * 3 + j) % 5}\n"
    for d, i, s in TEXTS
    for j, rater in enumerate(RATERS)
]
SOUND = {
    "scores.csv": "".join(["doc_id,system,good,words\n", *SCORES]).encode(),
    "ratings.csv": "".join(["doc_id,system,rater,grade\n", *RATINGS]).encode(),
}
QUICK = ["--resamples", "20", "--permutations", "20"]
Check = Callable[..., None]


@pytest.fixture(autouse=True, scope="module")
def _no_page() -> Iterator[None]:
    """The page takes longer than all the rest, and gets the same tables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "metassay.reporting.meta_page.write_meta_page", lambda *_, **__: None
        )
        yield


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str]) -> Check:
    def run(name: str, content: bytes, files: Iterable[str] = SOUND) -> None:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            for other, sound in (SOUND | {name: content}).items():
                (folder / other).write_bytes(sound)
            out = folder / "out"
            paths = [str(folder / other) for other in files]
            code = handled(
                lambda: main(["meta-eval", *paths, *QUICK, "--out", str(out)])
            ).value
            lines = capsys.readouterr().err.splitlines()
            assert (folder / name).read_bytes() == content
            if code == 0:
                assert list(out.glob("*.csv"))
                return
            assert code == 2
            assert not out.exists(), "half written"
            assert lines
            for line in lines:
                check_line(line.replace(temporary, ""))

    return run


@pytest.mark.parametrize("name", SOUND)
def test_bytes_and_cells(name: str, check: Check) -> None:
    def change(line: int, column: int, value: int) -> None:
        rows = [row.split(b",") for row in SOUND[name].splitlines()]
        rows[line][column] = ODD_TEXTS[value].encode("utf-8", "surrogatepass")
        check(name, b"\n".join(b",".join(row) for row in rows))

    def damage(accidents: Any) -> None:
        check(name, damaged(SOUND[name], accidents))

    fuzz(damage, ACCIDENTS, few=True)
    texts = st.integers(0, len(ODD_TEXTS) - 1)
    fuzz(change, st.integers(0, 15), st.integers(0, 3), texts, few=True)


def test_ratings_alone(check: Check) -> None:
    def damage(accidents: Any) -> None:
        check("ratings.csv", damaged(SOUND["ratings.csv"], accidents), ["ratings.csv"])

    fuzz(damage, ACCIDENTS, few=True)
