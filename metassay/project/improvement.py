"""Find a better judge from labels: ask candidates, choose, and tell on other documents.

Half of the documents tell, once, and nothing that is chosen or shown depends on them. All
answers go through the ledger, so that the same call again asks nothing.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.api.judge_check import JudgeCheck, judge_check
from metassay.api.judge_choice import FEWEST, choice_rows, compare_sentences
from metassay.core.errors import BadInput, raise_problems
from metassay.core.kinds import Chosen
from metassay.core.options import PARAMS
from metassay.format.numbers import counted, short
from metassay.judges.candidates import PRESENT, Candidate, Wanted, reword
from metassay.judges.make import instruments_of, llm_members, make_judge
from metassay.judges.rewriting import LENGTH, read_rewrite
from metassay.judges.run import judge_pairs
from metassay.llm.endpoints import find_model
from metassay.llm.messages import ChatRequest, Reply
from metassay.llm.needs import Model, Requests, Resources, Use
from metassay.llm.session import Session, model_problems
from metassay.project.claim_labels import ClaimLabels
from metassay.project.cost import Plan, Planned, judge_requests, plan_judges
from metassay.scoring.pairing.instruments import ENTAILMENT
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.judge_choice import (
    BALANCED,
    BETTER,
    GAIN,
    SAME,
    JudgeChoice,
    Parts,
    labels_for,
    labels_if,
    pick_judge,
    tell_judge,
)
from metassay.statistics.random_numbers import generator
from metassay.tables.names import FULL

DIFFER = (
    0.2  # share of rows on which two judges are taken to differ before any is asked
)
_WORDS = {"entailed": "pass", "not_entailed": "fail"}  # which every judge-check reads


class Answers(NamedTuple):
    """A candidate's answers to rows, as texts, None for none; and what they took.

    `questions`: the keys of all questions that were put for them, by the name of the model.
    `n_missing`: answers of language models that another run may bring.
    """

    by_row: Mapping[int, str | None]
    questions: Mapping[str, Collection[str]]
    tokens: float
    n_missing: int


@dataclass(frozen=True)
class Improvement:
    """What became of a search: all candidates, the choice, and both judges' answers.

    `table`: as table `choice` of judge-check, with the kind of change. `labels`: the
    labelled rows that would show a gain of GAIN; NaN if not known. `wrong`: the rows of
    the half that tells on which the present or the chosen judge is not right, with their
    texts. `n_missing`: answers of all candidates that another run may bring. `per_1000`:
    price or tokens of the present and the chosen judge.
    """

    chosen: Candidate
    choice: JudgeChoice
    table: pd.DataFrame
    labels: float
    wrong: pd.DataFrame
    unanswered: Mapping[str, int]
    n_missing: int
    per_1000: Mapping[str, str]
    card: JudgeCheck | None
    card_problems: tuple[str, ...]

    @property
    def is_better(self) -> bool:
        """Whether the other half shows that the chosen judge is better."""
        return self.choice.outcome == BETTER


def make_pairs(claims: ClaimLabels, rows: Mask) -> pd.DataFrame:
    """Return the rows of PAIRS that judges need; `pair_id` is the row's place."""
    places = np.flatnonzero(rows)
    frame = claims.frame.iloc[places]
    return pd.DataFrame(
        {
            "pair_id": [f"{place}" for place in places],
            "instrument": claims.instrument,
            "premise": frame["premise"].to_numpy(),
            "hypothesis": frame["hypothesis"].to_numpy(),
            "context": None,
            "part": FULL,
            "author": "",
            "settled": None,
            "measure": "the labels",
        }
    )


def check_candidates(
    candidates: Sequence[Candidate], instrument: str, session: Session
) -> None:
    """Raise BadInput if the present judge cannot answer, or a prompt or model is not usable."""
    present = candidates[0].chosen
    where = f"{PARAMS} > judges > {candidates[0].name}"
    if instrument not in instruments_of(present):
        raise BadInput(
            f"{where}: kind {present.kind!r} cannot answer {instrument}; choose another judge"
        )
    problems: list[str] = []
    for candidate in candidates:
        at = where if candidate.change == PRESENT else f"candidate {candidate.name}"
        problems += model_problems(candidate.chosen, session.models, where=at)
    raise_problems(dict.fromkeys(problems))


