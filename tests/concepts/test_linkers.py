"""Linkers: term lists by hand and by a search, and adapters against fakes of packages."""

import re
import sys
from itertools import groupby
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.concepts import linkers, terms
from metassay.concepts.terms import Mention
from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.core.options import Options, parse
from metassay.metrics import METRICS

HERE = Path(__file__).parent
LINES = [
    line.split(" |")
    for line in (HERE / "clinical_lines.txt")
    .read_text(encoding="utf-8")
    .splitlines()[1:]
]
TERMS = terms.load_terms(HERE / "lines.csv")


class LinkerBlock(Options):
    """What has a linker."""

    linker: linkers.Linker


def linker(**block: object) -> linkers.Linker:
    return parse(LinkerBlock, {"linker": block}, where="test").linker


def term_list(path: Path | str, **changes: object) -> linkers.Linker:
    return linker(kind="terms", terms=str(path), **changes)


@pytest.mark.parametrize(("text", "expected"), LINES, ids=lambda it: it.strip())
def test_what_a_line_of_a_note_names(text: str, expected: str) -> None:
    mentions = terms.mentions(text, TERMS)
    assert sorted(mentions, key=lambda mention: mention.start) == mentions
    places = groupby(mentions, key=lambda mention: mention[:2])
    named = [
        f"{text[a:b]}={'/'.join(m.concept for m in each)}" for (a, b), each in places
    ]
    assert " ".join(named) == expected.strip()
    assert len(LINES) >= 40


def test_a_mention_has_its_type_and_the_list_s_wording() -> None:
    assert terms.mentions("No FEVERS, but chf.", TERMS) == [
        Mention(3, 9, "FEVER", "finding", "fever"),
        Mention(15, 18, "HEART_FAILURE", "disorder", "CHF"),
    ]
    assert terms.mentions("", TERMS) == []


def test_other_types_do_not_count() -> None:
    link = linkers.load(
        term_list(HERE / "lines.csv", semantic_types=["finding", "substance"])
    )
    mentions = link("heart failure, cough, latex")
    assert [mention.concept for mention in mentions] == ["COUGH", "LATEX"]
    types = term_list("x", semantic_types=["Devices", "finding"]).types
    assert sorted(types or ()) == ["T074", "T075", "T203", "finding"]
    assert term_list("x").types is None


def test_the_recipe_and_the_files(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("term,concept,semantic_type\nfever,FEVER,\n", encoding="utf-8")
    before = linkers.recipe(term_list(path))
    form = r"terms,semantic_types=None,terms=.*list\.csv#list\.csv:[0-9a-f]{8}"
    assert re.fullmatch(form, before)
    assert [file.path for file in linkers.files(term_list(path))] == [path]
    path.write_text("term,concept,semantic_type\nfever,F,\n", encoding="utf-8")
    assert linkers.recipe(term_list(path)) != before
    with pytest.raises(
        BadInput, match=r"none\.csv: cannot be read; name an existing file"
    ):
        linkers.recipe(term_list(tmp_path / "none.csv"))
    with pytest.raises(BadInput, match="linker"):
        linker(kind="nobody")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("term,concept\nfever,FEVER\n", "'semantic_type'"),
        (
            "term,concept,semantic_type\n?,FEVER,\nfever, ,\n",
            "terms.csv: 2 lines: a term or con",
        ),
        (
            "",
            "terms.csv: is empty; write a CSV with the columns term, concept, semantic_type",
        ),
        (None, "/terms.csv"),
    ],
)
def test_lists_that_are_none(tmp_path: Path, text: str | None, expected: str) -> None:
    path = tmp_path / "terms.csv"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=re.escape(expected)) as error:
        linkers.load(term_list(path))
    assert str(tmp_path) in str(error.value)


WORDS = st.sampled_from(["a", "b", "c", "d", "ab"])
NAMES = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)


@given(st.sets(NAMES, min_size=1, max_size=6), st.lists(WORDS, max_size=12))
def test_equal_to_a_search_by_one_expression(names: set[str], text: list[str]) -> None:
    """Alternatives, longest in words first, from left to right."""
    sizes: dict[str, set[int]] = {}
    for name in names:
        sizes.setdefault(name.split()[0], set()).add(len(name.split()))
    known = terms.Terms(
        {name: [terms.Meaning(name, "", name, False)] for name in names},
        {first: sorted(each, reverse=True) for first, each in sizes.items()},
    )
    longest = sorted(names, key=lambda name: (-len(name.split()), name))
    matches = re.finditer(rf"(?<!\S)(?:{'|'.join(longest)})(?!\S)", " ".join(text))
    expected = [(*match.span(), match.group()) for match in matches]
    assert [
        mention[:3] for mention in terms.mentions(" ".join(text), known)
    ] == expected


