"""The test `attacks`: texts that are not entailed, attacked and as they are."""

from collections.abc import Iterator
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from metassay.core.options import Options, Seed, refuse
from metassay.labelled.records import (
    DATASET,
    ENTAILED,
    NOT_ENTAILED,
    ItemRow,
    Items,
    Label,
    hash_of,
)
from metassay.labelled.reference_sentences import (
    ReferenceSentence,
    reference_sentences,
)
from metassay.tabular.rows import Place, Rows
from metassay.text.edits.attacks import (
    ATTACKS,
    NEAR_CITATION,
    SOURCE_APPENDED,
    Attack,
    Material,
    attacks,
)
from metassay.text.edits.make import FLIPS, edits

TRUE, PLAIN = "true", "plain"  # kinds of items that nobody attacked
# As a premise, an appended source entails the claim, and there is nothing to cite.
NOT_OF_PREMISES = (SOURCE_APPENDED, NEAR_CITATION)

_UNKNOWN = f"is not known; choose from {', '.join(ATTACKS)}"


class AttackOptions(Options):
    """The claims of a test by attacks, and what a gain is measured by.

    `claims`: the largest number of false claims, each an edit of a sentence of a
    reference; `seed` decides which, and a smaller number is part of a larger.
    `attacked`: `hypothesis`, texts that are read against the reference; `premise`,
    texts in which a sentence of the reference is sought. `kinds`: the attacks; an empty
    list means all. `margin`: the smallest gain that matters, chosen before the results
    are known.
    """

    claims: Annotated[int, Field(ge=1)]
    seed: Seed
    attacked: Literal["hypothesis", "premise"]
    kinds: list[
        Annotated[str, refuse(lambda kind: None if kind in ATTACKS else _UNKNOWN)]
    ]
    margin: Annotated[float, Field(gt=0, lt=1)]

    @model_validator(mode="after")
    def _check(self) -> Self:
        for kind in self.kinds:
            if not _exists(kind, self.attacked):
                raise ValueError(
                    f"kinds: {kind} needs attacked: hypothesis; remove it, or set that"
                )
        return self


def _exists(kind: str, attacked: str) -> bool:
    return attacked == "hypothesis" or kind not in NOT_OF_PREMISES


class _Claim(NamedTuple):
    sentence: ReferenceSentence
    false: str  # the sentence, edited so that its reference does not entail it


def attack_items(read: Rows, options: AttackOptions) -> Items:
    """Make false claims of a sample of the references' sentences, and attack with each.

    Equal sentences count once. A sentence must stand in a reference that has another
    sentence, and allow an edit that changes its truth. Each claim is an item `true`
    (the sentence itself, which is entailed), one `plain` (the edit) and one per attack;
    their keys are of document, sentence and kind. An item's cluster is its document.
    """
    claims = {
        claim.sentence.text: claim for claim in reversed([*_claims(read, options)])
    }
    sample = sorted(claims, key=lambda text: hash_of(options.seed, text))
    sample = sample[: options.claims]
    if not read.problems:
        _warn_of_few(read, len(sample), options)
    chosen = [claims[text] for text in sample]
    chosen.sort(key=lambda claim: (claim.sentence.row.doc_id, claim.sentence.number))
    items = [item for claim in chosen for item in _items(claim, options)]
    return Items(items, problems=read.problems, warnings=read.warnings)


def _warn_of_few(read: Rows, n: int, options: AttackOptions) -> None:
    if not n:
        what = "no reference has a sentence that the rules of edits can make false"
        remedy = "name a dataset whose texts have references of two sentences and more"
        read.problems.add(DATASET, what, remedy)
    elif n < options.claims:
        at = Place("params.yaml > options > claims")
        what = f"only {n:,} of {options.claims:,} claims could be made"
        read.warnings.add(at, what, "all of them are used; ask for fewer")


def _claims(read: Rows, options: AttackOptions) -> Iterator[_Claim]:
    for sentence in reference_sentences(read):
        if not any(other != sentence.text for other in sentence.others):
            continue
        candidates = edits(sentence.text, FLIPS, options.seed, sentence.others)
        if candidates:
            # One edit, so that no sentence counts twice.
            drawn = min(candidates, key=lambda edit: hash_of(options.seed, edit.text))
            yield _Claim(sentence, drawn.text)


def _items(claim: _Claim, options: AttackOptions) -> Iterator[ItemRow]:
    sentence = claim.sentence
    source = sentence.row.text or ""
    material = Material(
        true=sentence.text,
        false=claim.false,
        others=[other for other in sentence.others if other != sentence.text],
        source=source,
        seed=options.seed,
    )
    of_text = [Attack(TRUE, sentence.text, source), Attack(PLAIN, claim.false, source)]
    for attack in [*of_text, *attacks(material)]:
        if attack.name in ATTACKS and not _is_asked(attack.name, options):
            continue
        premise, hypothesis = attack.read_against, attack.text
        if options.attacked == "premise":
            premise, hypothesis = attack.text, sentence.text
        label: Label = ENTAILED if attack.name == TRUE else NOT_ENTAILED
        yield ItemRow(
            at=sentence.row.at,
            item=f"{sentence.row.doc_id}:{sentence.number}:{attack.name}",
            premises=[premise],
            hypothesis=hypothesis,
            label=label,
            subset=options.attacked,
            kind=attack.name,
            cluster=sentence.row.doc_id,
        )


def _is_asked(name: str, options: AttackOptions) -> bool:
    if not _exists(name, options.attacked):
        return False
    return not options.kinds or name in options.kinds
