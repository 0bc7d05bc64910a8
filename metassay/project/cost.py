"""Estimate all that the next run of a benchmark or test would ask language models, by stage.

This is a dry run: its session answers from the ledger alone. Stand-ins replace missing
answers: the reference for a text, its sentences in equal shares for its facets, and
clauses by rule for claims.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.core.kinds import Chosen, choose
from metassay.core.options import BENCHMARKS, PARAMS, parse
from metassay.core.params import Benchmark, Params, SegmentTest
from metassay.datasets.ingest import Tables, ingest
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
from metassay.llm.budget import Estimate, estimate_tokens
from metassay.llm.messages import ChatRequest
from metassay.llm.needs import Requests, all_datasets, list_members
from metassay.llm.session import Session
from metassay.scoring.pairing.pairs import build_pairs
from metassay.scoring.pairing.questions import Questions, questions_of
from metassay.scoring.pairing.rubrics import rubric_pairs
from metassay.scoring.rubrics.ask import expand_facets
from metassay.scoring.rubrics.record import RUBRICS, Rubric, load_rubric
from metassay.tables.documents import TEXTS
from metassay.tables.names import FULL, REFERENCE
from metassay.tables.parquet import read
from metassay.text.headings import SECTIONS, divide
from metassay.text.sentences import sentences
from metassay.units import DECOMPOSITIONS, SEGMENTATIONS
from metassay.units.alignment import ALIGNMENTS
from metassay.units.alignment.align import align_units
from metassay.units.facets import facet_part
from metassay.units.record import OK
from metassay.units.segment import segment, texts_of

_TEXT_COLUMNS = ("premise", "hypothesis", "context")
_STAND_IN_LENGTH = 1500  # characters of the source, for a text without a reference

StandIns = dict[tuple[str, str], str]  # text by document and part
Texts = tuple[pd.DataFrame, int]  # texts so far, and how many of them are stand-ins


@dataclass(frozen=True)
class Run:
    """The settings and data of a benchmark that decide what models are asked.

    `texts` is the folder of the systems' texts; `rubrics` have one criterion for each
    facet.
    """

    ingested: Tables
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
    """The estimates of all stages, and notes on what they assume, which quote no text."""

    planned: list[Planned]
    notes: list[str]


def _choose(params: Params, index: Mapping[str, str], block: str, name: str) -> Chosen:
    return choose(
        index, getattr(params, block)[name], where=f"{PARAMS} > {block} > {name}"
    )


def _choose_judges(params: Params, names: Iterable[str]) -> dict[str, Chosen]:
    return {name: _choose(params, JUDGES, "judges", name) for name in names}


def load_run(
    params: Params, name: str, registry: Mapping[str, Dataset], session: Session
) -> Run:
    """Read the raw files and settings of a benchmark; BadInput as ingest and the kinds raise it."""
    folder = params.benchmarks[name]
    segmentation = _choose(params, SEGMENTATIONS, "segmentations", folder.segmentation)
    facets = segmentation.record.facets(segmentation.options)
    reader = find(dict(registry), folder.dataset).reader
    return Run(
        ingested=ingest(reader, Path(folder.raw), folder.criteria),
        systems={n: _choose(params, SYSTEMS, "systems", n) for n in folder.writers},
        segmentation=segmentation,
        decomposition=_choose(
            params, DECOMPOSITIONS, "decompositions", folder.decomposition
        ),
        alignments={
            n: _choose(params, ALIGNMENTS, "alignments", n) for n in folder.alignments
        },
        questions={
            n: parse(
                Questions, params.questions[n], where=f"{PARAMS} > questions > {n}"
            )
            for n in folder.questions
        },
        judges=_choose_judges(params, folder.judges),
        session=session,
        texts=Path("data/tables") / name / "texts",
        rubrics=[
            expand_facets(load_rubric(RUBRICS / f"{n}.yaml"), facets)
            for n in folder.rubrics
        ],
    )


def plan(run: Run) -> Plan:
    """Estimate every stage of the benchmark that asks a model; BadInput as the stages raise it."""
    costs = Plan([], [])
    texts, invented = [run.ingested.texts], []
    for name, system in run.systems.items():
        written, n_stand_ins = _write_texts(run, name, system, costs)
        if n_stand_ins:
            invented.append(name)
            costs.notes.append(
                f"{n_stand_ins} text(s) of {name} are not written yet; their claims, and what"
                " judges are asked about them, are estimated with the references in their place"
            )
        texts.append(written)
    judged = any(map(llm_members, run.judges.values()))
    listed = run.decomposition.record.requests is not None
    if listed or judged or run.segmentation.record.requests is not None:
        parts = _segment(run, pd.concat(texts, ignore_index=True), invented, costs)
        if listed:
            record, options = run.decomposition.record, run.decomposition.options
            decoding = run.session.decoding(record.model(options))
            requests = _requests_by_author(
                lambda rows: record.requests(
                    rows, run.ingested.sources, options, decoding
                ),
                parts.groupby("author"),
                invented,
            )
            leaves = parts[(parts["leaf"] == "yes") & (parts["status"] == "ok")]
            lengths = map(estimate_tokens, leaves["text"])
            _add(costs, "decompose", run.session, run.decomposition, requests, lengths)
        if judged:
            plan_judges(
                run.judges, _pairs(run, parts, invented, costs), run.session, costs
            )
    return costs


def plan_test(
    params: Params, name: str, registry: Mapping[str, Dataset], session: Session
) -> Plan:
    """Estimate the questions of a judge test; raises BadInput as its stages do."""
    folder, costs = params.judge_tests[name], Plan([], [])
    judges = _choose_judges(params, folder.judges)
    if any(map(llm_members, judges.values())):
        test = chosen_test(
            folder.test, folder.options, where=f"{BENCHMARKS / name / PARAMS}"
        )
        reader = str(find(dict(registry), folder.dataset).reader)
        items = ingest_items(
            test,
            reader,
            Path(folder.raw),
            dataset=folder.dataset,
            judges=tuple(folder.judges),
        )
        plan_judges(judges, items.pairs, session, costs)
    return costs


def plan_segment_test(
    params: Params, name: str, registry: Mapping[str, Dataset], session: Session
) -> Plan:
    """Estimate the questions of a segmentation test; raises BadInput as its stages do."""
    folder, costs = params.segment_tests[name], Plan([], [])
    chosen = {
        n: _choose(params, SEGMENTATIONS, "segmentations", n)
        for n in folder.segmentations
    }
    with_model = {
        n: kind for n, kind in chosen.items() if kind.record.requests is not None
    }
    if with_model:
        options = segment_options(folder.options, where=f"{BENCHMARKS / name / PARAMS}")
        reader = str(find(dict(registry), folder.dataset).reader)
        items = ingest_sentences(reader, Path(folder.raw), options)
        texts = texts_of_test(items.texts, items.sentences)
        lengths = [
            estimate_tokens(text.full.text)
            for text in texts
            if text.full.text is not None
        ]
        for segmentation, kind in with_model.items():
            decoding = session.decoding(kind.record.model(kind.options))
            requests = kind.record.requests(texts, kind.options, decoding)
            _add(costs, f"segment-{segmentation}", session, kind, requests, lengths)
    return costs


def refusals(
    params: Params, name: str, session: Session, planned: Sequence[Planned]
) -> list[str]:
    """Say why stages would stop before they ask: one line per stage and dataset.

    Datasets that systems read count by params.yaml as it is now: a run would let them
    write anew.
    """
    folder = params.evaluations[name]
    datasets = {
        f"generate-{n}": all_datasets([choose(SYSTEMS, params.systems[n], where=n)])
        for n in (folder.writers if isinstance(folder, Benchmark) else ())
    }
    of_systems = sorted(set().union(*datasets.values()))
    claims = claim_datasets(folder, params.decompositions)
    for n in () if isinstance(folder, SegmentTest) else folder.judges:
        judge = choose(JUDGES, params.judges[n], where=n)
        datasets[f"judge-{n}"] = [*of_systems, *claims, *all_datasets([judge])]
    return [
        f"{stage} would stop before it asks: {line}"
        for stage, model, _ in planned
        for line in session.refusals(model, datasets.get(stage, of_systems))
    ]


def _add(
    costs: Plan,
    stage: str,
    session: Session,
    chosen: Chosen,
    requests: Requests,
    lengths: Iterable[float],
) -> None:
    """Add what a kind asks; `lengths`: tokens of what each of its answers is about."""
    use = chosen.record.model(chosen.options)
    costs.planned.append(
        Planned(stage, use.model, session.estimate(use, requests, [*lengths]))
    )


def _requests_by_author(
    requests_of: Callable[[Any], Requests],
    groups: Iterable[tuple[Any, Any]],
    invented: Sequence[str],
) -> Requests:
    """Join the requests about each author's texts; those about `invented` texts equal no others."""
    last, requests, most = Requests([], []), [], []
    for author, texts in groups:
        last = requests_of(texts)
        most += last.most
        repeat = -1 - invented.index(author) if author in invented else 0
        requests += [replace(request, repeat=repeat) for request in last.requests]
    return last._replace(requests=requests, most=most)