def check_documents(claims: ClaimLabels, parts: Parts, by: str) -> str:
    """Return why labels are too few to choose and tell; "" if they are enough."""
    choosing = np.unique(claims.cluster[parts.choosing]).size
    telling = np.unique(claims.cluster[parts.telling]).size
    half = FEWEST // 2
    if min(choosing, telling) < half:
        return (
            f"{counted(choosing, 'document')} would choose and {telling} would tell;"
            f" each takes {half} or more"
        )
    if by == BALANCED:
        for rows in (parts.choosing, parts.telling):
            if np.unique(claims.passed[rows]).size < 2:
                return f"one half has labels of one kind only, and {BALANCED} needs two"
    return ""


def detectable_gain(parts: Parts) -> float:
    """Return the gain that the telling rows show in 80 %, if judges differ on DIFFER of them."""
    n = int(np.count_nonzero(parts.telling))
    return float(np.sqrt(labels_if(DIFFER) / (2 * n)) * GAIN)


def plan_questions(
    candidates: Sequence[Candidate],
    claims: ClaimLabels,
    parts: Parts,
    session: Session,
    by: str,
) -> Plan:
    """Estimate all questions: all candidates on rows that choose, two on rows that tell.

    Which candidate is chosen is not known before all have answered; until then, the
    dearest of those that are not in use is counted.
    A question of several candidates is counted once.
    """
    costs = Plan([], [])
    judges = {candidate.name: candidate.chosen for candidate in candidates}
    plan_judges(judges, make_pairs(claims, parts.choosing), session, costs)
    pairs = make_pairs(claims, parts.telling)
    both = [candidates[0].name]
    if costs.planned and not count_open(costs.planned):
        right, _ = _ask_choosing(candidates, claims, parts, session)
        place = _pick(right, claims, parts, by)
        both = [*dict.fromkeys([candidates[0].name, candidates[place].name])]
    elif others := candidates[1:]:
        alone = [_price_alone(each.chosen, pairs, session) for each in others]
        both.append(others[alone.index(max(alone))].name)
    telling = {f"{name}, to tell": judges[name] for name in both}
    plan_judges(telling, pairs, session, costs)
    planned = [
        row._replace(stage=row.stage.removeprefix("judge-")) for row in costs.planned
    ]
    notes: list[str] = []  # a line for each candidate that shares questions says little
    for model in dict.fromkeys(row.model for row in planned):
        notes += [
            f"{model} would not be asked: {line}"
            for line in session.refusals(model, [])
        ]
    return Plan(planned, notes)


def _price_alone(
    judge: Chosen, pairs: pd.DataFrame, session: Session
) -> tuple[float, int]:
    """Return what all questions of a judge cost at most, and their tokens, to compare judges."""
    costs = Plan([], [])
    plan_judges({"": judge}, pairs, session, costs)
    estimates = [row.estimate for row in costs.planned]
    cost = math.fsum(each.cost_at_most or 0.0 for each in estimates)
    return cost, sum(each.prompt_tokens for each in estimates)


def ask_candidate(
    candidate: Candidate, claims: ClaimLabels, rows: Mask, session: Session
) -> Answers:
    """Ask a candidate about the rows; raises Unfinished if answers are missing for now."""
    chosen = candidate.chosen
    questions: dict[str, set[str]] = {}

    def provide(kind: Chosen) -> Resources:
        resources = session.provide(kind)
        use = kind.record.model(kind.options)
        if use is None:
            return resources
        keys = questions.setdefault(use.model, set())
        model = resources.require_model()

        def ask(requests: Sequence[ChatRequest]) -> list[Reply]:
            keys.update(request.key for request in requests)
            return model.ask(requests)

        return resources._replace(model=model._replace(ask=ask))

    judge = make_judge(chosen, provide)
    table = judge_pairs(
        make_pairs(claims, rows),
        candidate.name,
        judge,
        instruments_of(chosen),
        batch=chosen.record.batch,
    )
    by_row: dict[int, str | None] = dict.fromkeys(np.flatnonzero(rows).tolist())
    for row in table.itertuples():
        answer = None
        if row.status == "ok":
            label: Any = row.label
            grade: Any = row.grade
            answer = f"{grade:g}" if pd.isna(label) else str(label)
        by_row[int(str(row.pair_id))] = answer
    tokens = table["tokens"].sum()
    n_failed = int((table["status"] == "error").sum())
    return Answers(
        by_row=by_row,
        questions=questions,
        tokens=float(tokens) if pd.notna(tokens) else 0.0,
        n_missing=n_failed if llm_members(chosen) else 0,
    )


