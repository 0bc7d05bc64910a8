"""A tiny project with git and DVC whose states differ as a test says, without running a stage.

Its lock is that of the committed sample, with a language model as the judge. `rerun`
gives outputs the hashes that DVC would: another one where what went in is another.
"""

import copy
import hashlib
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from metassay.core.versions import answering
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.documents import DOCUMENT_CLUSTERS
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.parquet import empty, write
from metassay.tables.scores import SCORES
from metassay.tracking.comparison.sides import Side

ROOT = Path(__file__).parents[3]
TABLES = "data/tables/sample"
METRICS = {"rouge1": "higher", "edit_distance": "lower", "words": "neither"}
SYSTEMS = ("lead", "longest_turn")
MODELS = {
    "mini": {
        "endpoint": "here",
        "model": "mini-1",
        "max_tokens": 200,
        "prices": {"input": 1},
    },
    "other": {"endpoint": "there", "model": "other-1", "max_tokens": 200},
}
ENDPOINTS = {
    "here": {"kind": "openai", "base_url": "http://localhost:1/v1", "concurrency": 8},
    "there": {"kind": "openai", "base_url": "http://localhost:2/v1"},
}
READER = {
    "kind": "llm",
    "model": "mini",
    "style": "json",
    "per_call": "part",
    "shots": 0,
}

Lock = dict[str, Any]


def scores(documents: int = 26, *, seed: int = 0, **changes: float) -> pd.DataFrame:
    """A table SCORES: normal values per document; `changes` adds to a system's rouge1."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        row(
            f"d{n:03}",
            author,
            metric,
            value + changes.get(author, 0.0) * (metric == "rouge1"),
        )
        for author in SYSTEMS
        for metric in METRICS
        for n, value in enumerate(rng.normal(0.5, 0.1, documents))
    )


def row(
    document: str, author: str, metric: str, value: float, **more: Any
) -> dict[str, Any]:
    """One row of SCORES."""
    return {
        "doc_id": document,
        "author": author,
        "part": "full",
        "metric": metric,
        "judge": "none",
        "value": value,
        "n_expected": 1,
        "n_judged": 1,
        "n_failed": 0,
        "low": value,
        "high": value,
        "statistics": None,
        "recipe": f"{metric}|v:1",
        **more,
    }


def leaderboard(of: pd.DataFrame) -> pd.DataFrame:
    """A table LEADERBOARD that says which way each metric is better."""
    keys = of[["part", "metric", "judge", "author"]].drop_duplicates()
    names = [name for name in LEADERBOARD.columns if name not in keys]
    numbers = {name: 0 for name in names if name.startswith("n_")}
    rest = {name: np.nan for name in names if name not in numbers} | numbers
    return keys.assign(**rest | {"recipe": "r", "better": keys["metric"].map(METRICS)})


def side(of: pd.DataFrame, name: str = "now", **more: Any) -> Side:
    """A side without a lock or certificates."""
    fields = {"certificates": empty(CERTIFICATES), "clusters": {}, "lock": None} | more
    return Side(name, "sample", of, leaderboard(of), **fields)


def base_lock() -> Lock:
    """The sample's lock, with a language model as its judge."""
    text = (ROOT / "benchmarks/sample/dvc.lock").read_text(encoding="utf-8")
    text = re.sub(r"\blexical\b", "reader", text)
    lock: Lock = yaml.load(text, Loader=yaml.CSafeLoader)
    del lock["stages"]["judge@lexical_strict"]  # which asks no model
    shared = params_of(lock, "judge@reader")
    shared["judges.reader"] = copy.deepcopy(READER)
    params_of(lock, "judge@reader", "versions.yaml")["judges.reader"] = (
        version_of_reader()
    )
    params_of(lock, "report")["models"] = copy.deepcopy(MODELS)
    return lock


def version_of_reader() -> dict[str, Any]:
    """The version of the judge: of its kind, its prompts, and the model that it asks."""
    return {
        "version": 1,
        "prompts": {"prompts/judge.yaml": "a5c"},
        "models": {"mini": answering(MODELS, ENDPOINTS, "mini")},
    }


def params_of(lock: Lock, stage: str, file: str = "params.yaml") -> dict[str, Any]:
    """What a stage of a lock read of a file."""
    params: dict[str, Any] = lock["stages"][stage]["params"][file]
    return params