def _segment(
    run: Run, texts: pd.DataFrame, invented: Sequence[str], costs: Plan
) -> pd.DataFrame:
    """Return rows of PARTS; add to `costs` what is asked for them."""
    chosen, ingested = run.segmentation, run.ingested
    resources = run.session.provide(chosen)
    if resources.model is None:
        return segment(texts, ingested.sources, ingested.segments, chosen, resources)[0]
    record, decoding = chosen.record, resources.model.decoding
    whole_texts = texts_of(texts, ingested.sources, ingested.segments)
    by_author: dict[str, list[Any]] = {}
    for text in whole_texts:
        by_author.setdefault(text.author, []).append(text)
    requests = _requests_by_author(
        lambda group: record.requests(group, chosen.options, decoding),
        sorted(by_author.items()),
        invented,
    )
    lengths = [
        estimate_tokens(text.full.text) for text in whole_texts if text.full.text
    ]
    _add(costs, "segment", run.session, chosen, requests, lengths)
    parts, n_unknown = _fill_facets(
        segment(texts, ingested.sources, ingested.segments, chosen, resources)[0]
    )
    if n_unknown:
        costs.notes.append(
            f"the facets of {n_unknown} text(s) are not known yet; what is asked about them is"
            " estimated with the sentences of each shared out evenly"
        )
    return parts


