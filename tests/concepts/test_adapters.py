"""Adapters against small fakes with the interfaces of the packages, which are not installed."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from metassay.concepts import linkers
from metassay.concepts.terms import Mention
from metassay.core.errors import BadInput
from metassay.core.options import Options, parse

TEXT = "Chest pain; CT of the heart."


class _Options(Options):
    linker: linkers.Linker


def linker(**block: Any) -> linkers.Linker:
    return parse(_Options, {"linker": block}, where="test").linker


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
    place = {"start_char": start, "end_char": start + len(text)}
    underscore = SimpleNamespace(kb_ents=list(candidates))
    return SimpleNamespace(text=text, label_=label, _=underscore, **place)


class Nlp:
    """A pipeline of spaCy, with scispaCy's entities."""

    def __init__(self) -> None:
        self.pipes: list[tuple[str, dict[str, Any]]] = []
        self.kb = SimpleNamespace(
            cui_to_entity={
                "C0008031": SimpleNamespace(concept_id="C0008031", types=["T184"]),
                "C0018787": SimpleNamespace(concept_id="C0018787", types=["T023", "T999"]),
            }
        )

    def add_pipe(self, name: str, config: dict[str, Any] | None = None) -> Any:
        assert name in ("abbreviation_detector", "scispacy_linker")
        self.pipes.append((name, config or {}))
        return self

    def __call__(self, text: str) -> Any:
        assert text == TEXT
        found = [
            entity("Chest pain", "DISEASE", ("C0008031", 0.99), ("C0000001", 0.8)),
            entity("CT", "CHEMICAL"),
            entity("heart", "ENTITY", ("C0018787", 1.0)),
        ]
        return SimpleNamespace(ents=found)


@pytest.fixture
def nlp(monkeypatch: pytest.MonkeyPatch) -> Nlp:
    pipeline = Nlp()

    def load(name: str) -> Nlp:
        if name != "en_core_sci_sm":
            raise OSError(f"[E050] Can't find model '{name}'.")
        return pipeline

    install(monkeypatch, "spacy", load=load)
    return pipeline


def test_scispacy_links_each_entity_to_its_best_candidate(
    nlp: Nlp, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, "scispacy.abbreviation")
    install(monkeypatch, "scispacy.linking")
    options = linker(kind="scispacy", model="en_core_sci_sm", knowledge_base="umls", threshold=0.8)
    assert linkers.load(options)(TEXT) == [
        Mention(0, 10, "C0008031", "T184", "chest pain"),
        Mention(22, 27, "C0018787", "T023", "heart"),
    ]
    settings = {"resolve_abbreviations": True, "linker_name": "umls", "threshold": 0.8}
    assert nlp.pipes == [("abbreviation_detector", {}), ("scispacy_linker", settings)]
    options = linker(
        **{"kind": "scispacy", "model": "en_core_sci_sm", "knowledge_base": "umls"},
        semantic_types=["Anatomy"],
    )
    assert [one.concept for one in linkers.load(options)(TEXT)] == ["C0018787"]


def test_scispacy_without_a_knowledge_base_has_wordings(nlp: Nlp) -> None:
    options = linker(kind="scispacy", model="en_core_sci_sm")
    assert linkers.load(options)(TEXT) == [
        Mention(0, 10, "chest pain", "DISEASE", "chest pain"),
        Mention(12, 14, "ct", "CHEMICAL", "ct"),
        Mention(22, 27, "heart", "ENTITY", "heart"),
    ]
    assert not nlp.pipes
    assert linkers.files(options) == ()
    assert linkers.recipe(options).endswith("#absent#absent")
    with pytest.raises(BadInput, match="en_ner_bc5cdr_md is not installed; run: pip install sci"):
        linkers.load(linker(kind="scispacy", model="en_ner_bc5cdr_md"))


class Cat:
    """MedCAT's CAT, as its get_entities answers."""

    @classmethod
    def load_model_pack(cls, path: str) -> "Cat":
        assert Path(path).name == "umls_sm.zip"
        return cls()

    def get_entities(self, text: str) -> dict[str, Any]:
        assert text == TEXT
        rest = {"acc": 1.0, "context_similarity": 1.0, "meta_anns": {}, "icd10": [], "snomed": []}
        heart = {"pretty_name": "Heart", "cui": "C0018787", "type_ids": ["T023", "T017"]}
        pain = {"pretty_name": "Chest Pain", "cui": "C0008031", "type_ids": ["T184"]}
        return {
            "entities": {
                2: {**heart, "source_value": "heart", "start": 22, "end": 27, "id": 2, **rest},
                0: {**pain, "source_value": "Chest pain", "start": 0, "end": 10, "id": 0, **rest},
            },
            "tokens": [],
        }