def rerun(lock: Lock, hashes: Mapping[str, str] | None = None) -> Lock:
    """The lock after a run of every stage. `hashes`: those of some outputs, by path."""
    outs: dict[str, str] = {}
    for name, stage in lock["stages"].items():
        for dep in stage.get("deps") or ():
            path = dep["path"]
            inside = {
                o: md5
                for o, md5 in outs.items()
                if o == path or o.startswith(path + "/")
            }
            if inside:
                dep["md5"] = (
                    inside[path] if path in inside else _hash(sorted(inside.items()))
                )
        read = list((stage.get("params") or {}).values())
        for out in stage["outs"]:
            went_in = [dep["md5"] for dep in stage.get("deps") or ()], read
            out["md5"] = (hashes or {}).get(out["path"]) or _hash(
                [name, out["path"], went_in]
            )
            outs[out["path"]] = out["md5"]
    return lock


def _hash(value: object) -> str:
    return hashlib.md5(repr(value).encode(), usedforsecurity=False).hexdigest()


class Project:
    """A project in `root`; each state is a branch."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lock = root / "benchmarks/sample/dvc.lock"

    @classmethod
    def begin(cls, root: Path) -> "Project":
        """A project without a table or a commit."""
        for file in ("params.yaml", "benchmarks/sample/params.yaml"):
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, root / file)
        (root / ".dvc").mkdir()
        (root / ".dvc/config").write_text(
            "[core]\n    analytics = false\n", encoding="utf-8"
        )
        ignored = "/data/tables/\n/.dvc/cache\n/.dvc/tmp\n"
        (root / ".gitignore").write_text(ignored, encoding="utf-8")
        cls(root).git("init", "-q", "-b", "main")
        return cls(root)

    def git(self, *words: str) -> str:
        """What git prints."""
        who = ("-c", "user.name=test", "-c", "user.email=test@localhost")
        command = ["git", *who, *words]
        return subprocess.check_output(
            command, cwd=self.root, stderr=subprocess.DEVNULL, text=True
        )

    def state(
        self,
        branch: str,
        of: pd.DataFrame,
        plant: Callable[[Lock], object] = lambda _: None,
    ) -> None:
        """Commit a state: tables in data/tables and DVC's cache, and the lock that names them."""
        self.git("checkout", "-q", "-B", branch)
        hashes = {}
        alone = pd.DataFrame({"doc_id": sorted(set(of["doc_id"]))})
        alone["cluster"] = alone["doc_id"]
        for table, frame in (
            (SCORES, of),
            (LEADERBOARD, leaderboard(of)),
            (CERTIFICATES, empty(CERTIFICATES)),
            (DOCUMENT_CLUSTERS, alone),
        ):
            file = self.root / TABLES / f"{table.name}.parquet"
            write(table, frame, file)
            md5 = hashlib.md5(file.read_bytes(), usedforsecurity=False).hexdigest()
            into = self.cached(md5)
            into.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, into)
            hashes[f"{TABLES}/{table.name}.parquet"] = md5
        lock = base_lock()
        plant(lock)
        rerun(lock, hashes)
        text = yaml.dump(lock, Dumper=yaml.CSafeDumper, sort_keys=False)
        self.lock.write_text(text, encoding="utf-8")
        self._settle(lock)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", branch)

    def _settle(self, lock: Lock) -> None:
        """Write the settings and versions that a lock says it was run with."""
        read = [stage.get("params") or {} for stage in lock["stages"].values()]
        for name in dict.fromkeys(file for files in read for file in files):
            like = ROOT / name
            content = yaml.load(
                like.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader
            )
            for key, value in (
                (k, v) for files in read for k, v in files.get(name, {}).items()
            ):
                *above, last = key.split(".")
                block = content
                for step in above:
                    block = block.setdefault(step, {})
                block[last] = value
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            text = yaml.dump(content, Dumper=yaml.CSafeDumper, sort_keys=False)
            (self.root / name).write_text(text, encoding="utf-8")

    def cached(self, md5: str) -> Path:
        """The file of a hash in DVC's cache."""
        return self.root / ".dvc/cache/files/md5" / md5[:2] / md5[2:]

    def outs(self) -> dict[str, str]:
        """The hash of each output of the lock, by path."""
        lock = yaml.safe_load(self.lock.read_text(encoding="utf-8"))
        return {
            out["path"]: out["md5"]
            for s in lock["stages"].values()
            for out in s["outs"]
        }
