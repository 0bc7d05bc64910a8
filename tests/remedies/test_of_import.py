"""The refusals of `import`: each printed remedy is followed to tables."""

import io
import json
import zipfile

import pytest

from tests.imports.test_corrections import log
from tests.imports.test_corrections import sample as inspect_sample
from tests.remedies.following import Refusal, add, edit, retype, run_printed, write
from tests.remedies.tables import PLAIN

LOG = json.dumps(log(inspect_sample(1)))


def lines(*records: dict[str, object]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def answer(doc: object, text: str, **more: object) -> dict[str, object]:
    return {"doc_id": doc, "resps": [[text]], "metrics": ["acc"], "acc": 1, **more}


def archive(sample: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as log_archive:
        log_archive.writestr("header.json", '{"eval": {"task": "t", "model": "m"}}')
        log_archive.writestr("samples/1_epoch_1.json", sample)
    return data.getvalue()


NAMELESS = [{**answer(None, "Yes."), "doc": {"key": "q1"}}]
ARGILLA = {"id": 1, "fields": {}, "responses": {}, "suggestions": {}, "metadata": {}}

REFUSALS: dict[str, Refusal] = {
    "no tool": Refusal(
        "import log.json --out imported",
        {"log.json": LOG},
        "import: name the tool that wrote log.json, a log of Inspect",
        "metassay import inspect log.json --out imported",
        (run_printed,),
    ),
    "a misspelt tool": Refusal(
        "import inspct log.json --out imported",
        {"log.json": LOG},
        "there is no 'inspct'; choose from inspect",
        "did you mean 'inspect'?",
        (retype("inspct", "inspect"),),
    ),
    "no folder for the result": Refusal(
        "import inspect log.json",
        {"log.json": LOG},
        "the following arguments are required: --out",
        "--out",
        (retype("log.json", "log.json --out imported"),),
    ),
    "a folder that holds something": Refusal(
        "import inspect log.json --out study",
        {"log.json": LOG, "study/a.txt": "mine"},
        "--out study: holds something already",
        "name another one",
        (retype("--out study", "--out imported"),),
    ),
    "another tool's file": Refusal(
        "import deepeval log.json --out imported",
        {"log.json": LOG},
        "log.json: is a log of Inspect",
        "metassay import inspect reads it",
        (retype("deepeval", "inspect"),),
    ),
    "a table": Refusal(
        "import inspect r.csv --out imported",
        {"r.csv": PLAIN},
        "r.csv: is a table with 'doc_id', 'system', 'fluency', and not a log of Inspect",
        "metassay judge-check, meta-eval and init read tables as they are",
        (retype("import inspect r.csv --out imported", "meta-eval r.csv"),),
    ),
    "a folder without such files": Refusal(
        "import lm-eval runs --out imported",
        {"runs/log.json": LOG, "runs/samples.jsonl": lines(answer(1, "Yes."))},
        "runs: has no file called samples_*.jsonl",
        "name files",
        (retype("lm-eval runs", "lm-eval runs/samples.jsonl"),),
    ),
    "a log without samples": Refusal(
        "import inspect log.json --out imported",
        {"log.json": json.dumps(log())},
        "log.json: has no record",
        "export it again if it should",
        (write("log.json", LOG),),
    ),
    "JSON that is cut": Refusal(
        "import inspect log.json --out imported",
        {"log.json": LOG[:-30]},
        "log.json: is not valid JSON",
        "write it again, or correct it",
        (write("log.json", LOG),),
    ),
    "a damaged log": Refusal(
        "import inspect log.eval --out imported",
        {"log.eval": b"PK\3\4 no archive", "log.json": LOG},
        "log.eval: is damaged, or is not a log of Inspect",
        "write it again, or correct it",
        (retype("log.eval", "log.json"),),
    ),
    "a damaged sample": Refusal(
        "import inspect log.eval --out imported",
        {"log.eval": archive("no JSON"), "log.json": LOG},
        "log.eval: sample 1: is damaged",
        "write it again, or correct it",
        (retype("log.eval", "log.json"),),
    ),
    "a damaged table": Refusal(
        "import phoenix a.parquet --out imported",
        {
            "a.parquet": b"PAR1PAR1",
            "a.csv": "span_id,annotator_kind,name,score\ns,HUMAN,ok,1\n",
        },
        "a.parquet: is damaged or is not a Parquet file",
        "write it again, or correct it",
        (retype("a.parquet", "a.csv"),),
    ),
    "JSON that is too deep": Refusal(
        "import inspect log.json --out imported",
        {"log.json": "[" * 100_000},
        "log.json: is not readable as JSON",
        "write it again, or correct it",
        (write("log.json", LOG),),
    ),
    "bytes of another encoding": Refusal(
        "import lm-eval samples_t.jsonl --out imported",
        {
            "samples_t.jsonl": lines(answer(1, "Yes.")).encode()
            + b'{"doc_id": "\xff"}\n'
        },
        "samples_t.jsonl: line 2: is not UTF-8",
        "write it again, or correct it",
        (write("samples_t.jsonl", lines(answer(1, "Yes."))),),
    ),
    "a record that does not fit": Refusal(
        "import inspect log.json --out imported",
        {"log.json": json.dumps(log({**inspect_sample(1), "scores": [1]}))},
        "log.json: has a record, after 0 others, that does not fit a log of Inspect",
        "correct the record or remove it",
        (write("log.json", LOG),),
    ),
    "a line that is no object": Refusal(
        "import lm-eval samples_t.jsonl --out imported",
        {"samples_t.jsonl": lines(answer(1, "Yes.")) + "[1]\n"},
        "samples_t.jsonl: line 2: is not an object with named values",
        "correct it",
        (edit("samples_t.jsonl", "[1]\n", ""),),
    ),
    "a record without a document": Refusal(
        "import lm-eval samples_t.jsonl --out imported",
        {"samples_t.jsonl": lines(*NAMELESS)},
        "has no name for its document",
        "--columns doc=FIELD",
        (add("--columns doc=FIELD", FIELD="doc.key"),),
    ),
    "a role that is none": Refusal(
        "import lm-eval samples_t.jsonl --out imported --columns document=doc_id",
        {"samples_t.jsonl": lines(answer(1, "Yes."))},
        "--columns document=doc_id: write ROLE=COLUMN",
        "roles are doc, system, judge, human",
        (retype("document=", "doc="),),
    ),
    "texts that contradict each other": Refusal(
        "import lm-eval samples_t.jsonl --out imported",
        {
            "samples_t.jsonl": lines(
                answer(1, "Yes.", model="a"), answer(1, "No.", model="b")
            )
        },
        "line 2: has another text than before",
        "tell them apart by --columns doc=FIELD or system=FIELD",
        (retype("--out imported", "--out imported --columns system=model"),),
    ),
    "a preference between nothing": Refusal(
        "import preferences p.jsonl --out imported",
        {
            "p.jsonl": lines(
                {"question_id": 1, "model_a": "m", "model_b": "n", "winner": "model_a"},
                {
                    "question_id": 2,
                    "model_a": "m",
                    "model_b": None,
                    "winner": "model_a",
                },
            )
        },
        "line 2: does not name two systems or two texts",
        "docs/importing.md has the fields that are read",
        (edit("p.jsonl", '"model_b": null', '"model_b": "n"'),),
    ),
    "a record of Argilla without answers": Refusal(
        "meta-eval a.jsonl",
        {"a.jsonl": lines(ARGILLA)},
        "a.jsonl: contains records of Argilla",
        "metassay import argilla a.jsonl --out imported",
        (run_printed,),
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_printed_remedy_works(terminal, tmp_path, case: str) -> None:
    refusal = REFUSALS[case]
    refused = refusal.provoke(terminal, tmp_path)
    done = refusal.follow(terminal, refused)
    assert done.code == 0, done.err
