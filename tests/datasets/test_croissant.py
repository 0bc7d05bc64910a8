"""Croissant files of the registry, held to the published specification's required properties."""

import hashlib
import json
from typing import Any

from metassay.cli.main import main
from metassay.datasets.croissant import croissant
from metassay.datasets.registry import Dataset, load_registry
from tests.datasets.reading import ROOT

# Of the specification, version 1.0: "Dataset-level Information" and "FileObject".
OF_DATASETS = {
    "@context",
    "@type",
    "conformsTo",
    "name",
    "description",
    "license",
    "creator",
}
OF_FILES = {"@type", "@id", "name", "contentUrl", "encodingFormat", "sha256"}
# "Recommended context", by whose names the meaning of every property is found.
PREFIXES = {
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
}


def expanded(context: dict[str, Any], name: str) -> str:
    """The IRI of a property or a type, as JSON-LD 1.1 expands it."""
    term = context.get(name, name)
    term = term["@id"] if isinstance(term, dict) else term
    prefix, _, rest = term.partition(":")
    return (
        context[prefix] + rest
        if rest and prefix in context
        else context["@vocab"] + term
    )


def test_every_dataset_has_what_the_specification_requires(
    tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["list", "--croissant", str(tmp_path / "c")]) == 0
    lines = capsys.readouterr().out.splitlines()
    registry = load_registry()
    assert {path.stem for path in (tmp_path / "c").iterdir()} == set(registry)
    for name, dataset in registry.items():
        description = json.loads((tmp_path / "c" / f"{name}.json").read_text("utf-8"))
        assert set(description) >= OF_DATASETS
        unknown = {"url", "datePublished"} - set(description)
        listed = ", ".join(key for key in ("url", "datePublished") if key in unknown)
        assert (f"{name}: the registry does not know its {listed}" in lines) == bool(
            unknown
        )
        context = description["@context"]
        assert {prefix: context[prefix] for prefix in PREFIXES} == PREFIXES
        assert expanded(context, description["@type"]) == "https://schema.org/Dataset"
        assert expanded(context, "conformsTo") == "http://purl.org/dc/terms/conformsTo"
        assert description["conformsTo"] == "http://mlcommons.org/croissant/1.0"
        files = description.get("distribution", [])
        assert len(files) >= len(dataset.files)
        for file in files:
            assert set(file) >= OF_FILES
            assert (
                expanded(context, file["@type"])
                == "http://mlcommons.org/croissant/FileObject"
            )
        assert len({file["@id"] for file in files}) == len(files)


def test_a_fetched_dataset_by_hand() -> None:
    file = {"name": "a.csv", "url": "https://example.org/c1/a.csv", "bytes": 12}
    dataset = Dataset.model_validate(
        {
            "title": "Two notes",
            "licence": "MIT",
            "access": "public",
            "commit": "c1",
            "citation": "Roe, Doe. On notes. ACL 2021",
            "upstream": "https://example.org",
            "files": [
                {**file, "sha256": "0" * 64},
                {**file, "name": "b", "git_blob": "1" * 40},
            ],
        }
    )
    description = croissant("notes", dataset)
    del description["@context"]
    assert description == {
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "notes",
        "description": "Two notes",
        "license": "MIT",
        "url": "https://example.org",
        "datePublished": "2021",
        "creator": {"@type": "sc:Organization", "name": "Roe, Doe"},
        "citeAs": "Roe, Doe. On notes. ACL 2021",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": "a.csv",
                "name": "a.csv",
                "contentUrl": "https://example.org/c1/a.csv",
                "contentSize": "12 B",
                "encodingFormat": "text/csv",
                "sha256": "0" * 64,
            },
            {
                "@type": "cr:FileObject",
                "@id": "b",
                "name": "b",
                "contentSize": "12 B",
                "contentUrl": "https://example.org/c1/a.csv",
                "encodingFormat": "text/plain",
            },
        ],
    }


def test_files_of_a_folder_are_description_unless_they_are_private(tmp_path) -> None:
    (tmp_path / "data/mine").mkdir(parents=True)
    (tmp_path / "data/mine/texts.jsonl").write_bytes(b"{}\n")
    entry = {"title": "t", "licence": "none", "folder": "data/mine"}
    private = Dataset.model_validate({**entry, "access": "private"})
    assert "distribution" not in croissant("mine", private, tmp_path)
    public = Dataset.model_validate({**entry, "access": "public"})
    (file,) = croissant("mine", public, tmp_path)["distribution"]
    assert file["contentUrl"] == "data/mine/texts.jsonl"
    assert file["encodingFormat"] == "application/jsonlines"
    assert file["sha256"] == hashlib.sha256(b"{}\n").hexdigest()
