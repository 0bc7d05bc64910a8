"""A judge that compares words: a baseline for every other judge."""

from collections.abc import Sequence

from metassay.kinds import JudgeKind, Judgment, Options, Pair


class Verbatim:
    """Entailed where the premise has every word of the hypothesis."""

    signature = "verbatim, version 1"  # all that can change an answer
    notes: Sequence[str] = ()

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        """Return one judgment per pair, in the order of the pairs."""
        return [Judgment("ok", label=self._label(pair)) for pair in pairs]

    def _label(self, pair: Pair) -> str:
        words = set(pair.hypothesis.lower().split())
        return (
            "entailed" if words <= set(pair.premise.lower().split()) else "not_entailed"
        )


VERBATIM = JudgeKind(
    options=Options,  # nothing to choose
    make=lambda _options, _resources, _members: Verbatim(),
    instruments=("entailment", "attribution", "attribution_alone", "attribution_rest"),
    likely=lambda _: (),  # it gives no probability
    abstains=lambda _: (),  # and always answers
)