TEXT = "Chest pain; CT of the heart."
PAIN, HEART = (
    (0, 10, "C0008031", "T184", "chest pain"),
    (22, 27, "C0018787", "T023", "heart"),
)


def install(monkeypatch: pytest.MonkeyPatch, name: str, **content: Any) -> None:
    """A module of this name, and empty packages around it."""
    for at in range(1, name.count(".") + 2):
        package = ".".join(name.split(".")[:at])
        if package not in sys.modules:
            module = ModuleType(package)
            module.__path__ = []
            monkeypatch.setitem(sys.modules, package, module)
    for key, value in content.items():
        monkeypatch.setattr(sys.modules[name], key, value, raising=False)


def entity(text: str, label: str, *candidates: tuple[str, float]) -> Any:
    start = TEXT.index(text)
    underscore = SimpleNamespace(kb_ents=list(candidates))
    place = {"start_char": start, "end_char": start + len(text)}
    return SimpleNamespace(text=text, label_=label, _=underscore, **place)


class Nlp:
    """A pipeline of spaCy, with scispaCy's entities."""

    def __init__(self) -> None:
        self.pipes: list[tuple[str, dict[str, Any]]] = []
        types = {"C0008031": ["T184"], "C0018787": ["T023", "T999"]}
        kinds = {
            cui: SimpleNamespace(concept_id=cui, types=each)
            for cui, each in types.items()
        }
        self.kb = SimpleNamespace(cui_to_entity=kinds)

    def add_pipe(self, name: str, config: dict[str, Any] | None = None) -> Any:
        assert name in ("abbreviation_detector", "scispacy_linker")
        self.pipes.append((name, config or {}))
        return self

    def __call__(self, text: str) -> Any:
        assert text == TEXT
        pain = entity("Chest pain", "DISEASE", ("C0008031", 0.99), ("C0000001", 0.8))
        heart = entity("heart", "ENTITY", ("C0018787", 1.0))
        return SimpleNamespace(ents=[pain, entity("CT", "CHEMICAL"), heart])


@pytest.fixture
def nlp(monkeypatch: pytest.MonkeyPatch) -> Nlp:
    pipeline = Nlp()

    def load(name: str) -> Nlp:
        if name != "en_core_sci_sm":
            raise OSError(f"[E050] Can't find model '{name}'.")
        return pipeline

    install(monkeypatch, "spacy", load=load)
    return pipeline


SCISPACY = {"kind": "scispacy", "model": "en_core_sci_sm"}


