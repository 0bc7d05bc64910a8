"""`make papers-models`: do released checkpoints give the values that their authors print?

For people with a network. Each checkpoint is fetched from the hub by its commit, scores
the pairs of its authors' example, and stands in a table beside the printed values. Exit
codes: 0 if all are equal to the printed digits, 1 if one differs, 3 if one could not be
loaded or was named and is left out.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from metassay.cli.parsing import Parser
from metassay.core.errors import BadInput
from metassay.core.exit_codes import DONE, FAILED, INCOMPLETE
from metassay.core.kinds import choose
from metassay.core.versions import index_of
from metassay.judges.make import make_judge
from metassay.judges.protocol import Pair
from metassay.llm.needs import Resources
from metassay.metrics.faithfulness.record import Case

USER_FOLDERS = (
    "models/"  # folders that users make of what was released in another format
)
LARGE = 10  # gigabytes from which a checkpoint is fetched only with --large


@dataclass(frozen=True, kw_only=True)
class Released:
    """A checkpoint, and what its authors print for pairs of texts.

    Parameters
    ----------
    name
        What the table calls it.
    section, kind, options
        The block of params.yaml, without the model: `kind` is of this section. An
        option `head` is a file that the caller names.
    model, revision
        A folder, or a name on the hub and a commit; without a commit the newest is
        fetched, and the table says which.
    gigabytes
        About how much is fetched.
    pairs
        What the text is compared with (passages of a source, or a reference), and the
        text.
    value
        The metric, or the label whose answer counts as 1 and any other as 0.
    printed
        A number per pair; none if the authors print none, and the values are only shown.
    tolerance
        The difference from which values are not equal.
    source
        Where the values are printed.
    """

    name: str
    section: Literal["metrics", "statement_metrics", "judges"]
    kind: str
    model: str
    gigabytes: float
    pairs: tuple[tuple[tuple[str, ...], str], ...]
    value: str
    source: str
    revision: str | None = None
    options: Mapping[str, Any]
    printed: tuple[float, ...] = ()
    tolerance: float = 0.001


# The example in SummaC's README (Apache-2.0), with its spelling.
MARS = (
    "Scientists are studying Mars to learn about the Red Planet and find landing sites"
    " for future missions.",
    "One possible site, known as Arcadia Planitia, is covered instrange sinuous"
    " features.",
    "The shapes could be signs that the area is actually made of glaciers, which are"
    " large masses of slow-moving ice.",
    "Arcadia Planitia is in Mars' northern lowlands.",
)
SHAPES = (
    "There are strange shape patterns on Arcadia Planitia. The shapes could indicate the"
    " area might be made of glaciers."
)
MISSIONS = f"{SHAPES} This makes Arcadia Planitia ideal for future missions."
SUMMAC = Released(
    name="SummaC-ZS",
    section="statement_metrics",
    kind="summac_zs",
    model="tals/albert-xlarge-vitaminc-mnli",
    gigabytes=0.3,
    pairs=((MARS, MISSIONS), (MARS, SHAPES)),
    value="summac_zs",
    printed=(0.582, 0.877),
    options={},
    source="README of tingofurro/summac@c1f3da9",
)
BLEURT = Released(
    name="BLEURT-tiny",
    section="metrics",
    kind="bleurt",
    model="Elron/bleurt-tiny-512",
    gigabytes=0.1,
    pairs=(
        (
            ("An apple a day keeps the doctor away.",),
            "An apple a day keeps the doctor away.",
        ),
        (
            ("An apple a day keeps the doctor away.",),
            "An apple a day keeps doctors away.",
        ),
    ),
    value="bleurt",
    printed=(0.910811, 0.771989),
    options={},
    source="tests of google-research/bleurt, with its own copy of BLEURT-tiny",
)
KNEE = ("The patient's left knee has hurt since Monday.",)
CHECKPOINTS = (
    SUMMAC,
    replace(
        SUMMAC,
        name="SummaC-Conv",
        kind="summac_conv",
        value="summac_conv",
        printed=(0.536, 0.709),
        options={"head": ""},
    ),
    BLEURT,
    Released(
        name="BARTScore",
        section="statement_metrics",
        kind="bartscore",
        model="facebook/bart-large-cnn",
        gigabytes=1.6,
        pairs=((("This is interesting.",), "This is fun."),),
        value="bartscore_source",
        printed=(-2.510653,),
        tolerance=0.0005,
        options={},
        source="README of neulab/BARTScore",
    ),
    Released(
        name="BERTScore, F1",
        section="metrics",
        kind="bertscore",
        model="roberta-large",
        revision="722cf37b1afa9454edce342e7895e588b6ff1d59",
        gigabytes=1.4,
        pairs=(
            (
                ("28-Year-Old Chef Found Dead at San Francisco Mall",),
                "28-year-old chef found dead in San Francisco mall",
            ),
        ),
        value="bertscore_f1",
        printed=(0.983356,),
        tolerance=0.0001,
        options={"idf": False, "layers": 17},
        source="tests of bert-score 0.3.13",
    ),
    Released(
        name="CTC",
        section="statement_metrics",
        kind="ctc_consistency",
        # Released on a drive, in a format of fairseq; docs/tuning.md > what was never run.
        model="models/ctc",
        gigabytes=1.4,
        pairs=((KNEE, "The left knee hurts."), (KNEE, "The right hip is broken.")),
        value="ctc_consistency",
        options={"pieces": "sum"},
        source="no value is printed for a single text",
    ),
    Released(
        name="TRUE",
        section="judges",
        kind="nli",
        model="google/t5_xxl_true_nli_mixture",
        gigabytes=45,
        pairs=((KNEE, "The left knee hurts."), (KNEE, "The right hip is broken.")),
        value="entailed",
        printed=(1, 0),
        options={
            "form": "seq2seq",
            "template": "premise: {premise} hypothesis: {hypothesis}",
            "words": {"entailed": "1", "not_entailed": "0"},
            "read": "generated",
            "max_tokens": 2048,
        },
        source="its card on the hub: 1 is entailed, 0 is not",
    ),
)


class Row(NamedTuple):
    """A line of the table."""

    name: str
    model: str
    pair: str
    ours: float | None
    printed: float | None
    result: str


EQUAL, DIFFERS, SHOWN = "equal", "DIFFERS", "not printed by its authors"


def main(
    arguments: Sequence[str], checkpoints: Sequence[Released] = CHECKPOINTS
) -> int:
    """Score, print the table, and return the exit code."""
    args = _parse(arguments, [released.name for released in checkpoints])
    rows: list[Row] = []
    problems = []
    for released in checkpoints:
        if args.only and released.name not in args.only:
            continue
        reason = why_left_out(released, large=args.large or bool(args.only))
        if reason and args.only:
            problems.append(f"{released.name}: not compared: {reason}")
            continue
        if reason:
            print(f"{released.name}: left out, {reason}")
            continue
        print(f"{released.name}: {released.model}", file=sys.stderr, flush=True)
        try:
            rows += compare(released, args.device, args.head)
        except (BadInput, OSError) as error:
            problems.append(f"{released.name}: not compared: {error}")
    print("\n".join([*table(rows), *problems]))
    if any(row.result == DIFFERS for row in rows):
        return FAILED
    return INCOMPLETE if problems else DONE


def why_left_out(released: Released, *, large: bool) -> str:
    """Return why a checkpoint is not fetched; "" if it is."""
    if released.gigabytes >= LARGE and not large:
        return f"{released.gigabytes:g} GB; --large fetches it"
    if released.model.startswith(USER_FOLDERS) and not Path(released.model).is_dir():
        return f"no folder {released.model}; docs/tuning.md says how it was released"
    return ""


def compare(released: Released, device: str, head: str | None = None) -> list[Row]:
    """Return a row per pair; BadInput or OSError if the checkpoint cannot be loaded."""
    revision = released.revision or newest_commit(released.model)
    network = {"model": released.model, "device": device, "dtype": "float32"}
    if revision:
        network["revision"] = revision
    options = dict(released.options)
    if "head" in options:
        if head is None:
            raise BadInput(
                "its head is no model of the hub; download"
                " https://github.com/tingofurro/summac/raw/master/summac_conv_vitc_sent_perc_e.bin"
                " and name it with --head (SUMMAC_HEAD=FILE of make)"
            )
        options["head"] = head
    values = _VALUES[released.section](released, options, network)
    rows = []
    for place, ours in enumerate(values):
        printed = released.printed[place] if released.printed else None
        rows.append(
            Row(
                name=released.name,
                model=f"{Path(released.model).name}@{(revision or 'folder')[:8]}",
                pair=str(place + 1),
                ours=ours,
                printed=printed,
                result=_result(ours, printed, released.tolerance),
            )
        )
    return rows


def table(rows: Sequence[Row]) -> list[str]:
    """Return the rows as a Markdown table."""
    lines = [
        "| metric | model | pair | here | printed | difference | result |",
        "|---|---|---|---:|---:|---:|---|",
    ]
    for row in rows:
        apart = None
        if row.ours is not None and row.printed is not None:
            apart = row.ours - row.printed
        numbers = [_shown(number) for number in (row.ours, row.printed, apart)]
        cells = [row.name, row.model, row.pair, *numbers, row.result]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def newest_commit(model: str) -> str | None:
    """Return the newest commit of a model on the hub; None for a folder."""
    if Path(model).is_dir():
        return None
    from transformers.utils import hub

    commit: str | None = hub.extract_commit_hash(
        hub.cached_file(model, "config.json"), None
    )
    return commit


def _result(ours: float | None, printed: float | None, tolerance: float) -> str:
    if printed is None:
        return SHOWN
    # NaN is equal to nothing.
    if ours is not None and abs(ours - printed) <= tolerance:
        return EQUAL
    return DIFFERS


def _shown(number: float | None) -> str:
    return "" if number is None else f"{number:.6f}"


# ---- a checkpoint's values of its pairs --------------------------------------------------------

_Values = Callable[[Released, Mapping[str, Any], Mapping[str, Any]], list[float | None]]


def _choose(released: Released, options: Mapping[str, Any]) -> Any:
    block = {"kind": released.kind, **options}
    return choose(index_of(released.section), block, where=released.name)


def _metric_values(
    released: Released, options: Mapping[str, Any], network: Mapping[str, Any]
) -> list[float | None]:
    chosen = _choose(released, {**options, **network})
    references = ["\n".join(passages) for passages, _ in released.pairs]
    texts = [text for _, text in released.pairs]
    columns = chosen.record.measure(texts, references, chosen.options)
    return [measured.value for measured in columns[released.value]]


def _statement_values(
    released: Released, options: Mapping[str, Any], network: Mapping[str, Any]
) -> list[float | None]:
    chosen = _choose(released, {**options, "checkpoints": {"released": network}})
    cases = [Case(passages, (text,)) for passages, text in released.pairs]
    checkpoint = chosen.options.checkpoints["released"]
    columns = chosen.record.score(cases, chosen.options, checkpoint)
    return [scored[0].value for scored in columns[released.value]]


def _judge_values(
    released: Released, options: Mapping[str, Any], network: Mapping[str, Any]
) -> list[float | None]:
    chosen = _choose(released, {**options, **network})
    judge = make_judge(chosen, lambda _: Resources(Path()))
    pairs = [
        Pair(str(place), "entailment", "\n".join(passages), text)
        for place, (passages, text) in enumerate(released.pairs)
    ]
    judgments = judge.judge(pairs)
    return [
        None
        if each is None or each.label is None
        else float(each.label == released.value)
        for each in judgments
    ]


_VALUES: Mapping[str, _Values] = {
    "metrics": _metric_values,
    "statement_metrics": _statement_values,
    "judges": _judge_values,
}


def _parse(arguments: Sequence[str], names: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="python -m papers.released_models", description=__doc__)
    parser.add_argument("--device", default="cpu", help="cpu (the default), cuda, ...")
    parser.add_argument(
        "--only", action="append", choices=names, help="this one; may be repeated"
    )
    parser.add_argument("--head", help="the released head of SummaC-Conv, a file")
    parser.add_argument(
        "--large", action="store_true", help=f"also those of {LARGE} GB and more"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