def _pairs(
    run: Run, parts: pd.DataFrame, invented: Sequence[str], costs: Plan
) -> pd.DataFrame:
    """Return the rows of PAIRS that judges answer; note in `costs` what they assume."""
    sources, pairs = run.ingested.sources, []
    if run.questions:
        resources = run.session.provide(run.decomposition)
        units = run.decomposition.record.take_apart(
            parts, sources, run.decomposition.options, resources
        ).units
        units, n_unknown = _fill_claims(units, parts, sources, run.session)
        if n_unknown:
            costs.notes.append(
                f"the claims of {n_unknown} part(s) are not listed yet; what judges are asked about"
                " them is estimated with clauses by rule in their place"
            )
        kinds = run.alignments.items()
        aligned = {
            name: align_units(sources, units, name, kind)[0] for name, kind in kinds
        }
        tables = (sources, parts, units, aligned)
        pairs = [
            build_pairs(*tables, questions) for questions in run.questions.values()
        ]
    facets = run.segmentation.record.facets(run.segmentation.options)
    pairs += [rubric_pairs(sources, parts, rubric, facets) for rubric in run.rubrics]
    as_texts = [frame.astype(dict.fromkeys(_TEXT_COLUMNS, object)) for frame in pairs]
    return _mark_stand_ins(run, pd.concat(as_texts, ignore_index=True), invented)