def plan_shown(
    present: Candidate,
    claims: ClaimLabels,
    parts: Parts,
    session: Session,
) -> Plan:
    """Estimate what the present judge is asked about the rows that are shown to a model."""
    costs = Plan([], [])
    name = f"{present.name}, to find what is wrong"
    pairs = make_pairs(claims, parts.shown)
    plan_judges({name: present.chosen}, pairs, session, costs)
    planned = [row._replace(stage=name) for row in costs.planned]
    return Plan(planned, [])


def plan_rewrites(
    requests: Sequence[ChatRequest],
    use: Use,
    session: Session,
) -> Planned:
    """Estimate what the rewrites themselves cost."""
    needs = Requests([*requests], [1] * len(requests), answer_length=LENGTH)
    return Planned("rewrites", use.model, session.estimate(use, needs, [1.0]))


def plan_rewritten(
    present: Candidate,
    claims: ClaimLabels,
    parts: Parts,
    session: Session,
    number: int,
) -> list[Planned]:
    """Estimate what rewrites that are not there yet are asked: as much as the present judge.

    One of them may be chosen, and is asked about the rows that tell, too.
    """
    rows = {f"rewrite {n}, about": parts.choosing for n in range(1, number + 1)}
    rows["a rewrite to tell, about"] = parts.telling
    judge = present.chosen
    use = judge.record.model(judge.options)
    planned = []
    for place, (stage, mask) in enumerate(rows.items(), start=1):
        needs, n_questions = judge_requests(judge, make_pairs(claims, mask), session)
        # The ledger has answers to the present prompt, and none to one that is not there.
        requests = [replace(request, repeat=-place) for request in needs.requests]
        new = needs._replace(requests=requests)
        estimate = session.estimate(use, new, [n_questions])
        planned.append(Planned(stage, use.model, estimate))
    return planned


def count_open(planned: Sequence[Planned]) -> int:
    """Count the questions that the ledger has no answer to."""
    estimates = [row.estimate for row in planned]
    return sum(each.calls - each.calls_in_ledger for each in estimates)


def rows_shown(
    claims: ClaimLabels, parts: Parts, answers: Answers | None
) -> pd.DataFrame:
    """Return the shown rows with the present judge's `answer`; before it is asked, None."""
    places = np.flatnonzero(parts.shown)
    rows = claims.frame.iloc[places]
    answer = [None if answers is None else answers.by_row[place] for place in places]
    return rows.assign(answer=pd.Series(answer, index=rows.index, dtype=object))


def ask_rewrites(
    wanted: Wanted,
    content: Mapping[str, Any],
    requests: Sequence[ChatRequest],
    model: Model,
) -> tuple[list[Candidate], int]:
    """Ask for rewrites; return candidates, and how many answers hold no instructions.

    `content`: that of the present prompt's file, of which only the system's text changes.
    """
    candidates: list[Candidate] = []
    written: set[str] = set()
    for reply in model.ask(requests):
        instructions = read_rewrite(reply.text)
        if instructions is not None and instructions not in written:
            written.add(instructions)
            number = len(candidates) + 1
            name = f"{wanted.judge}_rewrite_{number}"
            rewritten = reword(
                wanted, name, "rewrites", {**content, "system": instructions}
            )
            candidates.append(replace(rewritten, name=f"rewrite {number}"))
    return candidates, len(requests) - len(candidates)


