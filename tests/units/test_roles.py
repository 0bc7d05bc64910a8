"""Facets by rules: headings, cues, places and neighbours, against sums and searches by hand.

The texts of biomedical/ are invented reports of studies, written before the rules for
them; the rules were then made on those of `design`.
"""

import itertools
import json
import re
from pathlib import Path

import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.core.options import Block
from metassay.llm.needs import Resources
from metassay.text.spans import Span
from metassay.units import SEGMENTATIONS
from metassay.units.record import Divided, Text
from metassay.units.role_cues import ROLES, is_study
from metassay.units.role_headings import read_heading
from metassay.units.role_order import ANY_TEXT, REPORT_OF_STUDY, Order
from metassay.units.roles import Read, count_cue_points, cue_roles, read
from tests.units.role_setup import agreement, development_split, text_of

ROOT = Path(__file__).parents[2]
BMRC = {
    "background": ["background", "objective"],
    **{name: [name] for name in ("method", "result", "conclusion")},
}
PLAIN = (
    "Falls are a major problem in hospitals. However, little is known about falls at night."
    " The aim of this study was to describe them. We collected reports from nine wards."
    " Each report was read twice. We found that 40 % of falls happened at night."
    " These results suggest that more light may help. All rights reserved."
)


def divided(texts: list[Text], facets: Block = BMRC) -> Divided:
    kind = choose(SEGMENTATIONS, {"kind": "cues", "facets": facets}, where="here")
    results: Divided = kind.record.divide(
        texts, kind.options, Resources(Path("data/raw"))
    )
    assert kind.record.facets(kind.options) == tuple(facets)
    return results


def roles_of(full: str) -> list[str]:
    return cue_roles(read(text_of(full)))


def test_a_plain_abstract_becomes_facets() -> None:
    (parts,), notes = divided([text_of(PLAIN)])
    assert [(part.name, part.text) for part in parts] == [
        ("background", PLAIN[: PLAIN.index(" We collected")]),
        ("method", "We collected reports from nine wards. Each report was read twice."),
        ("result", "We found that 40 % of falls happened at night."),
        ("conclusion", "These results suggest that more light may help."),
    ]
    assert all(len(part.pieces) == 1 for part in parts)  # neighbours are one piece
    assert notes == (
        "roles of 8 sentences: background 2, objective 1, method 2, result 1, conclusion 1,"
        " other 1; 1 of them are of no facet",
    )
    # Other facets are only a block.
    (parts,), notes = divided(
        [text_of(PLAIN)], {"why": ["background"], "what": ["method", "result"]}
    )
    assert [part.name for part in parts] == ["why", "what"]
    assert "3 of them are of no facet" in notes[0]


def test_pieces_of_a_facet_that_stand_apart_are_joined_by_a_blank() -> None:
    full = "METHODS: Ten wards took part. RESULTS: Half agreed. METHODS: All were asked again."
    ((method, result),), _ = divided([text_of(full)])
    pieces = ["Ten wards took part.", "All were asked again."]
    assert [full[a:b] for a, b in method.pieces] == pieces
    assert (method.text, result.text) == (" ".join(pieces), "Half agreed.")


@pytest.mark.parametrize(
    ("text", "its", "rest"),
    [
        ("METHODS: We asked.", "method", "We asked."),
        ("Methods: We asked.", "method", "We asked."),
        ("**Results:** Half agreed.", "result", "Half agreed."),
        ("CONCLUSIONS. Ask again.", "conclusion", "Ask again."),
        ("CONCLUSION\u2014Ask again.", "conclusion", "Ask again."),
        ("Purpose \u2013 To ask.", "objective", "To ask."),
        ("Background and aims: None.", "background objective", "None."),
        ("Design, setting, and participants: A trial.", "method", "A trial."),
        ("Materials and methods: Steel.", "method", "Steel."),
        ("Methods and results: Steel.", "method result", "Steel."),
        ("Authors\u2019 conclusions: Yes.", "conclusion", "Yes."),
        ("## Results", "result", ""),
        ("Keywords: sleep", "other", "sleep"),
        *(
            (text, None, "")
            for text in (
                # the end of a sentence, perhaps
                "Results were good.",
                "Methods differ. They do.",
                "setting.",
                "",
                "Conclusions.",
                "results \u2013 all of them \u2013 are old.",
                "Purpose-built walls fell.",
                "Resulting: nothing.",
            )
        ),
    ],
)
def test_headings(text: str, its: str | None, rest: str) -> None:
    heading = read_heading(text)
    if its is None:
        assert heading is None
    else:
        assert heading is not None
        assert (heading.roles, text[heading.end :]) == (set(its.split()), rest)


