"""What judges said of single statements, and what confounds scores of these."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from metassay.core.options import Options
from metassay.metrics.extractiveness import KIND as EXTRACTIVENESS
from metassay.metrics.lengths import KIND as LENGTHS
from metassay.scoring.aggregation.cells import Setup, places_in
from metassay.scoring.aggregation.judged import signature
from metassay.scoring.aggregation.statements import PLACE, Read, rows_of, table_of
from metassay.scoring.pairing.measures import FAITHFULNESS
from metassay.tables.names import NO_JUDGE, aligned_suffixes, base_metric, suffix_of


def judged_statements(
    read: Read, pairs: pd.DataFrame, judgments: pd.DataFrame, setup: Setup
) -> pd.DataFrame:
    """What judges said of each statement, and its words, copying and number of passages.

    `faithfulness`: 1 or 0, null where there is no answer (failed); `support_probability`, where the
    judge gives one. Coverage and density are of the statement beside its aligned passages. Returns
    table `statement_scores`.
    """
    return table_of([*_confounds(read, setup), *_judged(read, pairs, judgments, setup)])


def _judged(
    read: Read, pairs: pd.DataFrame, judgments: pd.DataFrame, setup: Setup
) -> Iterator[pd.DataFrame]:
    asked = pairs[pairs["measure"].map(base_metric) == FAITHFULNESS.name]
    known = places_in(asked[PLACE], read.statements[PLACE])
    asked, known = asked[known >= 0], known[known >= 0]
    n = len(read.statements)
    for measure, places in sorted(asked.groupby("measure").indices.items()):
        rows, at = asked.iloc[places], known[places]
        unread = (rows["settled"] == "no_evidence").to_numpy()
        for judge, own in judgments.groupby("judge", sort=True):
            said = own.drop_duplicates("pair_id").set_index("pair_id").reindex(rows["pair_id"])
            ok = (said["status"] == "ok").to_numpy()
            label = np.where(ok, said["label"].to_numpy() == "entailed", np.nan)
            value, failed = np.full((2, n), np.nan), np.zeros(n, bool)
            value[0, at] = np.where(unread, 0.0, label)
            value[1, at] = said["probability"].to_numpy(dtype=float)
            failed[at] = ~(ok | unread)
            recipe = f"judge:{signature(str(judge), own)}|metassay:{setup.version}"
            names = (str(measure), f"support_probability{suffix_of(str(measure))}")
            for name, values, lost in zip(names, value, (failed, False), strict=True):
                if np.isfinite(values).any():
                    whole = f"{name}|{recipe}"
                    yield rows_of(read, name, "higher", str(judge), whole, values, failed=lost)


def _confounds(read: Read, setup: Setup) -> Iterator[pd.DataFrame]:
    end = f"metassay:{setup.version}"
    counted = LENGTHS.measure(read.texts, read.texts, Options())["words"]
    recipe = f"words|{LENGTHS.recipe(Options())}|{end}"
    yield rows_of(read, "words", "neither", NO_JUDGE, recipe, [one.value for one in counted])
    for alignment, suffix in aligned_suffixes("all", list(setup.alignments)).items():
        passages = read.passages(suffix)
        evidence = ["\n".join(of_statement) for of_statement in passages]
        copied = EXTRACTIVENESS.measure(read.texts, evidence, Options())
        values = {name: [one.value for one in copied[name]] for name in ("coverage", "density")}
        values["aligned_passages"] = [float(len(of_statement)) for of_statement in passages]
        for name, value in values.items():
            how = f"{EXTRACTIVENESS.recipe(Options())}|alignment:{setup.alignments[alignment]}"
            recipe = f"{name}{suffix}|{how}|{end}"
            yield rows_of(read, name + suffix, "neither", NO_JUDGE, recipe, value)