def search(
    candidates: Sequence[Candidate],
    claims: ClaimLabels,
    parts: Parts,
    session: Session,
    *,
    by: str,
    seed: int,
) -> Improvement:
    """Ask all candidates, choose, and tell of the chosen and the present one.

    An answer that is not given counts as not right, so that no judge is chosen for the
    rows that it leaves out. Raises Unfinished if an endpoint failed, BadInput at a cap.
    """
    rows = parts.choosing | parts.telling
    right, n_missing = _ask_choosing(candidates, claims, parts, session)
    first = parts.choosing[rows]
    passed = claims.passed[rows]
    cluster = np.unique(claims.cluster[rows], return_inverse=True)[1]
    place = _pick(right, claims, parts, by)
    both = dict.fromkeys((0, place))
    on_telling: dict[int, Answers] = {}
    for number in both:
        on_telling[number] = ask_candidate(
            candidates[number], claims, parts.telling, session
        )
        _mark(right[number], on_telling[number], claims)
    session.finish()
    choice = tell_judge(
        right[:, rows],
        passed,
        cluster,
        first,
        place,
        by=by,
        rng=generator(seed, "improve"),
    )
    table = pd.DataFrame(choice_rows(choice, [c.name for c in candidates], by))
    table.insert(1, "change", [candidate.change for candidate in candidates])
    labels = choice.labels
    if choice.outcome == SAME:
        labels = _labels_by_second(right[:, parts.choosing], cluster[first])
    card, problems = _make_card(candidates, on_telling, claims, seed)
    return Improvement(
        chosen=candidates[place],
        choice=choice,
        table=table,
        labels=labels,
        wrong=_list_wrong(candidates, on_telling, claims),
        unanswered=_count_unanswered(candidates, on_telling),
        n_missing=n_missing + sum(answers.n_missing for answers in on_telling.values()),
        per_1000={candidates[n].name: _price(on_telling[n], session) for n in both},
        card=card,
        card_problems=problems,
    )


def _ask_choosing(
    candidates: Sequence[Candidate],
    claims: ClaimLabels,
    parts: Parts,
    session: Session,
) -> tuple[Array, int]:
    """Return where candidates are right (candidates, rows), NaN if not asked; and what lacks."""
    right = np.full((len(candidates), len(claims.frame)), np.nan)
    n_missing = 0
    for place, candidate in enumerate(candidates):
        answers = ask_candidate(candidate, claims, parts.choosing, session)
        n_missing += answers.n_missing
        _mark(right[place], answers, claims)
    session.finish()
    return right, n_missing


def _pick(right: Array, claims: ClaimLabels, parts: Parts, by: str) -> int:
    rows = parts.choosing
    return pick_judge(right[:, rows], claims.passed[rows], by=by)


def _mark(right: Array, answers: Answers, claims: ClaimLabels) -> None:
    """Write 1 where an answer is the label, else 0, to the rows that were asked."""
    labels = claims.frame["label"]
    for row, answer in answers.by_row.items():
        right[row] = float(answer == labels[row])


def _labels_by_second(right: Array, cluster: Any) -> float:
    """Count the labels that show a gain, where judges differ as the present and the next best."""
    if len(right) < 2:
        return float("nan")
    second = 1 + int(np.argmax(np.mean(right[1:], axis=1)))
    documents = np.unique(cluster, return_inverse=True)[1]
    return labels_for(GAIN, right[second] - right[0], documents)


def _count_unanswered(
    candidates: Sequence[Candidate], on_telling: Mapping[int, Answers]
) -> dict[str, int]:
    return {
        candidates[n].name: sum(answer is None for answer in answers.by_row.values())
        for n, answers in on_telling.items()
    }


