"""Everything that the next run of a benchmark or test would ask, stage by stage.

It is a dry run: its session answers from the ledger alone. A text that is not written yet is taken
to be like its reference, facets that nobody has found yet to be its sentences, shared out evenly,
and claims that are not listed yet to be clauses by rule.
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
from metassay.generation.record import write_texts
from metassay.judges import JUDGES
from metassay.judges.lazy_citations import question_of
from metassay.judges.make import claim_datasets, instruments_of, llm_members
from metassay.judges.run import batches, check_instruments
from metassay.labelled.ingest import ingest_items
from metassay.labelled.segmentations import ingest_sentences
from metassay.labelled.segmentations import texts_of as texts_of_test
from metassay.labelled.types import chosen_test, segment_options
from metassay.llm import estimate
from metassay.llm.estimate import Estimate
from metassay.llm.messages import ChatRequest
from metassay.llm.needs import Requests, all_datasets, with_members
from metassay.llm.session import Session
from metassay.scoring.pairing.pairs import build_pairs
from metassay.scoring.pairing.questions import Questions, questions_of
from metassay.scoring.pairing.rubrics import rubric_pairs
from metassay.scoring.rubrics.ask import expanded
from metassay.scoring.rubrics.record import RUBRICS, Rubric, load_rubric
from metassay.tables.documents import TEXTS
from metassay.tables.names import FULL, REFERENCE
from metassay.tables.parquet import read
from metassay.text.headings import divide
from metassay.text.sentences import sentences
from metassay.units import DECOMPOSITIONS, SEGMENTATIONS
from metassay.units.alignment import ALIGNMENTS
from metassay.units.alignment.align import align_units
from metassay.units.facets import facet_part
from metassay.units.record import OK
from metassay.units.segment import segment, texts_of

_TEXTS = ("premise", "hypothesis", "context")
_LIKE = 1500  # characters of the source that stand for a text without a reference

Likely = dict[tuple[str, str], str]  # by document and part
Texts = tuple[pd.DataFrame, int]  # texts so far, and how many of them are stand-ins


@dataclass(frozen=True)
class Run:
    """What a benchmark is put through, as far as models may be asked.

    `texts` is the folder of the systems' texts; `rubrics` have one criterion for each facet.
    """

    given: Ingested
    systems: Mapping[str, Chosen]
    segmentation: Chosen
    decomposition: Chosen
    alignments: Mapping[str, Chosen]
    questions: Mapping[str, Questions]
    judges: Mapping[str, Chosen]
    session: Session
    texts: Path
    rubrics: Sequence[Rubric] = ()


class Planned(NamedTuple):
    """What one stage would ask of one model (its name in params.yaml)."""

    stage: str
    model: str
    estimate: Estimate


class Plan(NamedTuple):
    """All of it, and what the numbers do not rest on yet: lines without any text."""

    planned: list[Planned]
    notes: list[str]


def _chosen(params: Params, index: Mapping[str, str], block: str, name: str) -> Chosen:
    return choose(index, getattr(params, block)[name], where=f"{PARAMS} > {block} > {name}")


def _judges(params: Params, names: Iterable[str]) -> dict[str, Chosen]:
    return {name: _chosen(params, JUDGES, "judges", name) for name in names}


def run_of(
    params: Params, benchmark: str, registry: Mapping[str, Dataset], session: Session
) -> Run:
    """The run of one benchmark, its raw files read; BadInput as ingest and the kinds raise it."""
    own = params.benchmarks[benchmark]
    segmentation = _chosen(params, SEGMENTATIONS, "segmentations", own.segmentation)
    facets = segmentation.record.facets(segmentation.options)
    return Run(
        given=ingest(find(dict(registry), own.dataset).reader, Path(own.raw), own.criteria),
        systems={name: _chosen(params, SYSTEMS, "systems", name) for name in own.writers},
        segmentation=segmentation,
        decomposition=_chosen(params, DECOMPOSITIONS, "decompositions", own.decomposition),
        alignments={n: _chosen(params, ALIGNMENTS, "alignments", n) for n in own.alignments},
        questions={
            name: parse(Questions, params.questions[name], where=f"{PARAMS} > questions > {name}")
            for name in own.questions
        },
        judges=_judges(params, own.judges),
        session=session,
        texts=Path("data/tables") / benchmark / "texts",
        rubrics=[expanded(load_rubric(RUBRICS / f"{name}.yaml"), facets) for name in own.rubrics],
    )


def plan(run: Run) -> Plan:
    """Estimate every stage of the benchmark that asks a model; BadInput as the stages raise it."""
    found = Plan([], [])
    texts, invented = [run.given.texts], []
    for name, system in run.systems.items():
        written, stand_ins = _written(run, name, system, found)
        if stand_ins:
            invented.append(name)
            found.notes.append(
                f"{stand_ins} text(s) of {name} are not written yet; their claims, and what"
                " judges are asked about them, are estimated with the references in their place"
            )
        texts.append(written)
    judged = any(map(llm_members, run.judges.values()))
    listed = run.decomposition.record.requests is not None
    if listed or judged or run.segmentation.record.requests is not None:
        parts = _parts(run, pd.concat(texts, ignore_index=True), invented, found)
        if listed:
            record, options = run.decomposition.record, run.decomposition.options
            decoding = run.session.decoding(record.model(options))
            asked = _of_each_author(
                lambda theirs: record.requests(theirs, run.given.sources, options, decoding),
                parts.groupby("author"),
                invented,
            )
            leaves = parts[(parts["leaf"] == "yes") & (parts["status"] == "ok")]
            _add(found, "decompose", run.session, run.decomposition, asked, leaves["text"])
        if judged:
            _plan_judges(run.judges, _pairs(run, parts, invented, found), run.session, found)
    return found


def plan_test(params: Params, name: str, registry: Mapping[str, Dataset], session: Session) -> Plan:
    """Estimate what the judges of a judge test ask; BadInput as its stages raise it."""
    own, found = params.judge_tests[name], Plan([], [])
    judges = _judges(params, own.judges)
    if any(map(llm_members, judges.values())):
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
    every = {one: _chosen(params, SEGMENTATIONS, "segmentations", one) for one in own.segmentations}
    those = {one: chosen for one, chosen in every.items() if chosen.record.requests is not None}
    if those:
        options = segment_options(own.options, where=f"{BENCHMARKS / name / PARAMS}")
        reader = str(find(dict(registry), own.dataset).reader)
        given = ingest_sentences(reader, Path(own.raw), options)
        texts = texts_of_test(given.texts, given.sentences)
        lengths = [text.full.text for text in texts if text.full.text is not None]
        for one, chosen in those.items():
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
    own = params.evaluations[benchmark]
    shown = {
        f"generate-{name}": all_datasets([choose(SYSTEMS, params.systems[name], where=name)])
        for name in (own.writers if isinstance(own, Benchmark) else ())
    }
    every = sorted({dataset for datasets in shown.values() for dataset in datasets})
    claims = claim_datasets(own, params.decompositions)
    for name in () if isinstance(own, SegmentTest) else own.judges:
        judge = choose(JUDGES, params.judges[name], where=name)
        shown[f"judge-{name}"] = [*every, *claims, *all_datasets([judge])]
    return [
        f"{stage} would stop before it asks: {line}"
        for stage, model, _ in planned
        for line in session.refusals(model, shown.get(stage, every))
    ]


def _add(
    found: Plan, stage: str, session: Session, chosen: Chosen, asked: Requests, texts: Iterable[str]
) -> None:
    """Add what a kind asks; `texts` are what its answers are about."""
    use = chosen.record.model(chosen.options)
    costs = session.estimate(use, asked, [estimate.by_rule(text) for text in texts])
    found.planned.append(Planned(stage, use.model, costs))


def _of_each_author(
    requests_of: Callable[[Any], Requests],
    groups: Iterable[tuple[Any, Any]],
    invented: Sequence[str],
) -> Requests:
    """What is asked about each author's texts; of those `invented` in questions of their own."""
    asked, requests, most = Requests([], []), [], []
    for author, theirs in groups:
        asked = requests_of(theirs)
        most += asked.most
        repeat = -1 - invented.index(author) if author in invented else 0
        requests += [replace(one, repeat=repeat) for one in asked.requests]
    return asked._replace(requests=requests, most=most)


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
    parts = segment(texts, given.sources, given.segments, chosen, resources)[0]
    if resources.model is not None:
        parts, lost = _shared_out(parts)
        if lost:
            found.notes.append(
                f"the facets of {lost} text(s) are not known yet; what is asked about them is"
                " estimated with the sentences of each shared out evenly"
            )
    return parts


