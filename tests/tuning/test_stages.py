"""Trainings through their doorways: what they read, what they write, and what a model is then."""

import importlib
import json
import random
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from flows import dag
from metassay.cli.main import main
from metassay.cli.run_summary import print_summary
from metassay.core.params import Tuning, load, parse_folder
from metassay.metrics.faithfulness.record import Case
from metassay.tables.alignments import ALIGNMENTS
from metassay.tables.corruptions import CORRUPTIONS
from metassay.tables.documents import SOURCES
from metassay.tables.notes import NOTES
from metassay.tables.parquet import read, write
from metassay.tables.parts import PARTS
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import MEASUREMENTS
from metassay.tables.statement_scores import STATEMENT_SCORES
from metassay.tables.units import UNITS
from metassay.tuning.options import DEFAULTS, parse_block
from metassay.versions.code_yaml import FILE
from stages import declared, doorway
from stages.doorway import StageIO
from tests.stage_setup import OWN, ROOT, refresh_code, sources, tiny_project
from tests.tuning.trainings import FAKE, TRUE

pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")

from metassay.metrics import bartscore, bleurt
from metassay.metrics.faithfulness import ctc_consistency
from tests.metrics.faithfulness.setup import scored
from tests.models import tiny
from tests.tuning.filling import SENTENCES

pytestmark = pytest.mark.slow
TABLES, TWO = Path("data/tables/one"), Path("benchmarks/two/params.yaml")
DOCUMENTS, ALIGNED = 32, ["rouge_topk", "full"]
PLACE = ["doc_id", "author", "part", "position"]


def statements() -> list[tuple[str, str, int, str]]:
    """Of each document three by the reference, which are its passages, and eight by a system."""
    rng, rows = random.Random(4), []
    for number in range(DOCUMENTS):
        doc_id = f"d{number:03}"
        rows += [(doc_id, "reference", place, rng.choice(SENTENCES)) for place in range(3)]
        for place in range(8):
            rows.append((doc_id, "system", place, " ".join(rng.sample([*TRUE, *FAKE], 3))))
    return rows


def rated_texts() -> list[tuple[str, str, str | None]]:
    """Of each document of benchmark `two` a reference, and six texts of systems; a few are none."""
    rng, rows = random.Random(6), list[tuple[str, str, str | None]]()
    for number in range(DOCUMENTS):
        doc_id = f"n{number:03}"
        rows.append((doc_id, "reference", rng.choice(SENTENCES) if number else None))
        for system in range(6):
            text = " ".join(rng.sample([*TRUE, *FAKE], 3))
            nothing = {("n001", 0): "", ("n001", 1): None}
            rows.append((doc_id, f"s{system}", nothing.get((doc_id, system), text)))
    return rows


def parts_of(texts: Sequence[tuple[str, str, str | None]]) -> pd.DataFrame:
    parts = [
        {"doc_id": d, "author": a, "part": "full", "text": text, "starts": [0], "ends": [3]}
        | {"leaf": "yes", "status": "error" if text is None else "ok"}
        | {"made_up": [], "repeats": []}
        for d, a, text in texts
    ]
    assert set(PARTS.columns) == set(parts[0])
    return pd.DataFrame(parts)


def quality(texts: Sequence[tuple[str, str, str | None]]) -> pd.DataFrame:
    """Two raters, whose mean is the share of words that are not of FAKE; some said nothing."""
    rows = [
        {"study": "given", "doc_id": doc_id, "author": author, "part": "full", "unit": "text"}
        | {"rater": rater, "criterion": "quality"}
        | {"value": None if (doc_id, author) == ("n002", "s1") else 1 - errors(text or "") + off}
        for doc_id, author, text in texts
        for rater, off in (("ann", 0.1), ("ben", -0.1))
        if (doc_id, author) != ("n002", "s0")
    ]
    return pd.DataFrame(rows)