def test_scispacy_links_each_entity_to_its_best_candidate(
    nlp: Nlp, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("abbreviation", "linking"):
        install(monkeypatch, f"scispacy.{name}")
    block = SCISPACY | {"knowledge_base": "umls", "threshold": 0.8}
    assert linkers.load(linker(**block))(TEXT) == [Mention(*PAIN), Mention(*HEART)]
    settings = {"resolve_abbreviations": True, "linker_name": "umls", "threshold": 0.8}
    assert nlp.pipes == [("abbreviation_detector", {}), ("scispacy_linker", settings)]
    anatomy = linkers.load(linker(**block, semantic_types=["Anatomy"]))
    assert anatomy(TEXT) == [Mention(*HEART)]


def test_scispacy_without_a_knowledge_base_has_wordings(nlp: Nlp) -> None:
    options = linker(**SCISPACY)
    assert linkers.load(options)(TEXT) == [
        Mention(0, 10, "chest pain", "DISEASE", "chest pain"),
        Mention(12, 14, "ct", "CHEMICAL", "ct"),
        Mention(22, 27, "heart", "ENTITY", "heart"),
    ]
    assert not nlp.pipes
    assert linkers.files(options) == ()
    assert linkers.recipe(options).endswith("#absent#absent")
    with pytest.raises(
        BadInput, match="en_ner_bc5cdr_md is not installed; run: pip install sci"
    ):
        linkers.load(linker(kind="scispacy", model="en_ner_bc5cdr_md"))


class Cat:
    """MedCAT's CAT, as its get_entities answers."""

    @classmethod
    def load_model_pack(cls, path: str) -> "Cat":
        assert Path(path).name == "umls_sm.zip"
        return cls()

    def get_entities(self, text: str) -> dict[str, Any]:
        assert text == TEXT
        rest = {
            "acc": 1.0,
            "context_similarity": 1.0,
            "meta_anns": {},
            "icd10": [],
            "snomed": [],
        }
        heart = {
            "pretty_name": "Heart",
            "cui": "C0018787",
            "type_ids": ["T023", "T017"],
        }
        pain = {"pretty_name": "Chest Pain", "cui": "C0008031", "type_ids": ["T184"]}
        entities = {
            2: {
                **heart,
                "source_value": "heart",
                "start": 22,
                "end": 27,
                "id": 2,
                **rest,
            },
            0: {
                **pain,
                "source_value": "Chest pain",
                "start": 0,
                "end": 10,
                "id": 0,
                **rest,
            },
        }
        return {"entities": entities, "tokens": []}


def test_medcat_gives_the_first_type(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(monkeypatch, "medcat.cat", CAT=Cat)
    pack = tmp_path / "umls_sm.zip"
    options = linker(kind="medcat", model=str(pack))
    missing = r"umls_sm.zip does not exist; run: pip install medcat, and d"
    with pytest.raises(BadInput, match=missing):
        linkers.load(options)
    pack.write_bytes(b"pack")
    assert linkers.load(options)(TEXT) == [Mention(*PAIN), Mention(*HEART)]
    assert [file.path for file in linkers.files(options)] == [pack]
    before = linkers.recipe(options)
    pack.write_bytes(b"another")
    assert linkers.recipe(options) != before


class Matcher:
    """QuickUMLS; `calls` has its settings and what it was asked."""

    calls: list[Any]

    def __init__(self, quickumls_fp: str, **settings: Any) -> None:
        Matcher.calls = [(quickumls_fp, settings)]

    def match(
        self, text: str, best_match: bool = True, ignore_syntax: bool = False
    ) -> Any:
        Matcher.calls.append((best_match, ignore_syntax))
        assert text == TEXT
        rest = {"similarity": 1.0, "preferred": 1}
        heart = {
            "start": 22,
            "end": 27,
            "ngram": "heart",
            "term": "heart",
            "cui": "C0018787",
        }
        pain = {
            "start": 0,
            "end": 10,
            "ngram": "Chest pain",
            "term": "Pain, Chest",
            **rest,
        }
        types = {"C0008031": {"T184", "T033", "T002"}, "C0000002": {"T061"}}
        candidates = [
            {**pain, "cui": cui, "semtypes": each} for cui, each in types.items()
        ]
        return [[{**heart, "semtypes": {"T023"}, **rest}], candidates]


def test_quickumls_gives_all_concepts_of_a_candidate(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(monkeypatch, "quickumls", QuickUMLS=Matcher)
    index = tmp_path / "index"
    index.mkdir()
    (index / "database_backend.flag").write_text("unqlite", encoding="utf-8")
    block = {"kind": "quickumls", "index": str(index)}
    assert linkers.load(linker(**block))(TEXT) == [
        Mention(0, 10, "C0000002", "T061", "pain, chest"),
        Mention(0, 10, "C0008031", "T002", "pain, chest"),
        Mention(*HEART),
    ]
    assert Matcher.calls == [
        (str(index), {"threshold": 1.0, "window": 5}),
        (True, True),
    ]
    mentions = linkers.load(linker(**block, semantic_types=["T033", "T184"]))(TEXT)
    assert mentions == [Mention(0, 10, "C0008031", "T033", "pain, chest")]
    assert Matcher.calls[0][1]["accepted_semtypes"] == {"T033", "T184"}
    files = linkers.files(linker(**block))
    assert [file.path.name for file in files] == ["database_backend.flag"]
    with pytest.raises(
        BadInput, match="nowhere is not a folder; run: pip install quickumls"
    ):
        linkers.load(linker(kind="quickumls", index="nowhere"))


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (
            {"kind": "scispacy", "model": "x"},
            "spacy is not installed; run: pip install scispacy",
        ),
        (
            {"kind": "medcat", "model": "x"},
            "medcat is not installed; run: pip install medcat",
        ),
        (
            {"kind": "quickumls", "index": "x"},
            "quickumls is not installed; run: pip install q",
        ),
    ],
)
def test_a_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, block: dict[str, Any], expected: str
) -> None:
    for name in ("spacy", "medcat", "quickumls"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(BadInput, match=expected) as error:
        linkers.load(linker(**block))
    (line,) = error.value.problems
    assert "the UMLS needs a licence" in line


BY_LIST = {"linker": {"kind": "terms", "terms": "data/terms/clinical.csv"}}
NETWORK = BY_LIST | {"model": "m", "device": "cpu", "dtype": "float64"}
LIST = ["data/terms/clinical.csv"]


@pytest.mark.parametrize(
    ("kind", "block", "files"),
    [
        ("medcon", BY_LIST, LIST),
        (
            "mist",
            BY_LIST | {"vectors": {"file": "v.npy", "vocabulary": "names.txt"}},
            [*LIST, "v.npy", "names.txt"],
        ),
        *(
            (f"med_{name}", NETWORK, LIST)
            for name in ("bertscore", "bertscore_window", "bartscore")
        ),
        ("f1_radgraph", {"annotations": "entities.jsonl"}, ["entities.jsonl"]),
    ],
)
def test_files_of_options_are_needs(
    kind: str, block: dict[str, Any], files: list[str]
) -> None:
    chosen = choose(METRICS, {"kind": kind} | block, where="test")
    read = [file.path for file in chosen.record.files(chosen.options)]
    assert read == list(map(Path, files))
