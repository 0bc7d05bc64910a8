"""Trainings through their doorways: what they read, what they write, and what a model is then."""

import importlib
import json
import random
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from flows import dag
from metassay.cli.main import main
from metassay.cli.run_summary import print_summary
from metassay.core.params import Tuning, load, parse_folder
from metassay.core.versions import FILE
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
from stages import declared, doorway
from stages.doorway import StageIO
from tests.stage_setup import ROOT, SETTINGS, refresh_code, sources, tiny_project
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
Text = tuple[str, str, str | None]  # document, author and text


def words(rng: random.Random) -> str:
    return " ".join(rng.sample([*TRUE, *FAKE], 3))


def statements() -> pd.DataFrame:
    """Of each document three by the reference, which are its passages, and eight by a system."""
    rng, rows = random.Random(4), list[tuple[str, str, int, str]]()
    for number in range(DOCUMENTS):
        doc_id = f"d{number:03}"
        rows += [
            (doc_id, "reference", place, rng.choice(SENTENCES)) for place in range(3)
        ]
        rows += [(doc_id, "system", place, words(rng)) for place in range(8)]
    return pd.DataFrame(rows, columns=["doc_id", "author", "position", "text"]).assign(
        part="full"
    )


def rated_texts() -> list[Text]:
    """Of each document of benchmark `two` a reference, and six texts of systems; a few are none."""
    rng, rows = random.Random(6), list[Text]()
    nothing = {("n001", 0): "", ("n001", 1): None}
    for number in range(DOCUMENTS):
        doc_id = f"n{number:03}"
        rows.append((doc_id, "reference", rng.choice(SENTENCES) if number else None))
        for system in range(6):
            rows.append(
                (doc_id, f"s{system}", nothing.get((doc_id, system), words(rng)))
            )
    return rows


def parts_of(texts: Sequence[Text]) -> pd.DataFrame:
    parts = pd.DataFrame(texts, columns=["doc_id", "author", "text"]).assign(
        part="full"
    )
    parts["leaf"] = "yes"
    parts["status"] = parts["text"].isna().map({True: "error", False: "ok"})
    for name, value in (
        ("starts", [0]),
        ("ends", [3]),
        ("made_up", []),
        ("repeats", []),
    ):
        parts[name] = [list(value) for _ in range(len(parts))]
    assert set(PARTS.columns) == set(parts)
    return parts


def errors(text: str) -> float:
    return sum(word in FAKE for word in text.split()) / 3


def quality(texts: Sequence[Text]) -> pd.DataFrame:
    """Two raters, whose mean is the share of words that are not of FAKE; some said nothing."""
    rows = [
        (doc_id, author, rater, None)
        if (doc_id, author) == ("n002", "s1")
        else (doc_id, author, rater, 1 - errors(text or "") + off)
        for doc_id, author, text in texts
        for rater, off in (("ann", 0.1), ("ben", -0.1))
        if (doc_id, author) != ("n002", "s0")
    ]
    frame = pd.DataFrame(rows, columns=["doc_id", "author", "rater", "value"])
    return frame.assign(study="given", part="full", unit="text", criterion="quality")


