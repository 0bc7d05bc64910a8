"""What judges would ask about some pairs."""

from collections.abc import Collection, Iterator, Mapping

import pandas as pd

from metassay.cost.run import Plan, Planned, decoding_of, estimated
from metassay.judges.make import instruments_of
from metassay.judges.pairwise import question_of
from metassay.judges.problems import asking
from metassay.judges.run import batches, check_instruments
from metassay.kinds import Chosen
from metassay.llm.endpoints import Models
from metassay.llm.ledger import Ledger
from metassay.llm.messages import ChatRequest
from metassay.needs import Requests, everyone


def judging(
    judges: Mapping[str, Chosen], pairs: pd.DataFrame, models: Models, ledger: Ledger, found: Plan
) -> None:
    """Add to `found` what each judge asks, and each judge inside it; BadInput as the stages raise.

    What two judges ask is counted for the first one. Of a cascade every pair is counted for both
    judges.
    """
    known: set[str] = set()
    for name, judge in judges.items():
        if asking(judge):
            check_instruments(pairs, name, instruments_of(judge))
            found.notes.extend(_bounds(name, judge))
        for one in asking(judge):
            use = one.record.model(one.options)
            requests, questions = _asked(one, pairs, models)
            own = _without(known, requests)
            both = len(requests.requests) - len(own.requests)
            if both:
                found.notes.append(
                    f"judge-{name}: {both:,} of its questions are another judge's, too, and counted"
                    " there"
                )
            costs = estimated(models, use, own, [questions], ledger)
            known.update(request.key for request in requests.requests)
            found.planned.append(Planned(f"judge-{name}", use.model, costs))


def _asked(judge: Chosen, pairs: pd.DataFrame, models: Models) -> tuple[Requests, float]:
    """Each request to a model once, and how many questions it is about on average."""
    decoding = decoding_of(models, judge.record.model(judge.options))
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


def _without(known: Collection[str], asked: Requests) -> Requests:
    left = [place for place, one in enumerate(asked.requests) if one.key not in known]
    return asked._replace(
        requests=[asked.requests[place] for place in left], most=[asked.most[p] for p in left]
    )


def _bounds(name: str, judge: Chosen) -> Iterator[str]:
    if any(one.kind == "cascade" for one in everyone(judge)):
        yield (
            f"judge-{name} is counted as if the first judge of its cascade were sure of nothing;"
            " what it decides is asked of nobody else"
        )
