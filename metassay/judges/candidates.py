"""Other settings of a judge that may be better, for `metassay improve`.

Each candidate is a block of params.yaml that differs from the judge's in one thing, so
that what is chosen says what helped. Kinds of candidates are those that the options of
kinds already have; nothing here knows what a candidate answers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import yaml

from metassay.core import strict_yaml
from metassay.core.errors import BadInput
from metassay.core.kinds import Chosen, choose
from metassay.core.options import PARAMS, Block
from metassay.judges import JUDGES
from metassay.judges.llm import LlmOptions, question_file
from metassay.judges.llm_calls import FORMS, Form, Style
from metassay.judges.make import instruments_of
from metassay.judges.protocol import TWO_WAY
from metassay.llm.prompts import PROMPTS

PRESENT = "present"  # what changed in the judge that is in use
CHANGES = ("prompts", "shots", "styles", "thresholds", "judges")
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
BANDS = ((0.1, 0.9), (0.3, 0.7))  # of a cascade: between them its first judge is unsure
SETS = 4  # of examples drawn from the labels
SHOTS = 3  # examples of a set: as many as every prompt of the project has
_ITEMS = 4  # questions of an example at most
_REASONED: tuple[Style, ...] = ("cot", "json_cot")


@dataclass(frozen=True)
class Candidate:
    """A judge that may be better: `change` is one of CHANGES, or PRESENT."""

    name: str
    change: str
    block: Block
    prompt: Path | None = None  # a file that was written for it

    @property
    def chosen(self) -> Chosen:
        """The kind's record and the options; BadInput if they are not valid."""
        return choose(JUDGES, self.block, where=f"candidate {self.name}")


@dataclass(frozen=True)
class Wanted:
    """What candidates are made of.

    `shown`: labelled rows that prompts may show (docs/judges.md), with premise,
    hypothesis, label and reason. `beside`: other judges by name. `folder`: where prompts
    of candidates are written. `changes`: the kinds of candidates.
    """

    judge: str
    block: Block
    instrument: str
    shown: pd.DataFrame
    beside: Mapping[str, Block]
    folder: Path
    changes: Sequence[str]


def make_candidates(
    wanted: Wanted, rng: np.random.Generator
) -> tuple[list[Candidate], list[str]]:
    """Return the present judge and all candidates, and a line for each kind that has none.

    Raises BadInput if a file of prompts/ or a named judge cannot be used.
    """
    present = Candidate(wanted.judge, PRESENT, dict(wanted.block))
    candidates = [present]
    lines: list[str] = []
    chosen = present.chosen
    is_llm = isinstance(chosen.options, LlmOptions)
    by_change: dict[str, list[Candidate]] = {}
    if is_llm:
        by_change["prompts"] = [*_other_prompts(wanted, chosen.options)]
        by_change["shots"] = [*_other_shots(wanted, chosen.options, rng)]
        by_change["styles"] = [*_other_styles(wanted, chosen.options)]
    by_change["thresholds"] = [*_other_thresholds(wanted, chosen)]
    by_change["judges"] = [*_other_judges(wanted)]
    for change in wanted.changes:
        usable = [
            each for each in by_change.get(change, []) if _is_usable(each, wanted)
        ]
        candidates += usable
        if not usable:
            lines.append(f"no {change}: {_say_why(change, wanted, is_llm=is_llm)}")
    return candidates, lines


def find_form(instrument: str) -> Form:
    """Return how a language model is asked a question."""
    return next(form for form in FORMS if instrument in form.instruments)


def write_prompt(file: Path, content: Mapping[str, Any]) -> None:
    """Write a prompt's file as people write them, with texts in blocks."""
    file.parent.mkdir(parents=True, exist_ok=True)
    text = yaml.dump(
        dict(content),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=100,
    )
    file.write_text(text, encoding="utf-8", newline="\n")


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks."""


def _write_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _write_text)


def reword(
    wanted: Wanted, name: str, change: str, content: Mapping[str, Any]
) -> Candidate:
    """Write a prompt for a candidate that is else as the present judge."""
    file = wanted.folder / f"{name}.yaml"
    write_prompt(file, content)
    prompts = {**_prompts(wanted.block), wanted.instrument: file.as_posix()}
    return Candidate(name, change, {**wanted.block, "prompts": prompts}, file)


def read_present_prompt(wanted: Wanted, options: LlmOptions) -> dict[str, Any]:
    """Return the content of the file by which the present judge is asked."""
    file = question_file(find_form(wanted.instrument), options)
    content: Any = strict_yaml.load(file)
    return dict(content)


def _prompts(block: Block) -> dict[str, str]:
    return dict(block.get("prompts") or {})


def _other_prompts(wanted: Wanted, options: LlmOptions) -> Iterator[Candidate]:
    """Take every file of prompts/ whose name begins as the question's: NAME-strict.yaml."""
    form = find_form(wanted.instrument)
    present = question_file(form, options)
    usual = PROMPTS / f"{form.prompt}.yaml"
    for file in [usual, *sorted(PROMPTS.glob(f"{form.prompt}-*.yaml"))]:
        if file == present:
            continue
        prompts = {**_prompts(wanted.block), wanted.instrument: file.as_posix()}
        block = {**wanted.block, "prompts": prompts}
        yield Candidate(f"prompt {file.stem}", "prompts", block)