def _mark_stand_ins(
    run: Run, pairs: pd.DataFrame, invented: Sequence[str]
) -> pd.DataFrame:
    """Add blanks to questions about stand-ins: these equal the reference, real texts will not."""
    of_reference = {
        question.name
        for questions in run.questions.values()
        for question in questions_of(questions)
        if question.whose == "reference"
    }
    pairs = pairs[pairs["settled"].isna()].copy()
    claimed = pairs["measure"].isin(of_reference)
    for number, author in enumerate(invented, start=1):
        of_author = pairs["author"] == author
        pairs.loc[of_author & claimed, "premise"] += " " * number
        pairs.loc[of_author & ~claimed, "hypothesis"] += " " * number
        pairs.loc[of_author, "pair_id"] += f" {number}"
    return pairs


def plan_judges(
    judges: Mapping[str, Chosen], pairs: pd.DataFrame, session: Session, costs: Plan
) -> None:
    """Add what each judge asks, and each judge inside it."""
    counted: set[str] = set()
    for name, judge in judges.items():
        if not llm_members(judge):
            continue
        check_instruments(pairs, name, instruments_of(judge))
        if any(member.kind == "cascade" for member in list_members(judge)):
            costs.notes.append(
                f"judge-{name} is counted as if the first judge of its cascade were sure of"
                " nothing; what it decides is asked of nobody else"
            )
        for member in llm_members(judge):
            requests, n_questions = judge_requests(member, pairs, session)
            with_most = zip(requests.requests, requests.most, strict=True)
            new = [
                (request, most)
                for request, most in with_most
                if request.key not in counted
            ]
            n_shared = len(requests.requests) - len(new)
            if n_shared:
                costs.notes.append(
                    f"judge-{name}: {n_shared:,} of its questions are another judge's, too, and"
                    " counted there"
                )
            counted.update(request.key for request, _ in new)
            first, most = [request for request, _ in new], [most for _, most in new]
            requests = requests._replace(requests=first, most=most)
            _add(costs, f"judge-{name}", session, member, requests, [n_questions])


def judge_requests(
    judge: Chosen, pairs: pd.DataFrame, session: Session
) -> tuple[Requests, float]:
    """Return each request to a model once, and its mean number of questions."""
    decoding = session.decoding(judge.record.model(judge.options))
    n_questions, answer_length = 0, 0.0
    requests: dict[str, tuple[ChatRequest, int]] = {}
    for batch in batches(pairs, judge.record.batch):
        of_batch = judge.record.requests(batch, judge.options, decoding)
        with_most = zip(of_batch.requests, of_batch.most, strict=True)
        requests.update((request.key, (request, most)) for request, most in with_most)
        n = len(set(map(question_of, batch)))
        n_questions, answer_length = (
            n_questions + n,
            answer_length + n * of_batch.answer_length,
        )

    if not requests:
        return Requests([], []), 0.0
    distinct, most = zip(*requests.values(), strict=True)
    unique = Requests(
        [*distinct], [*most], answer_length / n_questions, of_batch.longer
    )
    return unique, n_questions / len(distinct)


# ---- stand-ins for texts, parts and claims that models have not written yet ---------------------


def _write_texts(run: Run, name: str, system: Chosen, costs: Plan) -> Texts:
    """Return a system's texts, with stand-ins for missing ones; add to `costs` what it asks."""
    sources, record = run.ingested.sources, system.record
    if record.requests is None and record.costly:  # it takes too long to be run here
        path = run.texts / f"{name}.parquet"
        if path.exists():
            return read(TEXTS, path), 0
        rows = [
            (doc, name, FULL, None, "error", "not written yet")
            for doc in sources["doc_id"]
        ]
        frame = pd.DataFrame(rows, columns=list(TEXTS.columns))
        return _fill_texts(frame, _stand_ins(run.ingested, by_section=False))
    resources = run.session.provide(system)
    texts = write_texts(sources, name, system, resources).texts
    if resources.model is None:
        return texts, 0
    requests = record.requests(
        sources, system.options, resources.model.decoding, resources.raw
    )
    by_section = bool(texts["part"].isin(SECTIONS).any())
    stand_ins = _stand_ins(run.ingested, by_section=by_section)
    lengths = map(estimate_tokens, stand_ins.values())
    _add(costs, f"generate-{name}", run.session, system, requests, lengths)
    filled, n_stand_ins = _fill_texts(texts, stand_ins)
    if record.follow_up is not None:
        requests = record.follow_up(filled, system.options, resources.model.decoding)
        stage = f"generate-{name} (follow-up)"
        lengths = map(estimate_tokens, stand_ins.values())
        _add(costs, stage, run.session, system, requests, lengths)
    return filled, n_stand_ins