def _pairs(run: Run, parts: pd.DataFrame, invented: Sequence[str], found: Plan) -> pd.DataFrame:
    """Rows of PAIRS that are put to judges; what they rest on is noted in `found`."""
    sources, asked = run.given.sources, []
    if run.questions:
        resources = run.session.provide(run.decomposition)
        units = run.decomposition.record.take_apart(
            parts, sources, run.decomposition.options, resources
        ).units
        units, lost = _with_clauses(units, parts, sources, run.session)
        if lost:
            found.notes.append(
                f"the claims of {lost} part(s) are not listed yet; what judges are asked about"
                " them is estimated with clauses by rule in their place"
            )
        kinds = run.alignments.items()
        aligned = {name: align_units(sources, units, name, kind)[0] for name, kind in kinds}
        tables = (sources, parts, units, aligned)
        asked = [build_pairs(*tables, questions) for questions in run.questions.values()]
    facets = run.segmentation.record.facets(run.segmentation.options)
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
    """Add what each judge asks, and each judge inside it."""
    known: set[str] = set()
    for name, judge in judges.items():
        if not llm_members(judge):
            continue
        check_instruments(pairs, name, instruments_of(judge))
        if any(one.kind == "cascade" for one in with_members(judge)):
            found.notes.append(
                f"judge-{name} is counted as if the first judge of its cascade were sure of"
                " nothing; what it decides is asked of nobody else"
            )
        for one in llm_members(judge):
            use = one.record.model(one.options)
            requests, questions = _questions(one, pairs, session)
            both = zip(requests.requests, requests.most, strict=True)
            own = [(request, most) for request, most in both if request.key not in known]
            others = len(requests.requests) - len(own)
            if others:
                found.notes.append(
                    f"judge-{name}: {others:,} of its questions are another judge's, too, and"
                    " counted there"
                )
            known.update(request.key for request, _ in own)
            first, each = [request for request, _ in own], [most for _, most in own]
            asked = requests._replace(requests=first, most=each)
            costs = session.estimate(use, asked, [questions])
            found.planned.append(Planned(f"judge-{name}", use.model, costs))