def tables(root: Path) -> None:
    said = statements()
    texts = rated_texts()
    write(PARTS, parts_of(texts), root / TABLES.with_name("two") / "parts.parquet")
    write(RATINGS, quality(texts), root / TABLES.with_name("two") / "ratings/given.parquet")
    passages = [
        [t for d, a, _, t in said if (d, a) == (f"d{n:03}", "reference")] for n in range(DOCUMENTS)
    ]
    frame = sources(["x"] * DOCUMENTS).assign(passages=passages)
    frame["speaker"], frame["group"] = [[[""] * 3] * DOCUMENTS] * 2
    write(SOURCES, frame, root / TABLES / "sources.parquet")
    parts = parts_of([(d, a, text) for d, a, position, text in said if position == 0])
    write(PARTS, parts, root / TABLES / "parts.parquet")
    units = [
        {"doc_id": d, "author": a, "part": "full", "kind": "statement", "position": position}
        | {"text": text, "status": "ok", "citations": [], "statement": None}
        | {"start": None, "end": None}
        for d, a, position, text in said
    ]
    write(UNITS, pd.DataFrame(units), root / TABLES / "units.parquet")
    for name, places in (("rouge_topk", [2, 0]), ("full", [1])):
        aligned = pd.DataFrame(units)[PLACE].assign(method=name)
        aligned["passages"] = [places] * len(aligned)
        aligned["values"] = [[1.0] * len(places)] * len(aligned)
        write(ALIGNMENTS, aligned, root / TABLES / f"alignments/{name}.parquet")
    write(STATEMENT_SCORES, scores(said), root / TABLES / "statement_scores/judged.parquet")
    write(RATINGS, ratings(said), root / TABLES / "ratings/given.parquet")


def errors(text: str) -> float:
    return sum(word in FAKE for word in text.split()) / 3


def scores(said: Sequence[tuple[str, str, int, str]]) -> pd.DataFrame:
    """`truth` is what people said, turned; coverage is by chance, and so is `noise`."""
    rng, rows = random.Random(5), []
    for doc_id, author, position, text in said:
        values = {"truth": -errors(text), "noise": rng.random(), "coverage": rng.random()}
        for metric, value in values.items():
            rows.append(
                {"doc_id": doc_id, "author": author, "part": "full", "position": position}
                | {"number": position, "metric": metric, "judge": "none", "value": value}
                | {"failed": False, "unread": 0.0, "cut": False, "recipe": metric}
                | {"better": "neither" if metric == "coverage" else "higher"}
            )
    return pd.DataFrame(rows)


def ratings(said: Sequence[tuple[str, str, int, str]]) -> pd.DataFrame:
    rows = [
        {"study": "given", "doc_id": doc_id, "author": author, "part": "full"}
        | {"unit": f"statement:{position}", "rater": "ann", "criterion": "errors"}
        | {"value": errors(text)}
        for doc_id, author, position, text in said
        if author == "system"
    ]
    return pd.DataFrame(rows)


def own(
    tune: str, base: Path, changes: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    training = {"seed": 2, "dev_share": 0.25, "steps": 40, "epochs": None, "every": 20}
    of_texts = tune == "quality"
    return {
        **{"name": tune, "tune": tune, "from": "two" if of_texts else "one"},
        **({} if of_texts else {"alignments": ALIGNED}),
        "base": {"model": str(base), "device": "cpu", "dtype": "float32"},
        "training": training | {"learning_rate": 0.01, "warmup": 2} | (changes or {}),
        **more,
    }


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, filling: Path) -> Path:
    root = tiny_project(tmp_path_factory.mktemp("stages") / "p", "http://localhost:1", ["x"])
    change = yaml.safe_load((root / OWN).read_text(encoding="utf-8")) | {
        **{"systems": [], "few_shot": {}, "studies": {}, "statement_metrics": []},
        **{"alignments": ALIGNED, "decompositions": ["clauses"]},
        "criteria": {"errors": {"low": 0.0, "high": 1.0, "better": "lower"}},
        **{"costly_metrics": ["bleurt"], "tuned_costly_metrics": {"tuned": "data/models/quality"}},
    }
    (root / OWN).write_text(yaml.safe_dump(change), encoding="utf-8")
    good = {"low": 0.0, "high": 1.0, "better": "higher"}
    change |= {"name": "two", "criteria": change["criteria"] | {"quality": good}}
    change |= {"costly_metrics": [], "tuned_costly_metrics": {}}
    (root / "benchmarks/two").mkdir()
    (root / TWO).write_text(yaml.safe_dump(change), encoding="utf-8")
    shared = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    shared["alignments"] |= {"full": {"kind": "full", "tokens": 100}}
    clauses = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))["decompositions"]
    shared["decompositions"]["clauses"] = clauses["clauses"]
    models = root.with_name("models")
    tiny.classifier(models / "encoder", "bert", ["unused"])
    here = {"device": "cpu", "dtype": "float32"}
    shared["costly_metrics"] |= {
        "bleurt": {"kind": "bleurt", "model": str(models / "encoder"), **here},
        "tuned": {"kind": "clinical_bleurt", "model": "data/models/quality", **here},
    }
    (root / "params.yaml").write_text(yaml.safe_dump(shared), encoding="utf-8")
    corruption = {"model": str(filling), "device": "cpu", "dtype": "float32", "seed": 1}
    rule = {"criterion": "errors", "better": "lower", "least": 0.9}
    teachers = {"human": rule, "coverage": {"most": 0.9}}
    slower = {"steps": 400, "learning_rate": 0.005}
    for folder in (
        own("bartscore", tiny.bart(models / "bart")),
        own("ctc", models / "encoder", corruption=corruption),
        own("distill", models / "encoder", {"steps": 200, "batch": 16}, teachers=teachers),
        own("quality", models / "encoder", slower, criterion="quality"),
    ):
        file = root / "benchmarks" / str(folder["name"]) / "params.yaml"
        file.parent.mkdir()
        file.write_text(yaml.safe_dump(folder), encoding="utf-8")
    refresh_code(root)
    tables(root)
    return root