def test_medcat_gives_the_first_type(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(monkeypatch, "medcat.cat", CAT=Cat)
    pack = tmp_path / "umls_sm.zip"
    options = linker(kind="medcat", model=str(pack))
    with pytest.raises(
        BadInput, match=r"umls_sm.zip does not exist; run: pip install medcat, and d"
    ):
        linkers.load(options)
    pack.write_bytes(b"pack")
    assert linkers.load(options)(TEXT) == [
        Mention(0, 10, "C0008031", "T184", "chest pain"),
        Mention(22, 27, "C0018787", "T023", "heart"),
    ]
    assert [one.path for one in linkers.files(options)] == [pack]
    before = linkers.recipe(options)
    pack.write_bytes(b"another")
    assert linkers.recipe(options) != before


class Matcher:
    """QuickUMLS; what it was made with and asked is kept."""

    calls: list[Any]

    def __init__(self, quickumls_fp: str, **settings: Any) -> None:
        Matcher.calls = [(quickumls_fp, settings)]

    def match(self, text: str, best_match: bool = True, ignore_syntax: bool = False) -> Any:
        Matcher.calls.append((best_match, ignore_syntax))
        assert text == TEXT
        rest = {"similarity": 1.0, "preferred": 1}
        heart = {"start": 22, "end": 27, "ngram": "heart", "term": "heart", "cui": "C0018787"}
        pain = {"start": 0, "end": 10, "ngram": "Chest pain", "term": "Pain, Chest"}
        return [
            [{**heart, "semtypes": {"T023"}, **rest}],
            [
                {**pain, "cui": "C0008031", "semtypes": {"T184", "T033", "T002"}, **rest},
                {**pain, "cui": "C0000002", "semtypes": {"T061"}, **rest},
            ],
        ]


def test_quickumls_gives_all_concepts_of_a_candidate(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(monkeypatch, "quickumls", QuickUMLS=Matcher)
    (tmp_path / "index").mkdir()
    (tmp_path / "index/database_backend.flag").write_text("unqlite", encoding="utf-8")
    block = {"kind": "quickumls", "index": str(tmp_path / "index")}
    assert linkers.load(linker(**block))(TEXT) == [
        Mention(0, 10, "C0000002", "T061", "pain, chest"),
        Mention(0, 10, "C0008031", "T002", "pain, chest"),
        Mention(22, 27, "C0018787", "T023", "heart"),
    ]
    place = str(tmp_path / "index")
    assert Matcher.calls == [(place, {"threshold": 1.0, "window": 5}), (True, True)]
    found = linkers.load(linker(**block, semantic_types=["T033", "T184"]))(TEXT)
    assert found == [Mention(0, 10, "C0008031", "T033", "pain, chest")]
    assert Matcher.calls[0][1]["accepted_semtypes"] == {"T033", "T184"}
    files = linkers.files(linker(**block))
    assert [one.path.name for one in files] == ["database_backend.flag"]
    with pytest.raises(BadInput, match="nowhere is not a folder; run: pip install quickumls"):
        linkers.load(linker(kind="quickumls", index="nowhere"))


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"kind": "scispacy", "model": "x"}, "spacy is not installed; run: pip install scispacy"),
        ({"kind": "medcat", "model": "x"}, "medcat is not installed; run: pip install medcat"),
        ({"kind": "quickumls", "index": "x"}, "quickumls is not installed; run: pip install q"),
    ],
)
def test_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, block: dict[str, Any], expected: str
) -> None:
    for name in ("spacy", "medcat", "quickumls"):
        if name in sys.modules:
            monkeypatch.delitem(sys.modules, name)
    with pytest.raises(BadInput, match=expected) as error:
        linkers.load(linker(**block))
    (line,) = error.value.problems
    assert "\n" not in line
    assert "the UMLS needs a licence" in line
