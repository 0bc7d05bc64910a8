"""A tiny project of two benchmarks and a test of each sort, with every form of stage."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import yaml

from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import AttackTest, load
from metassay.text.headings import SECTIONS, divide
from metassay.units.released_claims import FILE as CLAIMS
from tests.llm.scripted_server import Answer, Call, answer_with
from tests.stage_setup import CHAT, KEY, ROOT, refresh_code

NOTES = ("note_01", "note_02", "note_03")
RAW = {
    "notes": ("sources.jsonl", "texts.jsonl", "ratings.csv"),
    "ward/dev": ("sources.jsonl", "texts.jsonl"),
}
CRITERION = "usefulness"
COMMIT = "0" * 40
FIRST = {
    "name": "one",
    "dataset": "notes",
    "raw": "data/raw/notes",
    "criteria": {CRITERION: {"low": 0, "high": 100, "better": "higher"}},
    "studies": {"pilot": "studies/one/pilot/ratings.csv"},
    "systems": ["lead"],
    "few_shot": {"writer": "data/raw/ward"},
    "segmentation": "soap",
    "decompositions": ["apart"],
    "released_claims": {},
    "questions": ["all"],
    "rubrics": ["vanilla"],
    "judges": ["lexical"],
    "metrics": ["lengths"],
    "costly_metrics": ["edit_distance"],
    "statement_metrics": ["overlap"],
}
SECOND = FIRST | {
    "name": "two",
    "studies": {},
    "rubrics": [],
    "systems": ["lead", "longest_turn"],
    "few_shot": {},
    "decompositions": [],
    "released_claims": {"doclens_claims": "data/raw/doclens_aci_claims"},
    "costly_metrics": [],
    "statement_metrics": [],
    "tuned_metrics": {"overlap": "data/raw/ward"},
    "tuned_costly_metrics": {"edit_distance": "data/raw/ward"},
}

JUDGE_TEST = {
    "name": "three",
    "test": "nli",
    "dataset": "items",
    "raw": "data/raw/items",
    "options": {"ways": 2, "subsets": [], "sample": None},
    "judges": ["lexical"],
    "published": [],
    "seen": {"lexical": "unseen"},
}
ATTACK_TEST = JUDGE_TEST | {
    "name": "five",
    "test": "attacks",
    "dataset": "notes",
    "raw": "data/raw/notes",
    "options": {
        "claims": 4,
        "seed": 1,
        "attacked": "hypothesis",
        "kinds": ["denial", "source_appended"],
        "margin": 0.1,
    },
}
SEGMENT_TEST = {
    "name": "four",
    "test": "segmentation",
    "dataset": "abstracts",
    "raw": "data/raw/abstracts",
    "options": {"labels": {}, "sample": None},
    "segmentations": ["whole"],
    "seen": {},
}
ITEMS = (
    ("The knee hurts since May.", "The knee hurts.", "entailment"),
    ("The knee hurts since May.", "The left elbow is swollen.", "neutral"),
    ("No fever today.", "There is a fever.", "contradiction"),
)


def stages_of(file: Path) -> dict[str, Any]:
    stages: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))["stages"]
    return stages


PARAMS_OF_OURS = load(ROOT)
FILES = [ROOT / BENCHMARKS / name / "dvc.yaml" for name in PARAMS_OF_OURS.benchmarks]
FILES_OF_TESTS = [
    ROOT / BENCHMARKS / name / "dvc.yaml"
    for name, test in PARAMS_OF_OURS.judge_tests.items()
    if not isinstance(test, AttackTest)
]
FILES_OF_ATTACKS = [
    ROOT / BENCHMARKS / name / "dvc.yaml"
    for name, test in PARAMS_OF_OURS.judge_tests.items()
    if isinstance(test, AttackTest)
]
FILES_OF_SEGMENTING = [
    ROOT / BENCHMARKS / name / "dvc.yaml" for name in PARAMS_OF_OURS.segment_tests
]
FORMS = stages_of(FILES[0])
FORMS_OF_TESTS = stages_of(FILES_OF_TESTS[0])
FORMS_OF_ATTACKS = stages_of(FILES_OF_ATTACKS[0])
FORMS_OF_SEGMENTING = stages_of(FILES_OF_SEGMENTING[0])
# A user's metric of statements, which needs no model: the share of words that passages
# have.
OVERLAP = """
from metassay.metrics.describe import JUDGED, Description
from metassay.kinds import FaithfulnessMetric, Scored, StatementOptions


