"""UniEval's two files: people's and its own scores, on invented files and the real ones."""

import json
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.core.params import load
from metassay.datasets.ingest import Tables, ingest
from metassay.datasets.scored_texts import SFRES, TOPICAL_CHAT
from metassay.scoring.catalogue import descriptions

ROOT = Path(__file__).parents[2]
SCALES = {"naturalness": Criterion(low=1, high=6, better="higher")}
FILES = {"topical_chat": TOPICAL_CHAT, "sfres": SFRES}


def turn(source: str, system: str, output: str, people: float, own: float) -> dict[str, Any]:
    return {
        "source": source,
        "system_id": system,
        "system_output": output,
        "context": f"a fact for {source[:2]}\n",
        "scores": {"naturalness": people},
        "predict_scores": {"naturalness": own},
    }


def turns() -> list[dict[str, Any]]:
    return [
        turn("hi .\n hello ! \n\n", "Argmax Decoding", "good day", 2, 0.25),
        turn("so ?\n", "Argmax Decoding", "well", 3, 0.5),
        turn("hi .\n hello ! \n\n", "New Human Generated", "nice", 1, 0.75),
    ]


def sentences() -> list[dict[str, Any]]:
    return [
        {
            "doc_id": number,
            "source": "inform(food=thai)",
            "reference": "It is Thai.",
            "system_output": f"Thai {number}.",
            "scores": {"naturalness": number + 1.5},
            "predict_scores": {"naturalness": number / 4},
        }
        for number in (0, 1)
    ]


def put(folder: Path, reader: str, value: object) -> Path:
    (folder / FILES[reader]).write_text(json.dumps(value), encoding="utf-8")
    return folder


def problem(reader: str, folder: Path) -> str:
    with pytest.raises(BadInput) as caught:
        ingest(reader, folder, SCALES)
    (found,) = caught.value.problems
    return found


def test_turns_of_one_dialogue_are_one_document(tmp_path: Path) -> None:
    found = ingest("topical_chat", put(tmp_path, "topical_chat", turns()), SCALES)
    first, second = found.sources.to_dict("records")
    assert first["passages"] == ["hi .", "hello !", "a fact for hi"]
    assert first["group"] == ["dialogue", "dialogue", "fact"]
    assert second["passages"] == ["so ?", "a fact for so"]
    key = ["doc_id", "author"]
    texts = found.texts.set_index(key)["text"]
    assert texts.to_dict() == {
        ("topical_chat_00", "argmax"): "good day",
        ("topical_chat_00", "human_new"): "nice",
        ("topical_chat_01", "argmax"): "well",
    }
    assert found.ratings.set_index(key)["value"]["topical_chat_01", "argmax"] == 3
    scores = found.measurements.set_index([*key, "metric"])["value"]
    assert scores["topical_chat_00", "human_new", "unieval_naturalness"] == 0.75


def test_every_sentence_is_its_own_document(tmp_path: Path) -> None:
    found = ingest("sfres", put(tmp_path, "sfres", sentences()), SCALES)
    assert found.sources["passages"].tolist() == [["inform(food=thai)"]] * 2
    texts = found.texts.set_index(["doc_id", "author"])["text"]
    assert texts["sfres_0001", "unnamed"] == "Thai 1."
    assert texts["sfres_0001", "reference"] == "It is Thai."
    assert found.ratings.set_index("doc_id")["value"].to_dict() == {
        "sfres_0000": 1.5,
        "sfres_0001": 2.5,
    }
    assert found.measurements["value"].tolist() == [0, 0.25]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("system_id", "Beam", "does not hold what was released (KeyError)"),
        ("scores", {"naturalness": "high"}, "does not hold what was released (ValueError)"),
        ("scores", {"naturalness": 7.0}, "record 3: 'naturalness' is outside its scale of 1 to 6"),
    ],
)
def test_faults_are_told_with_their_record(
    tmp_path: Path, name: str, value: object, expected: str
) -> None:
    found = turns()
    found[2][name] = value
    told = problem("topical_chat", put(tmp_path, "topical_chat", found))
    assert expected in told


def test_a_turn_or_sentence_that_is_there_twice(tmp_path: Path) -> None:
    for reader, one in (("topical_chat", turns()[0]), ("sfres", sentences()[0])):
        with pytest.raises(BadInput, match="is there twice"):
            ingest(reader, put(tmp_path, reader, [one, one]), SCALES)


@pytest.mark.parametrize("reader", FILES)
def test_files_that_hold_something_else(tmp_path: Path, reader: str) -> None:
    assert problem(reader, tmp_path).startswith(f"{FILES[reader]}: is not in")
    assert "is not a list of records" in problem(reader, put(tmp_path, reader, {}))


# As printed in the authors' repository, reproduce/README.md: Pearson, Spearman, Kendall.
PRINTED = {
    "topical_chat": {
        "naturalness": (0.443666, 0.513986, 0.373973),
        "coherence": (0.595143, 0.612942, 0.465915),
        "engagingness": (0.55651, 0.604739, 0.455941),
        "groundedness": (0.536209, 0.574954, 0.451533),
        "understandability": (0.380038, 0.467807, 0.360741),
        "overall": (0.632796, 0.662583, 0.487272),
    },
    "sfres": {
        "naturalness": (0.367252, 0.333399, 0.247094),
        "informativeness": (0.282079, 0.224918, 0.169297),
        "overall": (0.370815, 0.291593, 0.214708),
    },
}


@pytest.fixture(scope="module", params=FILES)
def real(mirror: Path, request: pytest.FixtureRequest) -> tuple[str, Tables]:
    criteria = load(ROOT).benchmarks[request.param].criteria
    return request.param, ingest(request.param, mirror / "unieval_dialogue_d2t", criteria)


def test_the_real_files_give_the_printed_correlations(real: tuple[str, Tables]) -> None:
    name, found = real
    counts = {"topical_chat": (60, 360, 2160), "sfres": (1181, 2362, 3543)}
    assert (len(found.sources), len(found.texts), len(found.ratings)) == counts[name]
    assert set(found.measurements["metric"]) <= set(descriptions())
    key = ["doc_id", "author"]
    people = found.ratings.pivot(index=key, columns="criterion", values="value")
    own = found.measurements.pivot(index=key, columns="metric", values="value").loc[people.index]
    for dimension, printed in PRINTED[name].items():
        both = people[dimension], own[f"unieval_{dimension}"]
        values = [float(f(*both).statistic) for f in (pearsonr, spearmanr, kendalltau)]
        assert values == pytest.approx(printed, abs=1e-6), dimension
