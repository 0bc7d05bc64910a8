"""Judges: each reads pairs of a premise and a hypothesis and answers what an instrument asks.

To add one: a module that exports its `record.JudgeKind` as `KIND`, and a line here.
"""

JUDGES: dict[str, str] = {
    "lexical": "metassay.judges.lexical",
}