def score(cases, options, checkpoint):
    found = []
    for case in cases:
        known = set(" ".join(case.passages).lower().split())
        words = [statement.lower().split() for statement in case.statements]
        found.append([Scored(sum(word in known for word in own) / len(own)) for own in words])
    return {"overlap": found}


KIND = FaithfulnessMetric(
    options=StatementOptions,
    score=score,
    recipe=lambda options, checkpoint: "words:lower",
    descriptions=(Description("overlap", "share", "higher", (0, 1), "none", "a test", JUDGED),),
    by_text=True,
)
"""


def answer(call: Call) -> Answer:
    """Claims where claims are asked for, else a note."""
    if call.is_claims:
        items = [{"number": 1, "claims": ["The knee hurts."]}]
        return answer_with(json.dumps({"items": items}))
    return answer_with("The knee hurts [0].")


def lines_of(file: Path, docs: tuple[str, ...]) -> list[str]:
    """Lines about these documents; of a CSV its header too, and of ratings one criterion."""
    lines = file.read_text(encoding="utf-8").splitlines()
    chosen = [line for line in lines if any(doc in line for doc in docs)]
    if file.suffix == ".csv":
        return lines[:1] + [line for line in chosen if CRITERION in line]
    return chosen


def copy_raw(into: Path) -> None:
    """A few notes of the sample as a dataset, and another as the examples of few-shot prompts."""
    for place, names in RAW.items():
        (into / place).mkdir(parents=True)
        docs = NOTES if place == "notes" else ("note_08",)
        for name in names:
            lines = lines_of(ROOT / "data/sample" / name, docs)
            (into / place / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def release_claims(into: Path) -> None:
    """A file as DocLens released it, of the same notes."""
    texts = map(json.loads, lines_of(ROOT / "data/sample/texts.jsonl", NOTES))
    records = [
        record(t["doc_id"], t["text"]) for t in texts if t["author"] == "reference"
    ]
    into.mkdir(parents=True)
    (into / CLAIMS).write_text(json.dumps(records), encoding="utf-8")


def record(doc_id: str, note: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"example_id": doc_id, "reference": note, "input": ""}
    pieces = divide(note, compat="none")
    for section in SECTIONS:
        text = "".join(note[start:end] for start, end in pieces.get(section, []))
        fields[f"reference_{section}"] = text or "#####EMPTY#####"
        fields[f"subclaims_reference_{section}"] = ["The knee hurts."] if text else []
    return fields


def write_items(into: Path) -> None:
    """Items of a test of judges, as SNLI has them."""
    into.mkdir(parents=True)
    names = ("sentence1", "sentence2", "gold_label")
    lines = [json.dumps(dict(zip(names, item, strict=True))) for item in ITEMS]
    (into / "test.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_yaml(file: Path, content: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")


def params(base_url: str) -> dict[str, Any]:
    """The project's own, with little to compute, a model to ask and a cheap metric as costly."""
    shared: dict[str, Any] = yaml.safe_load((ROOT / PARAMS).read_text(encoding="utf-8"))
    shared["decompositions"] |= {
        "apart": {"kind": "llm", "model": "m", "least": 1, "most": 5, "rounds": 1}
    }
    shared["systems"] |= {
        "writer": CHAT | {"shots": 1, "examples": ["ward/dev/note_08"]}
    }
    shared["costly_metrics"] = {"edit_distance": shared["metrics"]["edit_distance"]}
    shared["statement_metrics"] = {"overlap": {"kind": "lab.overlap"}}
    shared["endpoints"] = {
        "here": {"kind": "openai", "base_url": base_url, "key_env": KEY}
    }
    shared["models"] = {"m": {"endpoint": "here", "model": "m-1", "max_tokens": 200}}
    shared["aggregation"]["resamples"] = 20
    shared["questions"]["all"]["measures"] = ["claim_recall"]
    few = {"resamples": 20, "permutations": 20, "compared": ["claim_recall", "words"]}
    shared["meta_evaluation"] |= few
    return shared