def _list_wrong(
    candidates: Sequence[Candidate],
    on_telling: Mapping[int, Answers],
    claims: ClaimLabels,
) -> pd.DataFrame:
    """Return the rows of the half that tells on which a judge is not right."""
    places = [*on_telling[0].by_row]
    frame = claims.frame.iloc[places][["key", "doc", "label"]].reset_index(drop=True)
    is_right = np.ones(len(frame), dtype=np.bool_)
    for number, answers in on_telling.items():
        words = [answers.by_row[place] or "" for place in places]
        column = pd.Series(words, dtype="str")
        frame[candidates[number].name] = column
        is_right &= (column == frame["label"]).to_numpy()
    texts = claims.frame.iloc[places][["premise", "hypothesis"]].reset_index(drop=True)
    return pd.concat([frame, texts], axis=1)[~is_right]


def _make_card(
    candidates: Sequence[Candidate],
    on_telling: Mapping[int, Answers],
    claims: ClaimLabels,
    seed: int,
) -> tuple[JudgeCheck | None, tuple[str, ...]]:
    """Check both judges on the half that tells; or say why these labels make no card."""
    places = [*on_telling[0].by_row]
    words = _WORDS if claims.instrument == ENTAILMENT.name else {}
    rows = claims.frame.iloc[places]
    frame = pd.DataFrame({"doc_id": rows["doc"].to_numpy()})
    names = []
    for number in sorted(on_telling, reverse=True):
        answers = [on_telling[number].by_row[place] for place in places]
        names.append(candidates[number].name)
        frame[candidates[number].name] = [words.get(a or "", a or "") for a in answers]
    frame["label"] = [words.get(label, label) for label in rows["label"]]
    try:
        card = judge_check(frame, judge=names, human="label", doc="doc_id", seed=seed)
    except BadInput as error:
        return None, error.problems
    return card, ()


def _price(answers: Answers, session: Session) -> str:
    """Say what 1,000 rows cost: the price that was booked, else tokens, else nothing.

    Of a cascade, rows that its first judge decides cost no more, though the ledger has
    answers to them if its second judge was asked as another candidate.
    """
    if not answers.questions:
        return "nothing, as no language model is asked"
    n_rows = len(answers.by_row)
    by_currency: dict[str, float] = {}
    for name, keys in answers.questions.items():
        prices = find_model(session.models, name).prices
        if prices is None:
            tokens = 1000 * answers.tokens / n_rows
            return f"{tokens:,.0f} tokens; {name} has no prices"
        booked = math.fsum(map(session.booked, keys))
        by_currency.setdefault(prices.currency, 0.0)
        by_currency[prices.currency] += 1000 * booked / n_rows
    return " and ".join(
        f"{cost:.4f} {currency}" for currency, cost in by_currency.items()
    )


def describe(result: Improvement, wanted: Wanted) -> list[str]:
    """Say what was found, in sentences: the choice, the optimism, answers and prices."""
    lines = [*compare_sentences(result.choice, result.table)]
    best = result.table.iloc[result.choice.chosen]
    optimism = best["choosing"] - best["value"]
    lines.append(
        f"The number that chose is {short(optimism)} above the honest one."
        if optimism > 0
        else "The number that chose is not above the honest one."
    )
    if result.choice.outcome == SAME and np.isfinite(result.labels):
        lines.append(
            f"About {result.labels:,.0f} labelled rows in all would show a gain of"
            f" {short(GAIN)} over {wanted.judge}."
        )
    for name, count in result.unanswered.items():
        if count:
            lines.append(
                f"{name} gave no answer to {counted(count, 'row')} of those that tell; they"
                " count as not right here, and are left out of the card."
            )
    if result.n_missing:
        lines.append(
            f"{counted(result.n_missing, 'answer')} of models are missing, after failures, and"
            " count as not right, so that none of these numbers is final; the same command"
            " asks for them again."
        )
    for name, price in result.per_1000.items():
        lines.append(f"1,000 rows cost with {name}: {price}.")
    return lines


def final_block(result: Improvement, wanted: Wanted, name: str) -> dict[str, Any]:
    """Return the block for params.yaml; a prompt that was written is named under prompts/."""
    block = dict(result.chosen.block)
    if result.chosen.prompt is not None:
        prompts = dict(block["prompts"])
        prompts[wanted.instrument] = f"prompts/{name}.yaml"
        block["prompts"] = prompts
    return block