def run(monkeypatch: pytest.MonkeyPatch, root: Path, command: str) -> None:
    """Run a stage where only what it declares is used, and all of it."""
    module, *arguments = shlex.split(command)
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "argv", [f"{module}.py", *arguments])
    real, handed = importlib.import_module(f"stages.{module}").main, list[StageIO]()

    def keep(io: StageIO) -> None:
        handed.append(io)
        real(io)

    doorway.enter(keep)
    entry = declared.find_entry(module, arguments)
    keys = {(file, key) for file, of in entry.params.items() for key in of if file != FILE}
    assert handed[0].used == keys | entry.deps | entry.outs


def test_the_models_of_each_alignment_are_of_one_table_of_corruptions(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(monkeypatch, project, "corrupt ctc")
    table = project / "data/tables/ctc/corruptions.parquet"
    before = table.read_bytes()
    for name in ALIGNED:
        run(monkeypatch, project, f"tune ctc {name}")
    assert table.read_bytes() == before
    logs = [
        json.loads((project / f"data/models/ctc-{name}/training_log.json").read_text("utf-8"))
        for name in ALIGNED
    ]
    assert logs[0]["statements"] == logs[1]["statements"]
    assert sum(logs[0]["statements"].values()) == len(read(CORRUPTIONS, table))
    assert logs[0]["held_out"] == logs[1]["held_out"]
    assert not [*project.glob(".work/tuning/*")]
    weights = [project / f"data/models/ctc-{name}/model.safetensors" for name in ALIGNED]
    assert weights[0].read_bytes() != weights[1].read_bytes()
    case = Case(tuple(SENTENCES), (SENTENCES[0],))
    for name in ALIGNED:
        ((value,),) = scored(ctc_consistency.KIND, [case], project / f"data/models/ctc-{name}")
        assert value.value is not None


def test_a_tuned_model_finds_what_it_has_read_more_likely(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(monkeypatch, project, "tune bartscore full")
    folder = project / "data/models/bartscore-full"
    cases = [Case((text,), (text,)) for text in SENTENCES[:2]]
    tuned = scored(bartscore.SOURCE, cases, folder)
    before = scored(bartscore.SOURCE, cases, project.with_name("models") / "bart")
    for (value,), (was,) in zip(tuned, before, strict=True):
        assert value.value is not None
        assert was.value is not None
        assert value.value > was.value + 1
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "| benchmark | one |" in card
    assert "| documents | training 24, held_out 8 |" in card
    assert "| statements | training 72, held_out 24 |" in card
    (note,) = read(NOTES, project / "data/tables/bartscore/notes/tune-full.parquet")["note"]
    assert note.startswith("bartscore-full: 72 statements of 24 documents; step ")


def test_a_distilled_metric_follows_its_teachers(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(monkeypatch, project, "distill distill full")
    folder = project / "data/models/distill-full"
    log = json.loads((folder / "training_log.json").read_text(encoding="utf-8"))
    assert log["teachers"] == ["truth"]
    assert {one["name"]: one["teaches"] for one in log["candidates"]} == {
        "noise": False,
        "truth": True,
    }
    assert len(log["held_out"]) == 8
    held = [row for row in statements() if row[0] in log["held_out"] and row[1] == "system"]
    cases = [Case((SENTENCES[0],), (text,)) for *_, text in held]
    truth = pd.Series([-errors(text) for *_, text in held])
    values = pd.Series([value.value for (value,) in scored(bleurt.REGRESSOR, cases, folder)])
    assert values.corr(truth) > 0.6
    assert log["checkpoint"]["loss"] < 0.6  # the mean of all would have about 1
    assert "| teachers | truth |" in (folder / "README.md").read_text(encoding="utf-8")


def test_a_model_tuned_on_quality_finds_it_in_texts_of_another_benchmark(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(monkeypatch, project, "tune quality")
    folder = project / "data/models/quality"
    first, second = read(NOTES, project / "data/tables/quality/notes/tune.parquet")["note"]
    assert first.startswith("quality: 136 texts of 23 documents; step ")
    assert second == (
        "of 192 texts of systems 10 are left out: 2 are empty or failed, 6 have no reference,"
        " 2 have no rating of quality"
    )
    log = json.loads((folder / "training_log.json").read_text(encoding="utf-8"))
    assert (log["criterion"], log["texts"]) == ("quality", {"training": 136, "held_out": 46})
    assert len(log["held_out"]) == 8
    found = {}
    for block, metric in (("bleurt", "bleurt"), ("tuned", "clinical_bleurt")):
        run(monkeypatch, project, f"measure one {block}")
        table = read(MEASUREMENTS, project / TABLES / f"measurements/{block}.parquet")
        assert set(table["metric"]) == {metric}
        found[metric] = table.set_index("doc_id")["value"]
    said = {d: t for d, a, position, t in statements() if (a, position) == ("system", 0)}
    planted = pd.Series({doc_id: 1 - errors(text) for doc_id, text in said.items()})
    correlations = {metric: values.corr(planted) for metric, values in found.items()}
    assert correlations["clinical_bleurt"] > 0.75
    assert correlations["bleurt"] < 0.5


def test_no_text_of_the_data_is_in_a_card(project: Path) -> None:
    files = [*project.glob("data/models/*/README.md"), *project.glob("data/models/*/training*")]
    assert len(files) == 10
    said = {text for *_, text in (*statements(), *rated_texts()) if text}
    assert not [text for text in said for file in files if text in file.read_text("utf-8")]


def test_commands_know_tunings(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    assert "tunings of models" in shown
    assert main(["ledger", "cost", "ctc"]) == 0
    assert "ctc asks no language model and costs nothing" in capsys.readouterr().out
    assert print_summary(["ctc"], load()) == 0
    shown = capsys.readouterr().out
    assert "ctc: data/models/ctc-rouge_topk, data/models/ctc-full" in shown
    assert shown.count("Note of ") == 3
    assert print_summary(["quality"], load()) == 0
    assert "quality: data/models/quality " in f"{capsys.readouterr().out.splitlines()[0]} "
    assert {*dag._training_sources(project, ["one"])} == {"quality", "two"}
    assert load().data_of("ctc") == load().benchmarks["one"]


@pytest.fixture
def root(project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A copy of the project to spoil, without what was computed; it is the current folder."""
    copy = tmp_path / "copy"
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns("models", "tables"))
    (copy / "data/raw/one").mkdir(parents=True)
    monkeypatch.chdir(copy)
    return copy


def test_what_is_wrong_with_a_tuning_is_told(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = root / "benchmarks/distill/params.yaml"
    whole = yaml.safe_load(file.read_text(encoding="utf-8"))

    def told(**changes: Any) -> str:
        file.write_text(yaml.safe_dump(whole | changes), encoding="utf-8")
        main(["validate"])
        return " ".join(capsys.readouterr().err.split())

    assert "distill" not in told()
    assert "from: 'three' is not a benchmark; name one" in told(**{"from": "three"})
    assert "alignments: 'bs_gain' is none of 'one'" in told(alignments=["bs_gain"])
    assert "tune: Input should be 'bartscore', 'ctc', 'distill' or 'quality'" in told(tune="cts")
    assert "base > dtype: Input should be" in told(base=whole["base"] | {"dtype": "float16"})
    assert "give either steps or epochs" in told(training=whole["training"] | {"epochs": 3})
    wrong = {"human": {"criterion": "errors", "better": "higher", "least": 0.1}}
    assert "'one' has no criterion 'errors' of which the higher is better" in told(teachers=wrong)
    assert "corruption: unknown key" in told(corruption={})
    benchmark = yaml.safe_load((root / OWN).read_text(encoding="utf-8"))
    benchmark["tuned_metrics"] = {"regression": "data/models/distill-full"}
    (root / OWN).write_text(yaml.safe_dump(benchmark), encoding="utf-8")
    shared = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    checkpoint = {"model": "data/models/distill-full", "device": "cpu", "dtype": "float32"}
    shared["statement_metrics"]["regression"] = {"kind": "bleurt", "checkpoints": {"a": checkpoint}}
    (root / "params.yaml").write_text(yaml.safe_dump(shared), encoding="utf-8")
    assert "metric 'regression' of 'one' reads what is distilled of its own scores" in told()


def test_what_is_wrong_with_a_tuning_on_quality_is_told(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = root / "benchmarks/quality/params.yaml"
    tuning, benchmark = (yaml.safe_load(one.read_text("utf-8")) for one in (file, root / TWO))

    def told(own: dict[str, Any], **changes: Any) -> str:
        (root / TWO).write_text(yaml.safe_dump(benchmark | own), encoding="utf-8")
        file.write_text(yaml.safe_dump(tuning | changes), encoding="utf-8")
        main(["validate"])
        return " ".join(capsys.readouterr().err.split())

    assert "quality" not in told({})
    for criterion in ("nobody asked", "errors"):
        assert (
            f"> criterion: {criterion!r} is not a criterion of 'two' whose higher end is"
            " better, which training needs; choose from ['quality'], or add it there"
        ) in told({}, criterion=criterion)
    assert "alignments: unknown key" in told({}, alignments=["full"])
    unwatched = told({"costly_metrics": ["tuned"]})
    assert "data/models/quality is trained here; name the block under tuned_costly_metrics" in (
        unwatched
    )
    itself = "metric 'tuned' of 'two' reads what is tuned on its own ratings; measure it in another"
    assert itself in unwatched
    watched = {"tuned_costly_metrics": {"tuned": "data/models/quality"}}
    assert itself in told(watched)
    assert "is trained here" not in told(watched)
    both = told({"costly_metrics": ["tuned"], **watched})
    assert "costly_metrics: 'tuned' is under tuned_costly_metrics as well" in both


def test_the_blocks_of_the_page_are_right() -> None:
    page = (ROOT / "docs/scores.md").read_text(encoding="utf-8")
    page = page.partition("\n## Tuning and distilling")[2]
    folders = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    assert [folder["tune"] for folder in folders] == list(DEFAULTS)
    for folder in folders:
        own = parse_folder(folder, where="docs/scores.md")
        assert isinstance(own, Tuning)
        for key in folder.keys() - {"name", "tune", "from", "alignments", "criterion"}:
            parse_block(own.tune, key, folder[key], where="docs/scores.md")
    rows = [row.strip("| ").split(" | ") for row in page.split("## Defaults")[1].split("\n")[4:12]]
    for place, tune in enumerate(DEFAULTS, start=1):
        training = parse_block(tune, "training", {"seed": 1}, where="docs/scores.md").model_dump()
        for row in rows:
            name = re.match(r"`?(\w+)", row[0])
            assert name is not None
            said = yaml.safe_load(row[place].replace("`", "").replace("e-", ".0e-"))
            if name[1] == "length":
                ((unit, number),) = said.items()
                assert training[unit] == number
            elif name[1] in training:
                assert training[name[1]] == (None if isinstance(said, str) else said)


def test_a_run_makes_the_models_that_its_metrics_read() -> None:
    """And what these learn from, but nothing of a benchmark that reads none."""
    root = Path(__file__).parents[2]
    trained = {"hospital_bartscore", "hospital_ctc", "hospital_distilled"}
    found = dag._training_sources(root, ["hospital_course"])
    assert {*found} == trained | {"hospital_course_training"}
    assert dag._training_sources(root, ["hospital_bartscore", "hospital_course_training"]) == [
        "hospital_ctc"
    ]
    assert dag._training_sources(root, ["sample"]) == []
