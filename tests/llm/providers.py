"""What six providers document of their chat endpoints, as scripts for the scripted server.

Each takes what the documentation says that it takes, refuses what it says (or what its users
report) that it refuses, in the provider's own form, and answers with the members that it has beside
OpenAI's. The answer is always the one that `ANSWER` says.

- OpenAI: https://platform.openai.com/docs/api-reference/chat, .../docs/guides/reasoning
- Azure: https://learn.microsoft.com/azure/ai-foundry/openai/reference
- Anthropic: https://docs.claude.com/en/api/openai-sdk
- vLLM: https://docs.vllm.ai/en/stable/serving/openai_compatible_server/
- Ollama: https://docs.ollama.com/api/openai-compatibility
- OpenRouter: https://openrouter.ai/docs/api-reference/overview, .../errors
"""

import json
from typing import Any

from tests.llm.scripted_server import Answer, Call, completion, whole

ANSWER = '{"items":[{"number":1,"label":"yes"}]}'
TOKENS = ('{"items":[{"number":1,"label":"', "yes", '"}]}')
_OPENAI = {
    *("model", "messages", "temperature", "top_p", "seed", "max_tokens", "max_completion_tokens"),
    *("response_format", "logprobs", "top_logprobs", "reasoning_effort", "stop", "user", "store"),
}


def openai(call: Call) -> Answer:
    """OpenAI's own; `gpt-5` and `o` models think, and take neither a temperature nor max_tokens."""
    if call.path != "/v1/chat/completions" or not call.headers["authorization"].startswith(
        "Bearer"
    ):
        return _error(401, "Incorrect API key provided.", code="invalid_api_key")
    return _openai(call)


def azure(call: Call) -> Answer:
    """Azure's v1 (deployment in the body) and dated API (in the path), filters included."""
    v1 = call.path == "/openai/v1/chat/completions" and "authorization" in call.headers
    dated = call.path.startswith(f"/openai/deployments/{call.body['model']}/chat/completions?api-")
    if not (v1 or (dated and "api-key" in call.headers)):
        return _error(404, "Resource not found", code="404")
    if "forbidden" in call.prompt:
        inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}}
        said = "The response was filtered due to the prompt triggering the policy."
        return _error(400, said, code="content_filter", param="prompt", innererror=inner)
    return _openai(call, content_filter_results={"hate": {"filtered": False}})


def anthropic(call: Call) -> Answer:
    """Anthropic's compatible endpoint: what it does not know it ignores."""
    body = call.body
    if call.path != "/v1/chat/completions" or body.get("n", 1) != 1 or "max_tokens" not in body:
        return _error(400, "max_tokens: Field required", type="invalid_request_error", code=None)
    thinking = body.get("thinking", {}).get("type") == "enabled"
    if thinking and body.get("temperature", 1) != 1:
        said = "`temperature` may only be set to 1 when thinking is enabled."
        return _error(400, said, type="invalid_request_error", code=None)
    left = {"anthropic-ratelimit-requests-remaining": "49"}
    return _answer(call, message={"refusal": ""}, head=left, logprobs=None, reason="stop")


def vllm(call: Call) -> Answer:
    """vLLM with a reasoning parser: thoughts are a field; tokens have them, and one that ends."""
    body = call.body
    for name, most in (("top_logprobs", 20), ("temperature", 2)):
        if (body.get(name) or 0) > most:
            said = f"{name} must be at most {most}, got {body[name]}."
            return whole(
                {"error": {"message": said, "type": "BadRequestError", "param": name, "code": 400}},
                status="400 Bad Request",
            )
    quiet = body.get("chat_template_kwargs", {}).get("enable_thinking") is False
    thoughts = () if quiet else ("so", "</think>", "\n\n")
    message = {"reasoning": None if quiet else "so", "tool_calls": [], "function_call": None}
    tokens = (*thoughts, *TOKENS, "<|im_end|>")
    return _answer(call, message=message, logprobs=tokens, stop_reason=None, token_ids=None)


def ollama(call: Call) -> Answer:
    """Ollama: no key, no details in errors, and thoughts unless `reasoning_effort` is none."""
    if call.body["model"] != "llama3.1:8b":
        said = f"model '{call.body['model']}' not found"
        return _error(404, said, type="not_found_error", code=None)
    effort = call.body.get("reasoning_effort")
    if effort not in (None, "none", "low", "medium", "high"):
        said = f'invalid reasoning value: \'{effort}\' (must be "high", "medium", "low", or "none")'
        return _error(400, said, type="invalid_request_error", code=None)
    message = {} if effort == "none" else {"reasoning": "so"}
    return _answer(call, message=message, logprobs=TOKENS, bare=True)