def write_tables(root: Path) -> None:
    rows, texts = statements(), rated_texts()
    write(PARTS, parts_of(texts), root / TABLES.with_name("two") / "parts.parquet")
    write(
        RATINGS,
        quality(texts),
        root / TABLES.with_name("two") / "ratings/given.parquet",
    )
    by_reference = rows[rows["author"] == "reference"].groupby("doc_id")["text"]
    frame = sources(["x"] * DOCUMENTS).assign(passages=by_reference.agg(list).tolist())
    frame["speaker"], frame["group"] = [[[""] * 3] * DOCUMENTS] * 2
    write(SOURCES, frame, root / TABLES / "sources.parquet")
    first = rows.loc[rows["position"] == 0, ["doc_id", "author", "text"]]
    write(
        PARTS,
        parts_of(list(first.itertuples(index=False))),
        root / TABLES / "parts.parquet",
    )
    units = rows.assign(
        kind="statement", status="ok", statement=None, start=None, end=None
    )
    units["citations"] = [[] for _ in range(len(units))]
    write(UNITS, units, root / TABLES / "units.parquet")
    for name, places in (("rouge_topk", [2, 0]), ("full", [1])):
        aligned = rows[PLACE].assign(method=name)
        aligned["passages"] = [places] * len(aligned)
        aligned["values"] = [[1.0] * len(places)] * len(aligned)
        write(ALIGNMENTS, aligned, root / TABLES / f"alignments/{name}.parquet")
    # `truth` is what people said, turned; coverage is by chance, and so is `noise`.
    rng = random.Random(5)
    values = pd.DataFrame(
        [(-errors(text), rng.random(), rng.random()) for text in rows["text"]],
        columns=["truth", "noise", "coverage"],
    )
    scores = rows[PLACE].join(values).melt(PLACE, var_name="metric")
    scores["better"] = scores["metric"].map({"coverage": "neither"}).fillna("higher")
    scores = scores.assign(
        number=scores["position"], judge="none", failed=False, unread=0.0
    )
    scores = scores.assign(cut=False, recipe=scores["metric"])
    write(STATEMENT_SCORES, scores, root / TABLES / "statement_scores/judged.parquet")
    rated = rows[rows["author"] == "system"]
    ratings = rated[["doc_id", "author", "part"]].assign(study="given", rater="ann")
    ratings["unit"] = [f"statement:{position}" for position in rated["position"]]
    ratings = ratings.assign(criterion="errors", value=rated["text"].map(errors))
    write(RATINGS, ratings, root / TABLES / "ratings/given.parquet")


