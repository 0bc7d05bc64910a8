"""Describe datasets of the registry in Croissant 1.0, a vocabulary for datasets.

Follows MLCommons, "Croissant Format Specification", version 1.0 (2024), for datasets
and files. Records are not described, nor are files of private data, so no text is
included.
"""

import hashlib
import json
import mimetypes
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metassay.core.atomic import whole_folder
from metassay.datasets.registry import Dataset, folder_of

REQUIRED = ("name", "description", "license", "url", "creator", "datePublished")
# The vocabulary of Croissant 1.0 and of schema.org, as every file of it must say it.
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_FORMATS = {".jsonl": "application/jsonlines", ".md": "text/markdown"}
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def croissant(name: str, dataset: Dataset, project: Path = Path()) -> dict[str, Any]:
    """Return a dataset as JSON-LD, without fields of REQUIRED that the registry does
    not know (a `url` without `upstream`, a year that is not in the citation) and
    without git's hashes.
    """
    authors = dataset.citation.partition(". ")[0]
    year = _YEAR.findall(dataset.citation)
    files = [
        _file(file.name, file.url, file.bytes, file.sha256) for file in dataset.files
    ]
    folder = project / folder_of(name, dataset)
    if not dataset.files and dataset.access == "public":
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            data = path.read_bytes()
            relative = path.relative_to(folder).as_posix()
            digest = hashlib.sha256(data).hexdigest()
            files.append(
                _file(relative, f"{dataset.folder}/{relative}", len(data), digest)
            )
    fields = {
        "name": name,
        "description": dataset.title,
        "license": dataset.licence,
        "url": dataset.upstream,
        "datePublished": "".join(year[:1]),
        "creator": {"@type": "sc:Organization", "name": authors} if authors else None,
        "citeAs": dataset.citation,
        "distribution": files,
    }
    about = {"@type": "sc:Dataset", "conformsTo": "http://mlcommons.org/croissant/1.0"}
    return {"@context": _CONTEXT, **about, **{key: v for key, v in fields.items() if v}}


def _file(name: str, url: str, size: int, sha256: str | None) -> dict[str, Any]:
    kind = (
        _FORMATS.get(Path(name).suffix) or mimetypes.guess_type(name)[0] or "text/plain"
    )
    described = {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": url,
        "contentSize": f"{size} B",
        "encodingFormat": kind,
    }
    if sha256:
        described["sha256"] = sha256
    return described


def write_croissant(registry: Mapping[str, Dataset], folder: Path) -> list[str]:
    """Write `NAME.json` for each dataset into a new folder; return lines on missing fields."""
    lines = []
    with whole_folder(folder, "--croissant") as new_folder:
        for name, dataset in registry.items():
            description = croissant(name, dataset)
            if lacking := [key for key in REQUIRED if key not in description]:
                lines.append(
                    f"{name}: the registry does not know its {', '.join(lacking)}"
                )
            text = json.dumps(description, indent=2, ensure_ascii=False)
            (new_folder / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
    return lines