def test_a_heading_holds_until_the_next() -> None:
    full = "Nights are dark.\n\nMethods\nWe found lamps. They cost 3 %.\n\n"
    full += "Conclusion:\nWe used them."
    texts = ["Nights are dark.", "We found lamps.", "They cost 3 %.", "We used them."]
    assert read(text_of(full)).texts == texts
    # Whatever the words say.
    assert roles_of(full) == ["background", "method", "method", "conclusion"]
    # A sentence that the data have keeps its heading.
    full = "Results: Half agreed. Purpose \u2013"
    spans = [Span(0, 21), Span(22, len(full))]
    of_data = read(text_of(full, spans))
    assert of_data.spans == spans
    assert of_data.texts == ["Half agreed.", "Purpose \u2013"]
    assert cue_roles(of_data) == ["result", "objective"]


def test_texts_without_sentences_and_failed_ones_stay_undivided() -> None:
    for full in ("", " \n ", "Results", "\u2026 \u2014"):
        assert divided([text_of(full)]) == Divided([[]], ())
    both = divided(
        [text_of("lost", status="error"), text_of("We found that 30 % fell.")]
    )
    assert [[part.name for part in parts] for parts in both.parts] == [[], ["result"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We found that 30 % of patients fell.", ["result"]),
        ("The aim of this study was to count falls.", ["objective"]),
        ("We conclude that lamps help.", ["conclusion"]),
        # Numbers make no result and a change makes one.
        (
            "Low back pain is common among bakers. We randomly assigned 96 bakers to stretch for"
            " eight minutes per shift or to work as usual, and measured pain weekly for twelve"
            " weeks. Mean pain fell from 5.1 to 3.2 with stretching and from 5.0 to 4.6 without (p"
            " = .004). Sick leave did not differ. Stretching may ease back pain.",
            ["background", "method", "result", "result", "conclusion"],
        ),
        # Another order is allowed.
        (
            "Tea is common. Forty adults were randomly assigned to tea or water. Sleep fell by 12"
            " minutes with tea (p = 0.02). Sleep was then measured again with a questionnaire by"
            " two blinded assessors. No difference was found after a year.",
            ["background", "method", "result", "method", "result"],
        ),
    ],
)
def test_roles_by_words_and_order(text: str, expected: list[str]) -> None:
    assert roles_of(text) == expected


def test_points_are_a_sum_over_cues() -> None:
    """Little is known: 1.4; however, at the start: 1.2; and nothing else speaks for a role."""
    (row,) = count_cue_points(["However, little is known here."])
    assert row.tolist() == [pytest.approx(1.2 + 1.4), *[0.0] * 5]
    assert ROLES[0] == "background"
    assert count_cue_points(["Xyz."]).tolist() == [[0.0] * 6]
    # To be blinded is a method's, 1.8, in reports of studies alone; and so are
    # participants that were something, 1.6, elsewhere, too.
    sentence = "Participants were blinded."
    method = ROLES.index("method")
    among = count_cue_points([sentence, "It is so.", "We propose it."])[0]
    assert among[method] == pytest.approx(1.6)
    assert count_cue_points([sentence])[0][method] > among[method] + 1.8


