"""A judge's card in worlds with a known truth: do its intervals cover, are its labels enough.

`python -m tests.calibration.judge_cards` prints the table; every simulation has its own
seed.
"""

from collections import defaultdict
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from metassay.labelled.class_numbers import class_numbers
from metassay.meta_evaluation.card_numbers import Judgments, estimates
from metassay.meta_evaluation.options import MetaOptions
from metassay.statistics.classification import (
    COEFFICIENTS,
    auroc,
    calibration,
    judge_card,
)
from metassay.statistics.label_rows import LabelRows
from tests.calibration.simulations import Rate

CONFIDENCE = 0.95
OPTIONS = MetaOptions(resamples=1, seed=0, confidence=CONFIDENCE, label_width=0.1)
JUDGES = ((0.9, 0.8), (0.97, 0.95), (0.7, 0.6), (0.95, 0.5))  # sensitivity, specificity
SIZES = (20, 50, 200)
PREVALENCES = (0.1, 0.3, 0.5, 0.9)
NAMES = (
    "sensitivity",
    "specificity",
    "precision",
    "negative_predictive_value",
    "agreement",
    "balanced_accuracy",
    "agreement_by_chance",
    "cohen_kappa",
    "mcc",
    "f1",
)


class World(NamedTuple):
    """Shares of texts that people pass and of those that the judge gets right."""

    passing: float
    sensitivity: float
    specificity: float

    @property
    def truth(self):
        """Every number of a card, from the four cells."""
        a, d = self.passing * self.sensitivity, (1 - self.passing) * self.specificity
        b, c = 1 - self.passing - d, self.passing - a
        table = np.array([a, b, c, d])
        return {
            "sensitivity": self.sensitivity,
            "specificity": self.specificity,
            "precision": a / (a + b),
            "negative_predictive_value": d / (c + d),
            "agreement": a + d,
            "balanced_accuracy": (self.sensitivity + self.specificity) / 2,
            **{name: float(of(table)) for name, of in COEFFICIENTS.items()},
            "judge": a + b,
            "people": self.passing,
            "corrected": self.passing,
        }


def drawn(rng, world, n):
    people = rng.random(n) < world.passing
    right = rng.random(n) < np.where(people, world.sensitivity, world.specificity)
    return (people == right).astype(float), people.astype(float)


def alike(rng, world, documents, systems, strength):
    """As `drawn`, but of one document's texts a share `strength` have the document's own draws.

    The shares over all texts stay the world's.
    """
    shape = (documents, systems)

    def uniform():
        of_document = np.broadcast_to(rng.random((documents, 1)), shape)
        return np.where(rng.random(shape) < strength, of_document, rng.random(shape))

    people = uniform() < world.passing
    right = uniform() < np.where(people, world.sensitivity, world.specificity)
    of = np.broadcast_to(np.arange(documents)[:, None], shape)
    return (
        (people == right).astype(float).ravel(),
        people.astype(float).ravel(),
        of.ravel(),
    )


def coverages(runs, truth, draw):
    """Shares of intervals of each number that hold the truth, where they are defined; how many."""
    hits, defined = defaultdict(int), defaultdict(int)
    for _ in range(runs):
        for name, estimate in draw().items():
            if np.isfinite(estimate.low):
                defined[name] += 1
                hits[name] += estimate.low <= truth[name] <= estimate.high
    return {name: (hits[name] / defined[name], defined[name]) for name in defined}


def cards_cover(n, world, *, runs, seed):
    rng = np.random.default_rng([seed, 11])

    def draw():
        return judge_card(
            *drawn(rng, world, n), confidence=CONFIDENCE, rng=rng
        ).estimates

    return coverages(runs, world.truth, draw)