def _questions(judge: Chosen, pairs: pd.DataFrame, session: Session) -> tuple[Requests, float]:
    """Each request to a model once, and how many questions it is about on average."""
    decoding = session.decoding(judge.record.model(judge.options))
    questions, answered = 0, 0.0
    requests: dict[str, tuple[ChatRequest, int]] = {}
    for batch in batches(pairs, judge.record.batch):
        asked = judge.record.requests(batch, judge.options, decoding)
        each = zip(asked.requests, asked.most, strict=True)
        requests.update((request.key, (request, most)) for request, most in each)
        own = len(set(map(question_of, batch)))
        questions, answered = questions + own, answered + own * asked.answer_length
    if not requests:
        return Requests([], []), 0.0
    distinct, most = zip(*requests.values(), strict=True)
    found = Requests([*distinct], [*most], answered / questions, asked.longer)
    return found, questions / len(distinct)


# ---- likely texts, parts and claims, in the place of those that models have not given yet -------


def _written(run: Run, name: str, system: Chosen, found: Plan) -> Texts:
    """What a system has written, with stand-ins for the rest; what it asks goes to `found`."""
    sources, record = run.given.sources, system.record
    if record.requests is None and record.costly:  # it takes too long to be run here
        path = run.texts / f"{name}.parquet"
        if path.exists():
            return read(TEXTS, path), 0
        rows = [(doc, name, FULL, None, "error", "not written yet") for doc in sources["doc_id"]]
        frame = pd.DataFrame(rows, columns=list(TEXTS.columns))
        return _filled(frame, _stand_ins(run.given, by_section=False))
    resources = run.session.provide(system)
    texts = write_texts(sources, name, system, resources).texts
    if resources.model is None:
        return texts, 0
    asked = record.requests(sources, system.options, resources.model.decoding, resources.raw)
    likely = _stand_ins(run.given, by_section=bool((texts["part"] != FULL).any()))
    _add(found, f"generate-{name}", run.session, system, asked, likely.values())
    return _filled(texts, likely)


