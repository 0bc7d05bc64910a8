"""What six providers document of their chat endpoints, as scripts for the scripted server.

Each takes what the documentation says that it takes, refuses what it says (or what its
users report) that it refuses, in the provider's own form, and answers `ANSWER` with the
members that it has beside OpenAI's.

- OpenAI: https://platform.openai.com/docs/api-reference/chat, .../docs/guides/reasoning
- Azure: https://learn.microsoft.com/azure/ai-foundry/openai/reference
- Anthropic: https://docs.claude.com/en/api/openai-sdk
- vLLM: https://docs.vllm.ai/en/stable/serving/openai_compatible_server/
- Ollama: https://docs.ollama.com/api/openai-compatibility
- OpenRouter: https://openrouter.ai/docs/api-reference/overview, .../errors
"""

from typing import Any

from tests.llm.scripted_server import Answer, Call, completion, whole

ANSWER = '{"items":[{"number":1,"label":"yes"}]}'
TOKENS = ('{"items":[{"number":1,"label":"', "yes", '"}]}')
_OPENAI = {
    "model",
    "messages",
    "temperature",
    "top_p",
    "seed",
    "max_tokens",
    "max_completion_tokens",
    "response_format",
    "logprobs",
    "top_logprobs",
    "reasoning_effort",
    "stop",
    "user",
    "store",
}


def openai(call: Call) -> Answer:
    """OpenAI's own; `gpt-5` and `o` models think, and take neither a temperature nor max_tokens."""
    bearer = call.headers["authorization"].startswith("Bearer")
    if call.path != "/v1/chat/completions" or not bearer:
        return _error(401, "Incorrect API key provided.", code="invalid_api_key")
    return _openai(call)


def azure(call: Call) -> Answer:
    """Azure's v1 (deployment in the body) and dated API (in the path), filters included."""
    v1 = call.path == "/openai/v1/chat/completions" and "authorization" in call.headers
    dated = call.path.startswith(
        f"/openai/deployments/{call.body['model']}/chat/completions?api-"
    )
    if not (v1 or (dated and "api-key" in call.headers)):
        return _error(404, "Resource not found", code="404")
    if "forbidden" in call.prompt:
        inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}}
        words = "The response was filtered due to the prompt triggering the policy."
        return _error(
            400, words, code="content_filter", param="prompt", innererror=inner
        )
    return _openai(call, content_filter_results={"hate": {"filtered": False}})


def anthropic(call: Call) -> Answer:
    """Anthropic's compatible endpoint: what it does not know it ignores."""
    body = call.body
    if (
        call.path != "/v1/chat/completions"
        or body.get("n", 1) != 1
        or "max_tokens" not in body
    ):
        return _error(400, "max_tokens: Field required")
    left = {"anthropic-ratelimit-requests-remaining": "49"}
    return _answer(call, {"refusal": ""}, None, head=left)


def vllm(call: Call) -> Answer:
    """vLLM with a reasoning parser: thoughts are a field; tokens have them, and an end."""
    body = call.body
    quiet = body.get("chat_template_kwargs", {}).get("enable_thinking") is False
    thoughts = () if quiet else ("so", "</think>", "\n\n")
    message = {
        "reasoning": None if quiet else "so",
        "tool_calls": [],
        "function_call": None,
    }
    tokens = (*thoughts, *TOKENS, "<|im_end|>")
    return _answer(call, message, tokens, stop_reason=None, token_ids=None)


def ollama(call: Call) -> Answer:
    """Ollama: no key, no details in errors, and thoughts unless `reasoning_effort` is none."""
    if call.body["model"] != "llama3.1:8b":
        return _error(
            404, f"model '{call.body['model']}' not found", type="not_found_error"
        )
    effort = call.body.get("reasoning_effort")
    if effort not in (None, "none", "low", "medium", "high"):
        return _error(
            400, f'invalid reasoning value: \'{effort}\' (must be "high" or "none")'
        )
    return _answer(
        call, {} if effort == "none" else {"reasoning": "so"}, TOKENS, bare=True
    )


def openrouter(call: Call) -> Answer:
    """OpenRouter: passes the provider's error on, and can fail with status 200."""
    if call.attempt == 1 and "flaky" in call.prompt:
        return whole(
            completion("", reason="error", error={"code": 502, "message": "down"})
        )
    native = {"native_finish_reason": "completed"}
    return _answer(call, {"reasoning": None}, TOKENS, choice=native, provider="OpenAI")


def _openai(call: Call, **choice: Any) -> Answer:
    body = call.body
    if unknown := sorted(body.keys() - _OPENAI):
        return _error(400, f"Unrecognized request argument supplied: {unknown[0]}")
    if body["model"].startswith(("gpt-5", "o")):
        if "max_tokens" in body:
            words = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            return _error(400, words, code="unsupported_parameter", param="max_tokens")
        if body.get("temperature", 1) != 1:
            words = (
                f"Unsupported value: 'temperature' does not support {body['temperature']} with this"
                " model. Only the default (1) value is supported."
            )
            return _error(400, words, code="unsupported_value", param="temperature")
        if "logprobs" in body:
            return _error(
                403, "You are not allowed to request logprobs from this model"
            )
    form = body.get("response_format", {})
    if form.get("type") == "json_object" and "json" not in call.prompt.lower():
        words = "'messages' must contain the word 'json' in some form"
        return _error(400, words, param="messages")
    if form.get("type") == "json_schema":
        assert form["json_schema"]["strict"] is True
        assert form["json_schema"]["schema"]["additionalProperties"] is False
    left = {"x-ratelimit-remaining-requests": "59", "x-ratelimit-reset-requests": "1s"}
    return _answer(call, {"refusal": None}, TOKENS, head=left, choice=choice)


def _error(status: int, message: str, **more: Any) -> Answer:
    usual = {
        "message": message,
        "type": "invalid_request_error",
        "param": None,
        "code": None,
    }
    return whole({"error": usual | more}, status=f"{status} x")


def _answer(
    call: Call,
    message: dict[str, Any],
    logprobs: tuple[str, ...] | None,
    *,
    head: dict[str, str] | None = None,
    choice: dict[str, Any] | None = None,
    bare: bool = False,
    **others: Any,
) -> Answer:
    body = completion(ANSWER, **others)
    first = body["choices"][0]
    first |= {
        "message": {"role": "assistant", "content": ANSWER} | message,
        "logprobs": None,
    }
    first |= choice or {}
    if logprobs is not None and call.body.get("logprobs"):
        count = call.body.get("top_logprobs", 0)
        first["logprobs"] = {
            "content": [_token(token, count, bare) for token in logprobs]
        }
    lines = "".join(f"{name}: {value}\r\n" for name, value in (head or {}).items())
    return whole(body, head=lines)


def _token(token: str, count: int, bare: bool) -> dict[str, Any]:
    """A token that has 0.9 of the probability; `no` has the rest, if so many were asked for."""
    top = [(token, -0.1054), ("no", -2.3026)][:count]
    more = {} if bare else {"bytes": list(token.encode())}
    others = [{"token": other, "logprob": value, **more} for other, value in top]
    return {"token": token, "logprob": -0.1054, **more, "top_logprobs": others}
