"""Requests to language models, and their responses."""

from metassay.tables.columns import INTEGER, TEXT
from metassay.tables.parquet import Column, Table

RESPONSES = Table(
    name="responses",
    says=(
        "what language models were asked and answered; enough to replay a run "
        "without asking again"
    ),
    key=("key",),
    columns={
        "key": Column(TEXT, "SHA-256 of the request"),
        "request": Column(TEXT, "the request as canonical JSON"),
        "status": Column(
            TEXT,
            "what kind of answer it is; error: none came, however often it was asked",
            choices=(
                "ok",
                "refused",
                "truncated",
                "error",
            ),
        ),
        "finish_reason": Column(
            TEXT,
            (
                "why the model stopped, in the provider's word; of an error its "
                "code, as `http_500`; unreadable: the answer is not text, and is "
                "kept as ASCII"
            ),
            null=True,
        ),
        "prompt_tokens": Column(
            INTEGER,
            "tokens read, as the provider counted them; null where that cannot be true",
            null=True,
        ),
        "completion_tokens": Column(
            INTEGER,
            "tokens written, likewise",
            null=True,
        ),
        "text": Column(
            TEXT,
            "the answer, or the words of a refusal; null of an error",
            null=True,
        ),
        "logprobs": Column(
            TEXT,
            (
                "JSON of the answer's tokens: each with the logarithm of its "
                "probability, and the likeliest in its place with theirs; null where "
                "none were asked for, or none came"
            ),
            null=True,
            later=True,
        ),
    },
)