def folder_of(
    tune: str, base: Path, changes: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    training = {"seed": 2, "dev_share": 0.25, "steps": 40, "epochs": None, "every": 20}
    learns = (
        {"from": "two"} if tune == "quality" else {"from": "one", "alignments": ALIGNED}
    )
    return {
        "name": tune,
        "tune": tune,
        **learns,
        "base": {"model": str(base), "device": "cpu", "dtype": "float32"},
        "training": training | {"learning_rate": 0.01, "warmup": 2} | (changes or {}),
        **more,
    }


def load_yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def put_yaml(path: Path, value: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(value), encoding="utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, filling: Path) -> Path:
    root = tiny_project(
        tmp_path_factory.mktemp("stages") / "p", "http://localhost:1", ["x"]
    )
    change = load_yaml(root / SETTINGS) | {
        "systems": [],
        "few_shot": {},
        "studies": {},
        "statement_metrics": [],
        "alignments": ALIGNED,
        "decompositions": ["clauses"],
        "criteria": {"errors": {"low": 0.0, "high": 1.0, "better": "lower"}},
        "costly_metrics": ["bleurt"],
        "tuned_costly_metrics": {"tuned": "data/models/quality"},
    }
    put_yaml(root / SETTINGS, change)
    good = {"low": 0.0, "high": 1.0, "better": "higher"}
    change |= {"name": "two", "criteria": change["criteria"] | {"quality": good}}
    change |= {"costly_metrics": [], "tuned_costly_metrics": {}}
    put_yaml(root / TWO, change)
    shared = load_yaml(root / "params.yaml")
    shared["alignments"] |= {"full": {"kind": "full", "tokens": 100}}
    clauses = load_yaml(ROOT / "params.yaml")["decompositions"]["clauses"]
    shared["decompositions"]["clauses"] = clauses
    models = root.with_name("models")
    tiny.classifier(models / "encoder", "bert", ["unused"])
    here = {"device": "cpu", "dtype": "float32"}
    shared["costly_metrics"] |= {
        "bleurt": {"kind": "bleurt", "model": str(models / "encoder"), **here},
        "tuned": {"kind": "clinical_bleurt", "model": "data/models/quality", **here},
    }
    put_yaml(root / "params.yaml", shared)
    corruption = {"model": str(filling), "device": "cpu", "dtype": "float32", "seed": 1}
    rule = {"criterion": "errors", "better": "lower", "least": 0.9}
    teachers = {"human": rule, "coverage": {"most": 0.9}}
    slower = {"steps": 400, "learning_rate": 0.005}
    for folder in (
        folder_of("bartscore", tiny.bart(models / "bart")),
        folder_of("ctc", models / "encoder", corruption=corruption),
        folder_of(
            "distill",
            models / "encoder",
            {"steps": 200, "batch": 16},
            teachers=teachers,
        ),
        folder_of("quality", models / "encoder", slower, criterion="quality"),
    ):
        put_yaml(root / "benchmarks" / folder["name"] / "params.yaml", folder)
    refresh_code(root)
    write_tables(root)
    return root


Run = Callable[[str], None]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, project: Path) -> Run:
    """Run a stage where only what it declares is used, and all of it."""

    def start(command: str) -> None:
        module, *arguments = shlex.split(command)
        monkeypatch.chdir(project)
        monkeypatch.setattr(sys, "argv", [f"{module}.py", *arguments])
        real, stage_ios = (
            importlib.import_module(f"stages.{module}").main,
            list[StageIO](),
        )

        def keep(io: StageIO) -> None:
            stage_ios.append(io)
            real(io)

        doorway.enter(keep)
        entry = declared.find_entry(module, arguments)
        keys = {
            (file, key)
            for file, of in entry.params.items()
            for key in of
            if file != FILE
        }
        assert stage_ios[0].used == keys | entry.deps | entry.outs

    return start


def log_of(model: Path) -> Any:
    return json.loads((model / "training_log.json").read_text(encoding="utf-8"))


def test_the_models_of_each_alignment_are_of_one_table_of_corruptions(
    project: Path, run: Run
) -> None:
    run("corrupt ctc")
    table = project / "data/tables/ctc/corruptions.parquet"
    before = table.read_bytes()
    models = [project / f"data/models/ctc-{name}" for name in ALIGNED]
    case = Case(tuple(SENTENCES), (SENTENCES[0],))
    for name, model in zip(ALIGNED, models, strict=True):
        run(f"tune ctc {name}")
        ((value,),) = scored(ctc_consistency.KIND, [case], model)
        assert value.value is not None
    assert table.read_bytes() == before
    first, second = map(log_of, models)
    assert first["statements"] == second["statements"]
    assert sum(first["statements"].values()) == len(read(CORRUPTIONS, table))
    assert first["held_out"] == second["held_out"]
    assert not [*project.glob(".work/tuning/*")]
    weights = [(model / "model.safetensors").read_bytes() for model in models]
    assert weights[0] != weights[1]


def test_a_tuned_model_finds_what_it_has_read_more_likely(
    project: Path, run: Run
) -> None:
    run("tune bartscore full")
    model = project / "data/models/bartscore-full"
    cases = [Case((text,), (text,)) for text in SENTENCES[:2]]
    tuned = scored(bartscore.SOURCE, cases, model)
    before = scored(bartscore.SOURCE, cases, project.with_name("models") / "bart")
    for (value,), (was,) in zip(tuned, before, strict=True):
        assert value.value is not None
        assert was.value is not None
        assert value.value > was.value + 1
    card = (model / "README.md").read_text(encoding="utf-8")
    assert "| benchmark | one |" in card
    assert "| documents | training 24, held_out 8 |" in card
    assert "| statements | training 72, held_out 24 |" in card
    (note,) = read(NOTES, project / "data/tables/bartscore/notes/tune-full.parquet")[
        "note"
    ]
    assert note.startswith("bartscore-full: 72 statements of 24 documents; step ")


def test_a_distilled_metric_follows_its_teachers(project: Path, run: Run) -> None:
    run("distill distill full")
    model = project / "data/models/distill-full"
    log, rows = log_of(model), statements()
    assert log["teachers"] == ["truth"]
    teaches = {each["name"]: each["teaches"] for each in log["candidates"]}
    assert teaches == {"noise": False, "truth": True}
    assert len(log["held_out"]) == 8
    texts = rows.loc[
        rows["doc_id"].isin(log["held_out"]) & (rows["author"] == "system"), "text"
    ]
    cases = [Case((SENTENCES[0],), (text,)) for text in texts]
    values = pd.Series(
        [value.value for (value,) in scored(bleurt.REGRESSOR, cases, model)]
    )
    assert values.corr(pd.Series([-errors(text) for text in texts])) > 0.6
    assert log["checkpoint"]["loss"] < 0.6  # the mean of all would have about 1
    assert "| teachers | truth |" in (model / "README.md").read_text(encoding="utf-8")


def test_a_model_tuned_on_quality_finds_it_in_texts_of_another_benchmark(
    project: Path, run: Run
) -> None:
    run("tune quality")
    first, second = read(NOTES, project / "data/tables/quality/notes/tune.parquet")[
        "note"
    ]
    assert first.startswith("quality: 136 texts of 23 documents; step ")
    assert second == (
        "of 192 texts of systems 10 are left out: 2 are empty or failed, 6 have no reference,"
        " 2 have no rating of quality"
    )
    log = log_of(project / "data/models/quality")
    assert (log["criterion"], log["texts"]) == (
        "quality",
        {"training": 136, "held_out": 46},
    )
    assert len(log["held_out"]) == 8
    rows = statements()
    first_texts = rows[(rows["author"] == "system") & (rows["position"] == 0)]
    planted = 1 - first_texts.set_index("doc_id")["text"].map(errors)
    correlations = {}
    for block, metric in (("bleurt", "bleurt"), ("tuned", "clinical_bleurt")):
        run(f"measure one {block}")
        table = read(MEASUREMENTS, project / TABLES / f"measurements/{block}.parquet")
        assert set(table["metric"]) == {metric}
        correlations[metric] = table.set_index("doc_id")["value"].corr(planted)
    assert correlations["clinical_bleurt"] > 0.75
    assert correlations["bleurt"] < 0.5


def test_no_text_of_the_data_is_in_a_card(project: Path) -> None:
    files = [
        *project.glob("data/models/*/README.md"),
        *project.glob("data/models/*/training*"),
    ]
    assert len(files) == 10
    texts = {*statements()["text"], *(text for *_, text in rated_texts() if text)}
    assert not [
        text for text in texts for file in files if text in file.read_text("utf-8")
    ]


def test_commands_know_tunings(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setenv("COLUMNS", "200")
    for command, line in (
        (["list"], "tunings of models"),
        (["ledger", "cost", "ctc"], "ctc asks no language model and costs nothing"),
    ):
        assert main(command) == 0
        assert line in capsys.readouterr().out
    assert print_summary(["ctc"], load()) == 0
    shown = capsys.readouterr().out
    assert "ctc: data/models/ctc-rouge_topk, data/models/ctc-full" in shown
    assert shown.count("Note of ") == 3
    assert print_summary(["quality"], load()) == 0
    assert (
        "quality: data/models/quality " in f"{capsys.readouterr().out.splitlines()[0]} "
    )
    assert {*dag._training_sources(project, ["one"])} == {"quality", "two"}
    assert load().data_of("ctc") == load().benchmarks["one"]


Problems = Callable[..., str]


@pytest.fixture
def problems(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> Problems:
    """What `validate` says of a copy without what was computed, after changes to its files."""
    root = tmp_path / "copy"
    shutil.copytree(project, root, ignore=shutil.ignore_patterns("models", "tables"))
    (root / "data/raw/one").mkdir(parents=True)
    monkeypatch.chdir(root)
    sound: dict[Path, Any] = {}

    def validate(changes: dict[str, dict[str, Any]]) -> str:
        for file, value in sound.items():
            put_yaml(file, value)
        for name, block in changes.items():
            file = root / (
                "params.yaml" if not name else f"benchmarks/{name}/params.yaml"
            )
            sound.setdefault(file, load_yaml(file))
            put_yaml(file, sound[file] | block)
        main(["validate"])
        return " ".join(capsys.readouterr().err.split())

    return validate


def test_what_is_wrong_with_a_tuning_is_told(project: Path, problems: Problems) -> None:
    distill, shared = (
        load_yaml(project / file)
        for file in ("benchmarks/distill/params.yaml", "params.yaml")
    )
    human = {"criterion": "errors", "better": "higher", "least": 0.1}
    quality = "data/models/quality"
    watched = {"tuned_costly_metrics": {"tuned": quality}}
    itself = "metric 'tuned' of 'two' reads what is tuned on its own ratings; measure it in another"
    model = "data/models/distill-full"
    checkpoint = {"model": model, "device": "cpu", "dtype": "float32"}
    regression = {"kind": "bleurt", "checkpoints": {"a": checkpoint}}
    metrics = shared["statement_metrics"] | {"regression": regression}
    no_criterion = (
        "> criterion: {!r} is not a criterion of 'two' whose higher end is better, which training"
        " needs; choose from ['quality'], or add it there"
    )
    cases: list[tuple[dict[str, Any], tuple[str, ...]]] = [
        (
            {"distill": {"from": "three"}},
            ("from: 'three' is not a benchmark; name one",),
        ),
        (
            {"distill": {"alignments": ["bs_gain"]}},
            ("alignments: 'bs_gain' is none of 'one'",),
        ),
        ({"distill": {"tune": "cts"}}, ("tune: must be 'bartscore', 'ctc', ",)),
        (
            {"distill": {"training": distill["training"] | {"epochs": 3}}},
            ("either steps or ep",),
        ),
        (
            {"distill": {"teachers": {"human": human}}},
            ("'one' has no criterion 'errors' of which the higher is better",),
        ),
        ({"distill": {"corruption": {}}}, ("corruption: unknown key",)),
        (
            {"distill": {"base": {**distill["base"], "model": "data/models/none"}}},
            ("base > model: no folder of benchmarks/ makes 'data/models/none'",),
        ),
        (
            {"distill": {"base": {**distill["base"], "model": quality}}},
            (f"base > model: {quality!r} was trained on 'two', and this model is",),
        ),
        ({"quality": {"criterion": "style"}}, (no_criterion.format("style"),)),
        ({"quality": {"criterion": "errors"}}, (no_criterion.format("errors"),)),
        ({"quality": {"alignments": ["full"]}}, ("alignments: unknown key",)),
        (
            {"two": {"costly_metrics": ["tuned"]}},
            (
                f"{quality} is trained here; name the block under tuned_costly_metrics",
                itself,
            ),
        ),
        ({"two": watched}, (itself,)),
        (
            {"two": {"costly_metrics": ["tuned"], **watched}},
            ("costly_metrics: 'tuned' is under tuned_costly_metrics as well",),
        ),
        (
            {
                "one": {"tuned_metrics": {"regression": model}},
                "": {"statement_metrics": metrics},
            },
            ("metric 'regression' of 'one' reads what is distilled of its own scores",),
        ),
    ]
    sound = problems({"distill": {}, "two": {}})
    assert "distill" not in sound
    assert "quality" not in sound
    for changes, lines in cases:
        message = problems(changes)
        assert all(line in message for line in lines), (changes, message)
        assert "is trained here" not in message or len(lines) == 2


def test_the_blocks_of_the_page_are_right() -> None:
    page = (ROOT / "docs/tuning.md").read_text(encoding="utf-8")
    folders = [
        yaml.safe_load(block)
        for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    ]
    assert [folder["tune"] for folder in folders] == list(DEFAULTS)
    for folder in folders:
        tuning = parse_folder(folder, where="docs/tuning.md")
        assert isinstance(tuning, Tuning)
        for key in folder.keys() - {"name", "tune", "from", "alignments", "criterion"}:
            parse_block(tuning.tune, key, folder[key], where="docs/tuning.md")
    rows = [
        row.strip("| ").split(" | ")
        for row in page.split("## Defaults")[1].split("\n")[4:12]
    ]
    for place, tune in enumerate(DEFAULTS, start=1):
        training = parse_block(
            tune, "training", {"seed": 1}, where="docs/tuning.md"
        ).model_dump()
        for row in rows:
            name = re.match(r"`?(\w+)", row[0])
            assert name is not None
            cell = yaml.safe_load(row[place].replace("`", "").replace("e-", ".0e-"))
            if name[1] == "length":
                ((unit, number),) = cell.items()
                assert training[unit] == number
            elif name[1] in training:
                assert training[name[1]] == (None if isinstance(cell, str) else cell)


def test_a_run_makes_the_models_that_its_metrics_read() -> None:
    """And what these learn from, but nothing of a benchmark that reads none."""
    trained = {"hospital_bartscore", "hospital_ctc", "hospital_distilled"}
    training = "hospital_course_training"
    assert {*dag._training_sources(ROOT, ["hospital_course"])} == trained | {training}
    assert dag._training_sources(ROOT, ["hospital_bartscore", training]) == [
        "hospital_ctc"
    ]
    assert dag._training_sources(ROOT, ["sample"]) == []
    assert {*dag._training_sources(ROOT, ["hospital_bartscore_double"])} == {
        "hospital_bartscore",
        training,
        "hospital_ctc",
    }


def test_a_training_reads_the_model_that_it_starts_from() -> None:
    """DVC trains that first; a base of the hub or of the project's own is not watched."""
    for name, bases in (
        ("hospital_bartscore_double", ["data/models/hospital_bartscore-rouge_topk"]),
        ("hospital_bartscore", []),
    ):
        content = yaml.safe_load((ROOT / f"benchmarks/{name}/dvc.yaml").read_text())
        read = content["stages"]["tune"]["do"]["deps"]
        assert [path for path in read if path.startswith("data/models/")] == bases