@pytest.mark.parametrize(
    ("sentences", "order"),
    [
        (
            [
                "Falls happen.",
                "We use lamps.",
                "It is brighter.",
                "More light is needed.",
            ],
            ANY_TEXT,
        ),
        (
            ["Falls happen.", "We used lamps.", "Half fell.", "More is needed."],
            REPORT_OF_STUDY,
        ),
    ],
)
def test_the_roles_are_the_best_of_all_sequences(
    sentences: list[str], order: Order
) -> None:
    """Against a search through all 6^4 sequences, with places and headings."""
    allowed = [None, frozenset({"method", "result"}), None, None]
    points = count_cue_points(sentences)
    assert is_study(sentences) == (order is REPORT_OF_STUDY)

    def total(path: tuple[int, ...]) -> float:
        worth = sum(points[place, role] for place, role in enumerate(path))
        worth += sum(
            order.by_fifth[fifth, role]
            for fifth, role in zip((0, 1, 3, 4), path, strict=True)
        )
        worth += order.first[path[0]] + order.last[path[-1]]
        return worth + sum(order.by_previous[pair] for pair in itertools.pairwise(path))

    paths = itertools.product(range(6), repeat=4)
    allowed_paths = [path for path in paths if ROLES[path[1]] in ("method", "result")]
    best = [ROLES[role] for role in max(allowed_paths, key=total)]
    assert cue_roles(Read([Span(0, 0)] * 4, sentences, allowed)) == best


@pytest.mark.parametrize(
    ("facets", "message"),
    [
        (
            {"a": ["method"], "b": ["result", "method"]},
            "method: a sentence has one facet",
        ),
        ({"a": ["methods"]}, "must be 'background'"),
        ({"a": []}, "at least 1 item"),
        ({}, "at least 1 item"),
        ({"full": ["method"]}, "'full' is the whole text"),
    ],
)
def test_bad_facets(facets: Block, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        divided([], facets)


def test_every_block_of_the_page_is_taken_as_it_stands() -> None:
    page = (ROOT / "docs/metrics.md").read_text("utf-8")
    fenced = re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL)
    blocks = [
        (yaml.safe_load(text).get("segmentations") or {}).items() for text in fenced
    ]
    assert any(blocks)
    for name, block in itertools.chain(*blocks):
        chosen = choose(SEGMENTATIONS, block, where=name)
        assert chosen.record.facets(chosen.options)


def test_long_runs_of_cues_take_no_time() -> None:
    runs = (
        "results ",
        "METHODS ",
        "to address ",
        "was ",
        "the patients were ",
        "from 1.2 to 3.4 ",
    )
    for text in (run * 3000 for run in runs):
        read(text_of(text))
        assert count_cue_points([text]).shape == (1, 6)


def test_csabstruct_by_rules_alone(mirror: Path, tmp_path: Path) -> None:
    """docs/metrics.md has these numbers; a guess of background alone is right for .336."""
    reads, right = development_split(mirror, tmp_path)
    assert agreement(right, map(cue_roles, reads)) == (2026, 0.631, 0.586)


@pytest.mark.parametrize(("name", "right"), [("design", 57), ("held_out", 55)])
def test_invented_abstracts(name: str, right: int) -> None:
    """docs/metrics.md has these numbers; of 58 sentences each, and a conclusion is no result."""
    same = []
    lines = Path(__file__).parent / f"biomedical/{name}.jsonl"
    for abstract in map(json.loads, lines.read_text(encoding="utf-8").splitlines()):
        sizes = [len(sentence) for sentence in abstract["sentences"]]
        starts = [0, *itertools.accumulate(size + 1 for size in sizes)]
        spans = [Span(at, at + size) for at, size in zip(starts, sizes, strict=False)]
        reads = read(text_of(" ".join(abstract["sentences"]), spans))
        assert is_study(reads.texts)
        pairs = zip(cue_roles(reads), abstract["labels"], strict=True)
        same += [role == label for role, label in pairs]
    assert (sum(same), len(same)) == (right, 58)


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        (["Adults were asked.", "Half of them agreed."], True),
        (["We report a case.", "A patient was pale."], True),
        (["Tea helps patients.", "We propose an algorithm.", "It was tested."], False),
        (["Falls happen.", "More light is needed."], False),
        # one of three
        (["All of it is open.", "It was tested.", "It is fast."], False),
    ],
)
def test_what_is_a_report_of_a_study(sentences: list[str], expected: bool) -> None:
    assert is_study(sentences) is expected