def openrouter(call: Call) -> Answer:
    """OpenRouter: passes the provider's error on, and can fail with status 200."""
    body = call.body
    required = body.get("provider", {}).get("require_parameters")
    if body.get("top_logprobs") and required and "gpt-4o" not in body["model"]:
        said = "No endpoints found that can handle the requested parameters."
        return whole({"error": {"message": said, "code": 404}}, status="404 Not Found")
    if (body.get("temperature") or 0) > 1.5:
        raw = {"error": {"message": "Invalid 'temperature'", "param": "temperature", "code": "x"}}
        about = {"raw": json.dumps(raw), "provider_name": "OpenAI"}
        error = {"message": "Provider returned error", "code": 400, "metadata": about}
        return whole({"error": error}, status="400 Bad Request")
    if call.attempt == 1 and "flaky" in call.prompt:
        return whole(completion("", reason="error", error={"code": 502, "message": "down"}))
    native = {"native_finish_reason": "completed"}
    return _answer(
        call, message={"reasoning": None}, logprobs=TOKENS, choice=native, provider="OpenAI"
    )


def _openai(call: Call, **choice: Any) -> Answer:
    body = call.body
    unknown = sorted(body.keys() - _OPENAI)
    if unknown:
        said = f"Unrecognized request argument supplied: {unknown[0]}"
        return _error(400, said, code=None)
    if body["model"].startswith(("gpt-5", "o")):
        if "max_tokens" in body:
            said = (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use"
                " 'max_completion_tokens' instead."
            )
            return _error(400, said, code="unsupported_parameter", param="max_tokens")
        if body.get("temperature", 1) != 1:
            said = (
                f"Unsupported value: 'temperature' does not support {body['temperature']} with this"
                " model. Only the default (1) value is supported."
            )
            return _error(400, said, code="unsupported_value", param="temperature")
        if "logprobs" in body:
            return _error(403, "You are not allowed to request logprobs from this model", code=None)
    form = body.get("response_format", {})
    if form.get("type") == "json_object" and "json" not in call.prompt.lower():
        said = "'messages' must contain the word 'json' in some form"
        return _error(400, said, code=None, param="messages")
    if form.get("type") == "json_schema":
        assert form["json_schema"]["strict"] is True
        assert form["json_schema"]["schema"]["additionalProperties"] is False
    left = {"x-ratelimit-remaining-requests": "59", "x-ratelimit-reset-requests": "1s"}
    return _answer(call, message={"refusal": None}, logprobs=TOKENS, head=left, choice=choice)


def _error(
    status: int, message: str, *, type: str = "invalid_request_error", **more: Any
) -> Answer:
    return whole(
        {"error": {"message": message, "type": type, "param": None} | more}, status=f"{status} x"
    )


def _answer(
    call: Call,
    *,
    message: dict[str, Any],
    logprobs: tuple[str, ...] | None,
    reason: str = "stop",
    head: dict[str, str] | None = None,
    choice: dict[str, Any] | None = None,
    bare: bool = False,
    **others: Any,
) -> Answer:
    body = completion(ANSWER, reason=reason, **others)
    one = body["choices"][0]
    one["message"] = {"role": "assistant", "content": ANSWER} | message
    one |= choice or {}
    if logprobs is not None and call.body.get("logprobs"):
        count = call.body.get("top_logprobs", 0)
        one["logprobs"] = {"content": [_token(token, count, bare) for token in logprobs]}
    else:
        one["logprobs"] = None
    lines = "".join(f"{name}: {value}\r\n" for name, value in (head or {}).items())
    return whole(body, head=lines)


def _token(token: str, count: int, bare: bool) -> dict[str, Any]:
    """A token that has 0.9 of the probability; `no` has the rest, if so many were asked for."""
    top = [(token, -0.1054), ("no", -2.3026)][:count]
    more = {} if bare else {"bytes": list(token.encode())}
    return {
        **{"token": token, "logprob": -0.1054, **more},
        "top_logprobs": [{"token": one, "logprob": at, **more} for one, at in top],
    }