def _stand_ins(given: Ingested, *, by_section: bool) -> Likely:
    """What a text may be like, by document and part: the reference, else the source's beginning."""
    likely: Likely = {}
    sources, texts = given.sources, given.texts
    for doc_id, passages in zip(sources["doc_id"], sources["passages"], strict=True):
        if any(passage.strip() for passage in passages):
            likely[str(doc_id), FULL] = "\n".join(passages)[:_LIKE]
    known = texts[(texts["author"] == REFERENCE) & (texts["part"] == FULL)]
    for doc_id, text in zip(known["doc_id"], known["text"], strict=True):
        if (doc_id, FULL) in likely and isinstance(text, str):
            likely[doc_id, FULL] = text
    if by_section:
        for doc_id in sources.loc[sources["task"] == "note", "doc_id"]:
            whole = likely.pop((doc_id, FULL), "")
            for part, pieces in divide(whole, compat="none").items():
                likely[doc_id, part] = "\n\n".join(whole[start:end] for start, end in pieces)
    return likely


def _filled(texts: pd.DataFrame, likely: Likely) -> Texts:
    """The texts, with a stand-in for each that has no answer yet, if one is known."""
    rows, invented = [], 0
    for row in texts.astype(object).to_dict("records"):
        text = likely.get((row["doc_id"], row["part"]))
        if row["status"] != "error":
            rows.append(row)
        elif text is not None:
            rows.append(row | {"text": text, "status": "ok"})
            invented += 1
        elif row["part"] == FULL:  # a section that the reference lacks may be left out
            rows.append(row)
    return pd.DataFrame(rows, columns=list(TEXTS.columns)), invented


def _shared_out(parts: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Rows of PARTS without unknown facets, and of how many texts these were."""
    unknown = (parts["part"] != FULL) & (parts["status"] == "error")
    whole: Any = parts[parts["part"] == FULL].set_index(["doc_id", "author"])["text"]
    parts = parts.copy()
    groups = parts[unknown].groupby(["doc_id", "author"], sort=False).groups
    for key, rows in groups.items():
        text, n = str(whole[key]), len(rows)
        spans = sentences(text)
        for place, index in enumerate(rows):
            own = spans[len(spans) * place // n : len(spans) * (place + 1) // n]
            parts.loc[index, ["text", "status"]] = [facet_part("", text, own).text, OK]
    return parts, len(groups)


def _with_clauses(
    units: pd.DataFrame, parts: pd.DataFrame, sources: pd.DataFrame, session: Session
) -> tuple[pd.DataFrame, int]:
    """Rows of UNITS with clauses for claims that are unknown, and of how many parts these are."""
    place = ["doc_id", "author", "part"]
    unknown = (units["kind"] == "claim") & (units["status"] == "error")
    lost = pd.MultiIndex.from_frame(units.loc[unknown, place])
    if lost.empty:
        return units, 0
    by_rule = choose(DECOMPOSITIONS, {"kind": "clauses"}, where="clauses")
    theirs = parts[pd.MultiIndex.from_frame(parts[place]).isin(lost)]
    resources = session.provide(by_rule)
    clauses = by_rule.record.take_apart(theirs, sources, by_rule.options, resources).units
    claims = clauses[clauses["kind"] == "claim"]
    return pd.concat([units[~unknown], claims], ignore_index=True), len(theirs)