def _other_shots(
    wanted: Wanted, options: LlmOptions, rng: np.random.Generator
) -> Iterator[Candidate]:
    """Show none or all of the prompt's examples, or sets of examples drawn from the labels."""
    content = read_present_prompt(wanted, options)
    n_examples = len(content.get("examples") or ())
    for shots in (0, min(n_examples, SHOTS)):
        if shots != options.shots:
            yield Candidate(f"{shots} shots", "shots", {**wanted.block, "shots": shots})
    rows = wanted.shown
    if options.style in _REASONED:  # examples without a reason would teach to give none
        rows = rows[rows["reason"].str.strip() != ""]
    for number in range(1, SETS + 1):
        examples = _draw_examples(rows, find_form(wanted.instrument), rng)
        if len(examples) < SHOTS:
            return
        drawn = reword(
            wanted,
            f"{wanted.judge}_shots_{number}",
            "shots",
            {**content, "examples": examples},
        )
        yield Candidate(
            f"labelled shots {number}",
            "shots",
            {**drawn.block, "shots": SHOTS},
            drawn.prompt,
        )


def _draw_examples(
    rows: pd.DataFrame, form: Form, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Draw premises at random, with their rows solved; the rarest label comes first."""
    if rows.empty:
        return []
    counts = rows["label"].map(rows["label"].value_counts())
    order = rows.assign(rare=counts, draw=rng.random(len(rows)))
    # Each label has its turn, the rarest first.
    order["turn"] = order.sort_values("draw").groupby("label").cumcount()
    order = order.sort_values(["turn", "rare", "draw"])
    examples = []
    for premise in order["premise"].drop_duplicates()[:SHOTS]:
        of_premise = order[order["premise"] == premise][:_ITEMS]
        items = []
        for row in of_premise.itertuples():
            answer = row.label if form.field == "label" else int(str(row.label))
            solved = {
                form.asks[0]: row.hypothesis,
                "reason": row.reason,
                form.field: answer,
            }
            items.append(solved)
        examples.append({form.material: premise, "items": items})
    return examples


def _other_styles(wanted: Wanted, options: LlmOptions) -> Iterator[Candidate]:
    """Take the other forms of an answer: with and without reasons, as lines and as JSON."""
    for style in get_args(Style):
        # The probability of a label that follows reasons is that of the reasons.
        if style in _REASONED and options.probability == "logprobs":
            continue
        if style != options.style:
            yield Candidate(
                f"style {style}", "styles", {**wanted.block, "style": style}
            )


def _other_thresholds(wanted: Wanted, chosen: Chosen) -> Iterator[Candidate]:
    """Move the threshold of a judge that has one for the question, within its band."""
    options = chosen.options
    threshold = getattr(options, "threshold", None)
    if threshold is None or wanted.instrument not in TWO_WAY:
        return
    if isinstance(options, LlmOptions) and options.probability == "none":
        return
    low, high = getattr(options, "abstain", None) or (0.0, 1.0)
    for value in THRESHOLDS:
        if value != threshold and low <= value <= high:
            block = {**wanted.block, "threshold": value}
            yield Candidate(f"threshold {value:g}", "thresholds", block)


def _other_judges(wanted: Wanted) -> Iterator[Candidate]:
    """Take the named judges alone, in juries of three with the present one, and in cascades."""
    present = wanted.block
    for name, block in wanted.beside.items():
        yield Candidate(name, "judges", dict(block))
    for first, second in combinations(wanted.beside, 2):
        members = {
            wanted.judge: present,
            first: wanted.beside[first],
            second: wanted.beside[second],
        }
        block = {"kind": "jury", "by": "majority", "members": members}
        yield Candidate(f"jury with {first} and {second}", "judges", block)
    for name, block in wanted.beside.items():
        for low, high in BANDS:
            band = f"{low:g}-{high:g}"
            for before, members in (
                (name, {"first": block, "then": present}),
                (wanted.judge, {"first": present, "then": block}),
            ):
                after = wanted.judge if before == name else name
                cascade = {"kind": "cascade", "unsure": [low, high], "members": members}
                yield Candidate(
                    f"cascade {before}, then {after}, unsure {band}", "judges", cascade
                )


def _is_usable(candidate: Candidate, wanted: Wanted) -> bool:
    """Whether a candidate has valid options, and a question that it can answer.

    A cascade whose first judge gives no probability is not valid, for example. What the
    user named alone must be.
    """
    try:
        chosen = candidate.chosen
        chosen.record.members(chosen.options)
        return wanted.instrument in instruments_of(chosen)
    except BadInput:
        if candidate.name in wanted.beside:
            raise
        return False


def _say_why(change: str, wanted: Wanted, *, is_llm: bool) -> str:
    """Say why a kind of candidates is empty, and what would make one."""
    kind = wanted.block.get("kind")
    if change in ("prompts", "shots", "styles") and not is_llm:
        return f"a judge of kind {kind} has none"
    if change == "prompts":
        name = find_form(wanted.instrument).prompt
        return (
            f"write variants beside {PROMPTS / name}.yaml, such as {name}-strict.yaml"
        )
    if change == "thresholds":
        return "the judge has none for this question, or gives no probability"
    if change == "judges":
        return f"name judges of {PARAMS} with --beside"
    return "none differs from the present judge"
