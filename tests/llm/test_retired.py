"""A model that is gone, as providers say it, and what only looks like one."""

from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.llm.server_errors import Retired, is_retired
from tests.llm.batch_setup import asking, request, requests
from tests.llm.scripted_server import ScriptedServer, echo, whole

SAID = {
    "OpenAI": (404, {"message": "The model `m-1` does not exist", "code": "model_not_found"}),
    "OpenAI, deprecated": (404, {"message": "The model `m-1` has been deprecated", "code": None}),
    "vLLM": (404, {"message": "The model `m-1` does not exist.", "type": "NotFoundError"}),
    "Azure": (404, {"code": "DeploymentNotFound", "message": "The API deployment does not exist"}),
    "Groq": (400, {"message": "The model `m-1` is gone", "code": "model_decommissioned"}),
    "Mistral": (400, {"message": "Invalid model: m-1", "type": "invalid_model", "code": "1500"}),
    "Ollama": (404, {"message": 'model "m-1" not found, try pulling it first'}),
    "Anthropic": (404, {"type": "not_found_error", "message": "model: m-1"}),
    "Gemini": (404, [{"error": {"code": 404, "message": "models/m-1 is not found for v1"}}]),
    "transformers serve": (400, {"detail": "Server is pinned to 'm-2'; requested 'm-1'."}),
    "410": (410, {"message": "gone"}),
    "410 without a body": (410, None),
}
NOT_SO = {
    "wrong path, FastAPI": (404, {"detail": "Not Found"}),
    "wrong path, OpenAI": (404, {"message": "Invalid URL (POST /v2/chat/completions)"}),
    "wrong path, a page": (404, "<html>404 model m-1 not found</html>"),
    "wrong resource, Azure": (404, {"code": "404", "message": "Resource not found"}),
    "a prompt that is quoted": (400, {"message": "refused: the model was retired, said he"}),
    "a prompt with the name's letters": (400, {"message": "refused: she is no longer in form-1"}),
    "a prompt far from the name": (400, {"message": f"m-1: cannot read {'a b ' * 20} no longer"}),
    "no right to it": (403, {"message": "no access to the model", "code": "model_not_found"}),
    "overloaded": (503, {"message": "The model `m-1` is not found to be ready"}),
}


@pytest.mark.parametrize(("status", "body"), SAID.values(), ids=SAID)
def test_what_providers_say_of_a_model_that_is_gone(status: int, body: Any) -> None:
    assert is_retired(status, body, "m-1")


@pytest.mark.parametrize(("status", "body"), NOT_SO.values(), ids=NOT_SO)
def test_what_is_no_word_on_the_model(status: int, body: Any) -> None:
    assert not is_retired(status, body, "m-1")


def test_a_run_says_what_is_retired_and_asks_no_more(ledger) -> None:
    with ScriptedServer(echo) as server:
        ask = asking(server, ledger, concurrency=2)
        ask(requests(3))
        gone = {"error": SAID["Groq"][1]}
        server.script = lambda _: whole(gone, status="400 Bad Request")
        with pytest.raises(Retired) as caught:
            ask(requests(40))
        assert server.requests.total() <= 3 + 2  # none is sent twice
    said = str(caught.value)
    assert "answers, but says that it has no model 'm-1' any more" in said
    assert "Its 3 answers in the ledger, the last of 20" in said
    assert "run both judges side by side" in said
    assert "37 of 40 answers are missing" in said
    assert "base_url" not in said


def test_a_name_that_never_answered_may_be_wrong(ledger) -> None:
    gone = {"error": SAID["vLLM"][1]}
    with (
        ScriptedServer(lambda _: whole(gone, status="404 Not Found")) as server,
        pytest.raises(BadInput, match="of which the ledger has no answer: correct"),
    ):
        asking(server, ledger)([request(1)])