def clustered_cover(documents, systems, strength, world, *, informed=True, runs, seed):
    """The same where texts share documents; not `informed`: the card is not told."""
    rng = np.random.default_rng([seed, 12])

    def draw():
        judge, people, of = alike(rng, world, documents, systems, strength)
        options = {
            "confidence": CONFIDENCE,
            "rng": rng,
            "cluster": of if informed else None,
        }
        card = judge_card(judge, people, **options).estimates
        seen = np.where(of < documents // 3, people, np.nan)
        cluster = of if informed else np.arange(of.size)
        return {**card, **rates_of_some(judge, seen, cluster)}

    return coverages(runs, world.truth, draw)


def _estimates(judge, people, options, cluster=None):
    judged = Judgments(
        judge=judge,
        people=people,
        cluster=np.arange(judge.size) if cluster is None else cluster,
        split=np.zeros(judge.size, dtype=bool),
        probability=None,
        thresholded=False,
    )
    return estimates(judged, options, [])


def rates_of_some(judge, people, cluster):
    """People's pass rate, and the corrected one, where some texts have no label."""
    numbers = _estimates(judge, people, OPTIONS, cluster)
    return {
        "people": numbers["people_pass_rate"],
        "corrected": numbers["prediction_powered_pass_rate"],
    }


def pass_rates_cover(rated, judged, world, *, runs, seed):
    rng = np.random.default_rng([seed, 13])

    def draw():
        judge, people = drawn(rng, world, judged)
        people[rated:] = np.nan
        return rates_of_some(judge, people, np.arange(judged))

    return coverages(runs, world.truth, draw)


def calibration_covers(n, shape, too_kind, *, clusters=1, runs, seed):
    """Brier and bias of Beta probabilities that are `too_kind` by so much."""
    rng = np.random.default_rng([seed, 14])

    def world(texts):
        p = np.repeat(rng.beta(*shape, texts // clusters), clusters)
        luck = np.repeat(rng.random(texts // clusters), clusters)
        return p, (luck < np.clip(p - too_kind, 0, 1)).astype(float)

    def draw():
        cluster = np.repeat(np.arange(n // clusters), clusters)
        curve = calibration(*world(n), confidence=CONFIDENCE, rng=rng, cluster=cluster)
        return {"brier": curve.brier, "bias": curve.bias}

    p, passed = world(600_000)
    return coverages(
        runs, {"brier": np.mean((p - passed) ** 2), "bias": np.mean(p - passed)}, draw
    )


def auroc_covers(n, passing, area, levels, *, clusters=1, runs=1000, seed):
    """AUROC of scores that are normal in passes and in fails, cut into `levels` (0: not cut).

    Texts of a cluster of so many share 60 % of their scores' variance and of their
    draws.
    """
    rng = np.random.default_rng([seed, 16])
    distance = np.sqrt(2) * ndtri(area)
    cuts = np.linspace(-0.5, distance + 0.5, max(levels - 1, 0))
    if levels == 2:
        cuts = np.array([distance / 2])
    # of fails, of passes
    below = [np.diff([0, *ndtr(cuts - d), 1]) for d in (0, distance)]
    area = np.sum(below[1] * (np.cumsum(below[0]) - below[0] / 2)) if levels else area
    of, alike = np.repeat(np.arange(n // clusters), clusters), 0.6 * (clusters > 1)

    def draw():
        common = rng.random(n // clusters)[of], rng.standard_normal(n // clusters)[of]
        people = np.where(rng.random(n) < alike, common[0], rng.random(n)) < passing
        score = np.sqrt(alike) * common[1] + np.sqrt(1 - alike) * rng.standard_normal(n)
        score += distance * people
        judge = np.digitize(score, cuts) / levels if levels else ndtr(score)
        return {
            "auroc": auroc(
                judge, people.astype(float), confidence=CONFIDENCE, cluster=of
            )
        }

    return coverages(runs, {"auroc": area}, draw)


def three_way_covers(n, shares, right, *, runs=500, seed):
    """Labels of these shares, of which the judge finds a share `right`, and mixes up the rest."""
    rng = np.random.default_rng([seed, 17])
    table = np.full((3, 3), (1 - right) / 2) + np.eye(3) * (right - (1 - right) / 2)
    table *= np.array(shares)[:, None]
    right = np.diag(table)
    truth = {
        "accuracy": right.sum(),
        "balanced_accuracy": np.mean(right / table.sum(axis=1)),
        "macro_f1": np.mean(2 * right / (table.sum(axis=0) + table.sum(axis=1))),
    }

    def draw():
        gold, judge = divmod(rng.choice(9, size=n, p=table.ravel()), 3)
        rows = LabelRows(
            judge=judge,
            people=gold,
            weight=np.ones(n),
            cluster=np.arange(n),
            n_judge=3,
            n_people=3,
        )
        numbers = class_numbers(rows, confidence=CONFIDENCE, rng=rng).of_all
        return {name: numbers[name] for name in truth}

    return coverages(runs, truth, draw)


def widths_with_labels(pilot, judged, world, width, *, runs, seed):
    """Mean width of each interval at the labels that a pilot asks for, over the width asked.

    The pilot has some texts labelled of those that are judged.
    """
    rng = np.random.default_rng([seed, 15])
    ratios = defaultdict(list)
    options = OPTIONS.model_copy(update={"label_width": width})
    for _ in range(runs):
        judge, people = drawn(rng, world, judged)
        seen = np.where(np.arange(judged) < pilot, people, np.nan)
        needed = _estimates(judge, seen, options)
        for name in ("pass_rate", "sensitivity", "specificity"):
            labels = needed[f"labels_{name}"].value
            if not labels > 0:
                continue
            judge, people = drawn(rng, world, max(int(labels), judged))
            people[int(labels) :] = np.nan
            rate = "prediction_powered_pass_rate"
            of_name = rate if name == "pass_rate" else name
            interval = _estimates(judge, people, options)[of_name]
            if np.isfinite(interval.low):
                ratios[name].append((interval.high - interval.low) / width)
    return {name: float(np.mean(values)) for name, values in ratios.items()}


def extremes(cases, *, names):
    """Per number the lowest and the highest coverage over all cases, with the runs behind it."""
    bounds = {}
    for name in names:
        seen = [case[name] for case in cases if name in case]
        bounds[name] = (
            min(seen),
            max(seen),
            float(np.mean([share for share, _ in seen])),
        )
    return bounds


def rates() -> list[Rate]:
    """Coverage of each number: the lowest and the highest over all worlds, and the mean."""
    cover, mean_cover = (0.91, 1.0), (0.935, 0.985)
    rows = []

    def add(title, cases, names, bounds=cover, mean_cover=mean_cover):
        for name, (low, high, mean) in extremes(cases, names=names).items():
            rows.append(Rate(f"{title}, {name}, worst world: covers", *low, *bounds))
            rows.append(Rate(f"{title}, {name}, widest world: covers", *high, *bounds))
            runs = sum(case[name][1] for case in cases if name in case)
            rows.append(
                Rate(
                    f"{title}, {name}, mean of worlds: covers", mean, runs, *mean_cover
                )
            )

    worlds = [World(p, *j) for p, j in product(PREVALENCES, JUDGES)]
    for n in SIZES:
        of_size = partial(cards_cover, n, runs=1000)
        cases = [of_size(world, seed=k) for k, world in enumerate(worlds)]
        # Of 20 texts some shares rest on two or three, where no interval can be exact.
        add(f"card of {n} texts", cases, NAMES, (0.88 if n < 50 else 0.915, 1.0))
    for rated, judged in ((20, 200), (50, 500), (200, 400)):
        of_size = partial(pass_rates_cover, rated, judged, runs=1000)
        cases = [of_size(world, seed=k) for k, world in enumerate(worlds)]
        names = ("people", "corrected")
        title = f"pass rate, {rated} of {judged} texts rated"
        # Corrected rates rest on labels of each verdict, and of few they are wide.
        add(title, cases, names, (0.91, 1.0), (0.935, 0.995))
    for documents, systems in ((30, 4), (60, 3)):
        of_size = partial(clustered_cover, documents, systems, 0.7, runs=500)
        cases = [of_size(world, seed=k) for k, world in enumerate(worlds[4:])]
        names = (*NAMES, "people", "corrected")
        add(
            f"{systems} texts of each of {documents} documents",
            cases,
            names,
            (0.9, 1.0),
        )
    untold = clustered_cover(
        60, 3, 0.7, World(0.5, 0.9, 0.8), informed=False, runs=2000, seed=1
    )
    share, runs = untold["agreement"]
    rows.append(
        Rate("3 texts of each of 60 documents, not told: covers", share, runs, 0, 0.93)
    )
    cases = [
        calibration_covers(n, shape, kind, runs=1000, seed=k)
        for k, (n, shape, kind) in enumerate(
            product((50, 200), ((2, 2), (8, 1), (0.5, 0.5)), (0.0, 0.15))
        )
    ]
    add("probabilities of 50 and 200 texts", cases, ("brier", "bias"))
    cases = [calibration_covers(180, (2, 2), 0.1, clusters=3, runs=1000, seed=9)]
    add(
        "probabilities, 3 equal texts of each of 60 documents", cases, ("brier", "bias")
    )
    sizes = {
        1: ((20, 0.5), (40, 0.2), (100, 0.1), (200, 0.3)),
        3: ((60, 0.5), (99, 0.1)),
    }
    for clusters, shapes in sizes.items():
        cases = [
            auroc_covers(*shape, area, levels, clusters=clusters, seed=k)
            for k, (shape, area, levels) in enumerate(
                product(shapes, (0.6, 0.8, 0.95), (0, 2, 5))
            )
        ]
        n = f"{shapes[0][0]} to {shapes[-1][0]}"
        # Two formulas for the variance, of which the larger counts: wide rather than
        # narrow.
        add(
            f"probabilities of {n} texts, {clusters} of each document",
            cases,
            ("auroc",),
            (0.925, 1.0),
            (0.95, 0.99),
        )
    names = ("accuracy", "balanced_accuracy", "macro_f1")
    for n, least in ((50, 0.88), (200, 0.9)):
        cases = [
            three_way_covers(n, shares, right, seed=k)
            for k, (shares, right) in enumerate(
                product(((0.34, 0.33, 0.33), (0.7, 0.2, 0.1)), (0.6, 0.9))
            )
        ]
        add(f"three labels of {n} texts", cases, names, (least, 1.0), (0.92, 0.985))
    return rows


def label_ratios():
    """(pilot, judged, world) -> mean width over the width asked for, of each number."""
    worlds = (World(0.7, 0.9, 0.8), World(0.5, 0.8, 0.7), World(0.85, 0.95, 0.6))
    return {
        (pilot, judged, world): widths_with_labels(
            pilot, judged, world, 0.1, runs=200, seed=pilot
        )
        for pilot, judged, world in product((100, 400), (2000,), worlds)
    }


def main() -> None:
    for row in rates():
        as_promised = "yes" if row.low <= row.share <= row.high else "NO"
        print(f"{100 * row.share:5.1f} %  {as_promised:3}  n={row.n:6}  {row.what}")
    for case, ratios in label_ratios().items():
        print(case, {name: round(ratio, 3) for name, ratio in ratios.items()})


if __name__ == "__main__":
    main()