def _stand_ins(ingested: Tables, *, by_section: bool) -> StandIns:
    """Return the reference for each document and part, or else the start of the source."""
    stand_ins: StandIns = {}
    sources, texts = ingested.sources, ingested.texts
    for doc_id, passages in zip(sources["doc_id"], sources["passages"], strict=True):
        if any(passage.strip() for passage in passages):
            stand_ins[str(doc_id), FULL] = "\n".join(passages)[:_STAND_IN_LENGTH]
    references = texts[(texts["author"] == REFERENCE) & (texts["part"] == FULL)]
    for doc_id, text in zip(references["doc_id"], references["text"], strict=True):
        if (doc_id, FULL) in stand_ins and isinstance(text, str):
            stand_ins[doc_id, FULL] = text
    if by_section:
        for doc_id in sources.loc[sources["task"] == "note", "doc_id"]:
            whole = stand_ins.pop((doc_id, FULL), "")
            for part, pieces in divide(whole, compat="none").items():
                stand_ins[doc_id, part] = "\n\n".join(
                    whole[start:end] for start, end in pieces
                )
    return stand_ins


def _fill_texts(texts: pd.DataFrame, stand_ins: StandIns) -> Texts:
    """Put a stand-in, where there is one, for each text that has no answer yet.

    The whole stands in for parts that are no sections of a note.
    """
    rows, n_stand_ins = [], 0
    for row in texts.astype(object).to_dict("records"):
        of_its_own = row["part"] not in (FULL, *SECTIONS)
        text = stand_ins.get((row["doc_id"], FULL if of_its_own else row["part"]))
        if row["status"] != "error":
            rows.append(row)
        elif text is not None:
            rows.append(row | {"text": text, "status": "ok"})
            if not of_its_own:  # a text is counted once, not each of its parts
                n_stand_ins += 1
        elif row["part"] == FULL:  # a section that the reference lacks may be left out
            rows.append(row)
    return pd.DataFrame(rows, columns=list(TEXTS.columns)), n_stand_ins


def _fill_facets(parts: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Share sentences out among unknown facets; return rows of PARTS and the number of texts."""
    unknown = (parts["part"] != FULL) & (parts["status"] == "error")
    whole: Any = parts[parts["part"] == FULL].set_index(["doc_id", "author"])["text"]
    parts = parts.copy()
    groups = parts[unknown].groupby(["doc_id", "author"], sort=False).groups
    for key, rows in groups.items():
        text, n = str(whole[key]), len(rows)
        spans = sentences(text)
        for place, index in enumerate(rows):
            share = spans[len(spans) * place // n : len(spans) * (place + 1) // n]
            parts.loc[index, ["text", "status"]] = [
                facet_part("", text, share).text,
                OK,
            ]
    return parts, len(groups)


def _fill_claims(
    units: pd.DataFrame, parts: pd.DataFrame, sources: pd.DataFrame, session: Session
) -> tuple[pd.DataFrame, int]:
    """Put clauses for unknown claims; return rows of UNITS and the number of parts changed."""
    place = ["doc_id", "author", "part"]
    unknown = (units["kind"] == "claim") & (units["status"] == "error")
    unlisted = pd.MultiIndex.from_frame(units.loc[unknown, place])
    if unlisted.empty:
        return units, 0
    by_rule = choose(DECOMPOSITIONS, {"kind": "clauses"}, where="clauses")
    parts = parts[pd.MultiIndex.from_frame(parts[place]).isin(unlisted)]
    resources = session.provide(by_rule)
    clauses = by_rule.record.take_apart(
        parts, sources, by_rule.options, resources
    ).units
    claims = clauses[clauses["kind"] == "claim"]
    return pd.concat([units[~unknown], claims], ignore_index=True), len(parts)
