"""A batch endpoint on loopback that does what its script says, and counts what it charges.

It speaks /v1/files, /v1/batches and /v1/chat/completions. Each request of a batch that
it runs is a charge, under its `custom_id`; a request that expires or fails is none. A
batch runs the moment it is created, and is called in progress for as many looks as
`looks` says.
"""

import json
import os
import re
import signal
from collections import Counter
from collections.abc import Callable
from email import message_from_bytes
from typing import Any

from tests.llm.scripted_server import ScriptedServer, completion, http

# What becomes of a line: "ok", "expired", "missing", "twice", "garbled", or an HTTP
# status.
Fate = str | int


class BatchServer(ScriptedServer):
    """Started and stopped as a context.

    `fate(key, time)` is asked for the time-th run of a key. `killed`: (process, step,
    before) kills that process when this step is reached for the first time, before the
    server does it or after; steps are `upload`, `create`, `list`, `look`, `read`,
    `chat`. `lose_uploads`: so many uploads are acknowledged and lost. `fail_batches`:
    codes with which the next batches fail as a whole. `errors`: statuses that the next
    calls of a step get, after the server did what was asked for if they are negative.
    """

    def __init__(self) -> None:
        super().__init__()
        self.fate: Callable[[str, int], Fate] = lambda key, time: "ok"
        self.looks, self.lose_uploads, self.ended = 1, 0, "completed"
        self.fail_batches: list[str] = []
        self.killed: tuple[int, str, bool] | None = None
        self.errors: dict[str, list[int]] = {}
        self.charges, self.runs, self.steps = (
            Counter[str](),
            Counter[str](),
            Counter[str](),
        )
        self.files: dict[str, bytes] = {}
        self.bodies: list[bytes] = []
        self.batches: dict[str, dict[str, Any]] = {}

    def received(self, connection: Any, path: str, head: str, body: bytes) -> None:
        self.bodies.append(body)
        path, _, query = path.removeprefix("/v1").partition("?")
        method = head.partition(" ")[0]
        sent = body if method == "POST" else query.encode()
        status, content = self._step(method, path, head, sent)
        connection.answer(http(status, content), "none")

    def _step(
        self, method: str, path: str, head: str, body: bytes
    ) -> tuple[int, bytes]:
        look = "list" if path == "/batches" else "look"
        steps = {
            "POST": {"files": "upload", "batches": "create", "chat": "chat"},
            "GET": {"batches": look, "files": "read"},
        }
        step = steps[method][path.split("/")[1]]
        self.steps[step] += 1
        status = self.errors[step].pop(0) if self.errors.get(step) else 0
        if status > 0:
            return status, _json({"error": {"message": "not now", "code": None}})
        self._kill(step, before=True)
        content = getattr(self, f"_{step}")(path, head, body)
        self._kill(step, before=False)
        if status < 0 or content is None:
            return -status or 404, _json(
                {"error": {"message": "not now", "code": None}}
            )
        return 200, content if isinstance(content, bytes) else _json(content)

    def _kill(self, step: str, *, before: bool) -> None:
        if self.killed is not None and self.killed[1:] == (step, before):
            os.kill(self.killed[0], signal.SIGKILL)
            self.killed = None

    def _upload(self, path: str, head: str, body: bytes) -> Any:
        lines = head.partition("\r\n")[2].encode()
        parts = message_from_bytes(lines + b"\r\n\r\n" + body).get_payload()
        by_name = {
            part.get_param("name", header="content-disposition"): part.get_payload(
                decode=True
            )
            for part in parts  # type: ignore[union-attr]
        }
        assert by_name["purpose"] == b"batch"  # type: ignore[index]
        name = f"file-{len(self.files)}-{self.steps['upload']}"
        if self.lose_uploads:
            self.lose_uploads -= 1
        else:
            self.files[name] = by_name["file"]  # type: ignore[index]
        return {"id": name, "object": "file"}

    def _create(self, path: str, head: str, body: bytes) -> Any:
        order = json.loads(body)
        assert (order["completion_window"], order["endpoint"]) == (
            "24h",
            "/v1/chat/completions",
        )
        if order["input_file_id"] not in self.files:
            return None
        number = f"batch_{len(self.batches)}"
        lines = [
            json.loads(line) for line in self.files[order["input_file_id"]].splitlines()
        ]
        assert all(len(line["custom_id"]) <= 64 for line in lines)
        counts = {"total": len(lines), "completed": 0, "failed": 0}
        batch = {
            "id": number,
            "object": "batch",
            "status": "in_progress",
            "created_at": 1 << 40,
            "metadata": order["metadata"],
            "looks": self.looks,
            "ends": self.ended,
            "request_counts": counts,
        }
        self.batches[number] = batch
        if self.fail_batches:
            batch |= {
                "ends": "failed",
                "errors": {"data": [{"code": self.fail_batches.pop(0)}]},
            }
            return batch
        out, wrong = [], []
        for line in reversed(lines):  # no order is promised
            self._run(line["custom_id"], line, out, wrong)
        for kind, written in (("output", out), ("error", wrong)):
            if written:
                self.files[f"{number}-{kind}"] = b"\n".join(written) + b"\n"
                batch[f"{kind}_file_id"] = f"{number}-{kind}"
        counts |= {"completed": len(out), "failed": len(wrong)}
        return batch

    def _run(
        self, key: str, line: dict[str, Any], out: list[bytes], wrong: list[bytes]
    ) -> None:
        self.runs[key] += 1
        fate = self.fate(key, self.runs[key])
        row: dict[str, Any] = {
            "id": "r",
            "custom_id": key,
            "response": None,
            "error": None,
        }
        if fate == "expired":
            wrong.append(
                _json(row | {"error": {"code": "batch_expired", "message": "late"}})
            )
        elif isinstance(fate, int):
            quoted = line["body"]["messages"][-1]["content"]
            error = {"error": {"message": f"cannot serve {quoted}", "code": None}}
            wrong.append(
                _json(row | {"response": {"status_code": fate, "body": error}})
            )
        else:
            self.charges[key] += 1
            good, other = (
                _json(
                    row
                    | {
                        "response": {
                            "status_code": 200,
                            "body": answer_to(line["body"], n),
                        }
                    }
                )
                for n in (self.charges[key], 99)
            )
            bad = _json(row | {"response": {"status_code": 500, "body": {}}})
            lines = {"missing": [], "garbled": [good[:-9]], "twice": [good, other]}
            out += lines.get(fate, [good]) if fate != "first failed" else [bad, good]

    def _list(self, path: str, head: str, body: bytes) -> Any:
        query = body.decode()
        batches = list(reversed(self.batches.values()))
        after = re.search(r"after=(\w+)", query)
        start = 1 + [batch["id"] for batch in batches].index(after[1]) if after else 0
        return {
            "data": batches[start : start + 2],
            "has_more": start + 2 < len(batches),
        }

    def _look(self, path: str, head: str, body: bytes) -> Any:
        batch = self.batches.get(path.rpartition("/")[2])
        if batch is not None and batch["looks"] <= 0:
            return batch | {"status": batch["ends"]}
        if batch is not None:
            batch["looks"] -= 1
        return batch

    def _read(self, path: str, head: str, body: bytes) -> Any:
        return self.files.get(path.split("/")[2])

    def _chat(self, path: str, head: str, body: bytes) -> Any:
        self.charges["alone"] += 1
        return answer_to(json.loads(body), 1)


def answer_to(body: dict[str, Any], time: int) -> dict[str, Any]:
    """The answer to a body, with the number of times that it was answered."""
    text = f"answer {time} to {body['messages'][-1]['content']}"
    return completion(text, prompt_tokens=10, completion_tokens=4)


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
