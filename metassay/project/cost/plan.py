"""Everything that the next run of a benchmark or test would ask, stage by stage.

It is a dry run: its session answers from the ledger alone. What a model has not written yet is
estimated with the reference in its place, facets that it has not found yet with sentences shared
out evenly, claims that it has not listed yet with clauses by rule.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.core.kinds import Chosen, choose
from metassay.core.options import BENCHMARKS, PARAMS, parse
from metassay.core.params import Benchmark, Params, SegmentTest
from metassay.datasets.ingest import Ingested, ingest
from metassay.datasets.registry import Dataset, find
from metassay.generation import SYSTEMS
from metassay.generation.generate import write_texts
from metassay.judges import JUDGES
from metassay.judges.lazy_citations import question_of
from metassay.judges.make import instruments_of
from metassay.judges.problems import asking, released
from metassay.judges.run import batches, check_instruments
from metassay.labelled.ingest import ingest_items
from metassay.labelled.ingest_texts import ingest_sentences
from metassay.labelled.segmentations import texts_of as texts_of_test
from metassay.labelled.types import chosen_test, segment_options
from metassay.llm import tokens
from metassay.llm.estimate import Estimate
from metassay.llm.messages import ChatRequest
from metassay.llm.needs import Requests, all_datasets, everyone
from metassay.llm.session import Session
from metassay.project.cost.likely import Texts, filled, not_run, shared_out, stand_ins, with_clauses
from metassay.scoring.pairing.pairs import build_pairs
from metassay.scoring.pairing.questions import Questions, questions_of
from metassay.scoring.pairing.rubrics import rubric_pairs
from metassay.scoring.rubrics.ask import expanded
from metassay.scoring.rubrics.read import RUBRICS, load_rubric
from metassay.scoring.rubrics.record import Rubric
from metassay.tables.names import FULL
from metassay.units import DECOMPOSITIONS, SEGMENTATIONS
from metassay.units.alignment import ALIGNMENTS
from metassay.units.alignment.align import align_units
from metassay.units.segment import segment, texts_of

_TEXTS = ("premise", "hypothesis", "context")


@dataclass(frozen=True)
class Run:
    """What a benchmark is put through, as far as models may be asked.

    `texts` is the folder of the systems' texts; `rubrics` have one criterion for each facet.
    """

    given: Ingested
    systems: Mapping[str, Chosen]
    segmentation: Chosen
    decomposition: Chosen
    alignment: Chosen
    questions: Mapping[str, Questions]
    judges: Mapping[str, Chosen]
    session: Session
    texts: Path
    rubrics: Sequence[Rubric] = ()


def run_of(
    params: Params,
    benchmark: str,
    registry: Mapping[str, Dataset],
    session: Session,
) -> Run:
    """The run of one benchmark, its raw files read; BadInput as ingest and the kinds raise it."""
    own = params.benchmarks[benchmark]

    def chosen(index: Mapping[str, str], block: str, name: str) -> Chosen:
        return choose(index, getattr(params, block)[name], where=f"{PARAMS} > {block} > {name}")

    segmentation = chosen(SEGMENTATIONS, "segmentations", own.segmentation)
    return Run(
        given=ingest(find(dict(registry), own.dataset).reader, Path(own.raw), own.criteria),
        systems={name: chosen(SYSTEMS, "systems", name) for name in own.writers},
        segmentation=segmentation,
        decomposition=chosen(DECOMPOSITIONS, "decompositions", own.decomposition),
        alignment=chosen(ALIGNMENTS, "alignments", own.alignment),
        questions={
            name: parse(Questions, params.questions[name], where=f"{PARAMS} > questions > {name}")
            for name in own.questions
        },
        judges={name: chosen(JUDGES, "judges", name) for name in own.judges},
        session=session,
        texts=Path("data/tables") / benchmark / "texts",
        rubrics=[
            expanded(load_rubric(RUBRICS / f"{name}.yaml"), _facets_of(segmentation))
            for name in own.rubrics
        ],
    )


class Planned(NamedTuple):
    """What one stage would ask of one model (its name in params.yaml)."""

    stage: str
    model: str
    estimate: Estimate


class Plan(NamedTuple):
    """All of it, and what the numbers do not rest on yet: lines without any text."""

    planned: list[Planned]
    notes: list[str]


def plan(run: Run) -> Plan:
    """Estimate every stage of the benchmark that asks a model; BadInput as the stages raise it."""
    found = Plan([], [])
    texts, invented = [run.given.texts], []
    for name, system in run.systems.items():
        written = _written(run, name, system, found)
        if written.invented:
            invented.append(name)
            found.notes.append(
                f"{written.invented} text(s) of {name} are not written yet; their claims, and what"
                " judges are asked about them, are estimated with the references in their place"
            )
        texts.append(written.texts)
    judged = any(map(asking, run.judges.values()))
    listed = run.decomposition.record.requests is not None
    if listed or judged or run.segmentation.record.requests is not None:
        parts = _parts(run, pd.concat(texts, ignore_index=True), invented, found)
        if listed:
            _plan_claims(run, parts, invented, found)
        if judged:
            _plan_judges(run.judges, _pairs(run, parts, invented, found), run.session, found)
    return found


def plan_test(params: Params, name: str, registry: Mapping[str, Dataset], session: Session) -> Plan:
    """Estimate what the judges of a judge test ask; BadInput as its stages raise it."""
    own, found = params.judge_tests[name], Plan([], [])
    judges = {
        judge: choose(JUDGES, params.judges[judge], where=f"{PARAMS} > judges > {judge}")
        for judge in own.judges
    }
    if any(map(asking, judges.values())):
        test = chosen_test(own.test, own.options, where=f"{BENCHMARKS / name / PARAMS}")
        reader = str(find(dict(registry), own.dataset).reader)
        items = ingest_items(
            test, reader, Path(own.raw), dataset=own.dataset, judges=tuple(own.judges)
        )
        _plan_judges(judges, items.pairs, session, found)
    return found


def plan_segment_test(
    params: Params, name: str, registry: Mapping[str, Dataset], session: Session
) -> Plan:
    """Estimate what the segmentations of a test ask; BadInput as its stages raise it."""
    own, found = params.segment_tests[name], Plan([], [])
    where = f"{PARAMS} > segmentations"
    every = {
        one: choose(SEGMENTATIONS, params.segmentations[one], where=f"{where} > {one}")
        for one in own.segmentations
    }
    asking = {one: chosen for one, chosen in every.items() if chosen.record.requests is not None}
    if asking:
        options = segment_options(own.options, where=f"{BENCHMARKS / name / PARAMS}")
        reader = str(find(dict(registry), own.dataset).reader)
        given = ingest_sentences(reader, Path(own.raw), options)
        texts = texts_of_test(given.texts, given.sentences)
        lengths = [text.full.text for text in texts if text.full.text is not None]
        for one, chosen in asking.items():
            use = chosen.record.model(chosen.options)
            asked = chosen.record.requests(texts, chosen.options, session.decoding(use))
            _add(found, f"segment-{one}", session, chosen, asked, lengths)
    return found


def refusals(
    params: Params, benchmark: str, session: Session, planned: Sequence[Planned]
) -> list[str]:
    """Why stages would stop before they ask: one line per stage and dataset.

    By what systems are shown as params.yaml is now, which is what a run would make them write.
    """
    own = params.every[benchmark]
    shown = {
        f"generate-{name}": all_datasets([choose(SYSTEMS, params.systems[name], where=name)])
        for name in (own.writers if isinstance(own, Benchmark) else ())
    }
    every = sorted({dataset for datasets in shown.values() for dataset in datasets})
    claims = released(own, params.decompositions)
    for name in () if isinstance(own, SegmentTest) else own.judges:
        judge = choose(JUDGES, params.judges[name], where=name)
        shown[f"judge-{name}"] = [*every, *claims, *all_datasets([judge])]
    return [
        f"{stage} would stop before it asks: {line}"
        for stage, model, _ in planned
        for line in session.refusals(model, shown.get(stage, every))
    ]


def _add(
    found: Plan,
    stage: str,
    session: Session,
    chosen: Chosen,
    asked: Requests,
    texts: Iterable[str],
) -> None:
    """Add what a kind asks; `texts` are what its answers are about."""
    use = chosen.record.model(chosen.options)
    costs = session.estimate(use, asked, [tokens.by_rule(text) for text in texts])
    found.planned.append(Planned(stage, use.model, costs))


def _of_each_author(
    requests_of: Callable[[Any], Requests],
    groups: Iterable[tuple[Any, Any]],
    invented: Sequence[str],
) -> Requests:
    """What is asked about the texts of each author.

    `invented` are the authors with stand-ins among their texts. These equal the reference now, but
    will be asked about in questions of their own.
    """
    asked, requests, most = Requests([], []), [], []
    for author, theirs in groups:
        asked = requests_of(theirs)
        most += asked.most
        repeat = -1 - invented.index(author) if author in invented else 0
        requests += [replace(one, repeat=repeat) for one in asked.requests]
    return asked._replace(requests=requests, most=most)


def _written(run: Run, name: str, system: Chosen, found: Plan) -> Texts:
    """What a system has written, with stand-ins for the rest; what it asks goes to `found`."""
    sources, record = run.given.sources, system.record
    if record.requests is None and record.costly:
        return not_run(run.given, name, run.texts)
    resources = run.session.provide(system)
    texts = write_texts(sources, name, system, resources).texts
    if resources.model is None:
        return Texts(texts, 0)
    asked = record.requests(sources, system.options, resources.model.decoding, resources.raw)
    likely = stand_ins(run.given, by_section=bool((texts["part"] != FULL).any()))
    _add(found, f"generate-{name}", run.session, system, asked, likely.values())
    return filled(texts, likely)


def _parts(run: Run, texts: pd.DataFrame, invented: Sequence[str], found: Plan) -> pd.DataFrame:
    """Rows of PARTS; what is asked for them goes to `found`."""
    chosen, given = run.segmentation, run.given
    resources = run.session.provide(chosen)
    if resources.model is not None:
        record, decoding = chosen.record, resources.model.decoding
        every = texts_of(texts, given.sources, given.segments)
        authors = sorted({text.author for text in every})
        asked = _of_each_author(
            lambda theirs: record.requests(theirs, chosen.options, decoding),
            [(author, [text for text in every if text.author == author]) for author in authors],
            invented,
        )
        about = [text.full.text for text in every if text.full.text]
        _add(found, "segment", run.session, chosen, asked, about)
    parts = segment(texts, given.sources, given.segments, chosen, resources).parts
    if resources.model is None:
        return parts
    parts, lost = shared_out(parts)
    if lost:
        found.notes.append(
            f"the facets of {lost} text(s) are not known yet; what is asked about them is"
            " estimated with the sentences of each shared out evenly"
        )
    return parts


def _plan_claims(run: Run, parts: pd.DataFrame, invented: Sequence[str], found: Plan) -> None:
    record, options = run.decomposition.record, run.decomposition.options
    decoding = run.session.decoding(record.model(options))
    asked = _of_each_author(
        lambda theirs: record.requests(theirs, run.given.sources, options, decoding),
        parts.groupby("author"),
        invented,
    )
    leaves = parts[(parts["leaf"] == "yes") & (parts["status"] == "ok")]
    _add(found, "decompose", run.session, run.decomposition, asked, leaves["text"])


def _pairs(run: Run, parts: pd.DataFrame, invented: Sequence[str], found: Plan) -> pd.DataFrame:
    """Rows of PAIRS that are put to judges; what they rest on is noted in `found`."""
    sources, asked = run.given.sources, []
    if run.questions:
        resources = run.session.provide(run.decomposition)
        units = run.decomposition.record.take_apart(
            parts, sources, run.decomposition.options, resources
        ).units
        units, lost = with_clauses(units, parts, sources, run.session)
        if lost:
            found.notes.append(
                f"the claims of {lost} part(s) are not listed yet; what judges are asked about"
                " them is estimated with clauses by rule in their place"
            )
        aligned = align_units(sources, units, "it", run.alignment)
        asked = [
            build_pairs(sources, parts, units, aligned, questions)
            for questions in run.questions.values()
        ]
    facets = _facets_of(run.segmentation)
    asked += [rubric_pairs(sources, parts, rubric, facets) for rubric in run.rubrics]
    as_texts = [pairs.astype(dict.fromkeys(_TEXTS, object)) for pairs in asked]
    return _told_apart(run, pd.concat(as_texts, ignore_index=True), invented)


def _told_apart(run: Run, pairs: pd.DataFrame, invented: Sequence[str]) -> pd.DataFrame:
    """Blanks behind what stand-ins are asked about: they equal the reference now, but not then."""
    of_reference = {
        question.name
        for questions in run.questions.values()
        for question in questions_of(questions)
        if question.whose == "reference"
    }
    pairs = pairs[pairs["settled"].isna()].copy()
    claimed = pairs["measure"].isin(of_reference)
    for number, author in enumerate(invented, start=1):
        theirs = pairs["author"] == author
        pairs.loc[theirs & claimed, "premise"] += " " * number
        pairs.loc[theirs & ~claimed, "hypothesis"] += " " * number
        pairs.loc[theirs, "pair_id"] += f" {number}"
    return pairs


def _plan_judges(
    judges: Mapping[str, Chosen], pairs: pd.DataFrame, session: Session, found: Plan
) -> None:
    """Add to `found` what each judge asks, and each judge inside it; BadInput as the stages raise.

    What two judges ask is counted for the first one. Of a cascade every pair is counted for both
    judges.
    """
    known: set[str] = set()
    for name, judge in judges.items():
        if not asking(judge):
            continue
        check_instruments(pairs, name, instruments_of(judge))
        if any(one.kind == "cascade" for one in everyone(judge)):
            found.notes.append(
                f"judge-{name} is counted as if the first judge of its cascade were sure of"
                " nothing; what it decides is asked of nobody else"
            )
        for one in asking(judge):
            use = one.record.model(one.options)
            requests, questions = _questions(one, pairs, session)
            own = [place for place, each in enumerate(requests.requests) if each.key not in known]
            both = len(requests.requests) - len(own)
            if both:
                found.notes.append(
                    f"judge-{name}: {both:,} of its questions are another judge's, too, and counted"
                    " there"
                )
            known.update(request.key for request in requests.requests)
            asked = requests._replace(
                requests=[requests.requests[place] for place in own],
                most=[requests.most[place] for place in own],
            )
            costs = session.estimate(use, asked, [questions])
            found.planned.append(Planned(f"judge-{name}", use.model, costs))


def _questions(judge: Chosen, pairs: pd.DataFrame, session: Session) -> tuple[Requests, float]:
    """Each request to a model once, and how many questions it is about on average."""
    decoding = session.decoding(judge.record.model(judge.options))
    questions, tokens = 0, 0.0
    requests: dict[str, tuple[ChatRequest, int]] = {}
    for batch in batches(pairs, judge.record.batch):
        asked = judge.record.requests(batch, judge.options, decoding)
        each = zip(asked.requests, asked.most, strict=True)
        requests.update((request.key, (request, most)) for request, most in each)
        own = len(set(map(question_of, batch)))
        questions, tokens = questions + own, tokens + own * asked.answer_length
    if not requests:
        return Requests([], []), 0.0
    distinct, most = zip(*requests.values(), strict=True)
    found = Requests([*distinct], [*most], tokens / questions, asked.longer)
    return found, questions / len(distinct)


def _facets_of(segmentation: Chosen) -> tuple[str, ...]:
    """The facets that a segmentation can find."""
    found: tuple[str, ...] = segmentation.record.facets(segmentation.options)
    return found
