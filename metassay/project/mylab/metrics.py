"""How much of a text denies something."""

from collections.abc import Sequence

from metassay.kinds import Description, Measured, Metric, Options, ratio


class NegationOptions(Options):
    """Which words deny."""

    words: list[str]


def measure(
    texts: Sequence[str], _evidence: Sequence[str], options: NegationOptions
) -> dict[str, list[Measured]]:
    """Return by metric a value per text; `evidence` is what `against` names, in the same order."""
    tokens = [text.lower().split() for text in texts]
    counts = [sum(word in options.words for word in words) for words in tokens]
    return {
        "negations": [
            ratio(n, len(words)) for n, words in zip(counts, tokens, strict=True)
        ]
    }


NEGATIONS = Metric(
    options=NegationOptions,
    measure=measure,
    # all that can change a value
    recipe=lambda options: f"words:{','.join(options.words)}",
    against="nothing",  # or "reference", "source"
    descriptions=(
        Description(
            name="negations",
            meaning="share of the text's words that deny something",
            better="neither",  # or "higher", "lower"
            range=(0, 1),
            missing="null for an empty text",
            source="this project",
            family="Copying and length",
        ),
    ),
)
