"""DVC knows the files that metrics of concepts read: their blocks' versions change with them."""

from pathlib import Path

import yaml

from metassay.versions.code_yaml import versions

LINKER = "linker: {kind: terms, terms: data/terms/clinical.csv}"
NETWORK = "model: m, device: cpu, dtype: float64"
METRICS = {
    "medcon": f"{{kind: medcon, {LINKER}}}",
    "mist": f"{{kind: mist, {LINKER}, vectors: {{file: v.npy, vocabulary: names.txt}}}}",
}
COSTLY = {
    "med_bertscore": f"{{kind: med_bertscore, {NETWORK}, {LINKER}}}",
    "med_bertscore_window": f"{{kind: med_bertscore_window, {NETWORK}, {LINKER}}}",
    "med_bartscore": f"{{kind: med_bartscore, {NETWORK}, {LINKER}}}",
    "f1_radgraph": "{kind: f1_radgraph, annotations: entities.jsonl}",
}


def test_files_of_options_are_in_the_versions(project: Path) -> None:
    for file in (project / "params.yaml", project / "benchmarks/sample/params.yaml"):
        params = yaml.safe_load(file.read_text(encoding="utf-8"))
        for block, named in (("metrics", METRICS), ("costly_metrics", COSTLY)):
            if file.parent == project:
                params[block] |= {name: yaml.safe_load(text) for name, text in named.items()}
            else:
                params[block] += list(named)
        file.write_text(yaml.safe_dump(params), encoding="utf-8")
    for name in ("v.npy", "names.txt", "entities.jsonl"):
        (project / name).write_text("1", encoding="utf-8")
    before = versions(project)
    with (project / "data/terms/clinical.csv").open("a", encoding="utf-8") as terms:
        terms.write("scabies,scabies,disorder\n")
    after = versions(project)
    ours = {"medcon_released"}  # of a benchmark of the repository
    assert changed(before, after) == {*METRICS, *COSTLY, *ours} - {"f1_radgraph"}
    (project / "names.txt").write_text("2", encoding="utf-8")
    assert changed(after, versions(project)) == {"mist"}
    (project / "names.txt").write_text("1", encoding="utf-8")
    (project / "entities.jsonl").write_text("2", encoding="utf-8")
    assert changed(after, versions(project)) == {"f1_radgraph"}


def changed(before: dict[str, dict[str, str]], after: dict[str, dict[str, str]]) -> set[str]:
    return {
        name
        for block in ("metrics", "costly_metrics")
        for name in before[block]
        if before[block][name] != after[block][name]
    }
