"""What language models were asked and answered."""

from metassay.tables.columns import table

RESPONSES = table(
    "responses",
    "what language models were asked and answered; enough to replay a run without asking again",
    "key",
    """
    key text: SHA-256 of the request
    request text: the request as canonical JSON
    status ok|refused|truncated|error: what kind of answer it is; error: none came, however often it
      was asked
    finish_reason text?: why the model stopped, in the provider's word; of an error its code, as
      `http_500`; unreadable: the answer is not text, and is kept as ASCII
    prompt_tokens integer?: tokens read, as the provider counted them; null where that cannot be
      true
    completion_tokens integer?: tokens written, likewise
    text text?: the answer, or the words of a refusal; null of an error
    logprobs text?+: JSON of the answer's tokens: each with the logarithm of its probability, and
      the likeliest in its place with theirs; null where none were asked for, or none came
    """,
)