def registry(mirror: Path) -> dict[str, Any]:
    files = [
        {
            "name": name,
            "url": f"https://example.org/{COMMIT}/{name}",
            "sha256": hashlib.sha256(
                (mirror / "notes" / name).read_bytes()
            ).hexdigest(),
            "bytes": (mirror / "notes" / name).stat().st_size,
        }
        for name in RAW["notes"]
    ]
    entry = {"reader": "files", "title": "tiny", "licence": "none", "access": "public"}
    notes = entry | {
        "upstream": "https://example.org",
        "commit": COMMIT,
        "mirror": "notes",
    }
    ward, claims = (
        entry | {"reader": reader, "folder": f"data/raw/{name}"}
        for reader, name in (("files", "ward"), (None, "doclens_aci_claims"))
    )
    return {
        "fetched": ["notes"],
        "datasets": {
            "notes": notes | {"files": files},
            "ward": ward,
            "doclens_aci_claims": claims,
            "items": entry | {"reader": "snli", "folder": "data/raw/items"},
            "abstracts": entry
            | {"reader": "sentences", "folder": "data/raw/abstracts"},
        },
    }


def make_project(root: Path, base_url: str) -> Path:
    sample = yaml.safe_load(
        (ROOT / "benchmarks/sample/params.yaml").read_text(encoding="utf-8")
    )
    copy_raw(root / "mirror")
    shutil.copytree(root / "mirror/ward", root / "data/raw/ward")
    release_claims(root / "data/raw/doclens_aci_claims")
    write_items(root / "data/raw/items")
    shutil.copytree(ROOT / "data/sample_facets", root / "data/raw/abstracts")
    rated = root / FIRST["studies"]["pilot"]
    rated.parent.mkdir(parents=True)
    header = "study,doc_id,author,part,unit,rater,criterion,value"
    rated.write_text(
        f"{header}\npilot,{NOTES[0]},lead,full,text,ann,{CRITERION},70\n", "utf-8"
    )
    for folder in ("prompts", "rubrics"):
        shutil.copytree(ROOT / folder, root / folder)
    (root / "lab").mkdir()
    (root / "lab/overlap.py").write_text(OVERLAP, encoding="utf-8")
    root_stages = stages_of(ROOT / "dvc.yaml")
    # Minutes on real datasets: tests/judges/test_semantic_train.py and tests/units have
    # them.
    del root_stages["train"], root_stages["train_roles"]
    # What reports compare with; here nothing does.
    (root / "reports/published").mkdir(parents=True)
    write_yaml(
        root / "dvc.yaml",
        {"vars": ["data/registry.yaml:fetched"], "stages": root_stages},
    )
    write_yaml(root / PARAMS, params(base_url))
    write_yaml(root / "data/registry.yaml", registry(root / "mirror"))
    for benchmark in (FIRST, SECOND):
        folder = root / BENCHMARKS / str(benchmark["name"])
        write_yaml(folder / PARAMS.name, sample | benchmark)
        shutil.copy(FILES[0], folder)
    for test, file in (
        (JUDGE_TEST, FILES_OF_TESTS[0]),
        (ATTACK_TEST, FILES_OF_ATTACKS[0]),
        (SEGMENT_TEST, FILES_OF_SEGMENTING[0]),
    ):
        folder = root / BENCHMARKS / str(test["name"])
        write_yaml(folder / PARAMS.name, test)
        shutil.copy(file, folder)
    (root / ".dvc").mkdir()
    (root / ".dvc/config").write_text("[core]\n    no_scm = true\n", encoding="utf-8")
    refresh_code(root)
    return root
