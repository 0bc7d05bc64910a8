"""Writes an invented page: every view, of any size, also with texts that try to break out of it."""

import random
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from metassay.reporting import contract as c
from metassay.reporting.shell import PageFolder
from metassay.reporting.texts import put_texts

JUDGES = ("lexical", "semantic")
METRICS = (
    ("rougeL_recall", "none", "higher"),
    ("bertscore_f1", "none", "higher"),
    ("claim_recall", "lexical", "higher"),
    ("claim_recall", "semantic", "higher"),
    ("length_ratio", "none", "neither"),
    ("error_count", "none", "lower"),
)
CRITERIA = (("factual_recall", "higher"), ("hallucination", "lower"))
LEVELS = {"document": "any two texts", "system": "two systems"}
PARTS = ("background", "method", "result")
RATERS = ("r1", "r2", "r3")
VERDICTS = (
    c.VerdictWord(
        "use", "use", "Its relation to people holds for other systems and documents."
    ),
    c.VerdictWord(
        "promising", "confirm", "No chance, of a useful size; other systems unknown."
    ),
    c.VerdictWord("cannot tell", "confirm", "The study is too small to tell."),
    c.VerdictWord("explained by", "no", "A confound explains its relation to people."),
    c.VerdictWord("too weak", "no", "Its relation to people is too weak to be of use."),
    c.VerdictWord("undefined", "no", "There is no number."),
)
WORDS = (
    "the",
    "patient",
    "reports",
    "pain",
    "in",
    "left",
    "knee",
    "since",
    "march",
    "walking",
    "swelling",
    "fever",
    "denies",
    "cough",
    "daily",
    "aspirin",
    "stopped",
    "last",
    "week",
    "blood",
    "pressure",
    "normal",
    "lungs",
    "clear",
    "follow",
    "up",
    "two",
    "weeks",
    "return",
    "if",
    "worse",
    "imaging",
    "shows",
    "no",
    "fracture",
    "mild",
    "effusion",
    "physical",
)
SCRIPT = '<script>window.broken = 1</script><img src=x onerror="window.broken=2">'
HOSTILE = (
    SCRIPT,
    "\"'><svg onload=window.broken=3>",
    "</script><!--",
    "left \u202eright-to-left\u202c back \u2066isolated\u2069",
    "emoji 👩🏽‍⚕️ 🏳️‍🌈 \U0001f9ec",
    "NUL \0 bell \a escape \x1b[31m",
    "lone \ud800 surrogate \udfff",
    "separators \u2028 and \u2029",
    "عربى עברית",
    "javascript:window.broken=4",
)


def label(metric: str, judge: str) -> str:
    return metric if judge == "none" else f"{metric} ({judge})"


class Invented:
    """What a page of so many documents and systems says; the same for the same arguments."""

    headline: Sequence[str] = (
        "rougeL_recall",
        "claim_recall (lexical)",
        "error_count",
    )

    def __init__(
        self, documents: int = 12, systems: int = 6, *, hostile: bool = False
    ) -> None:
        self.random = random.Random(documents * 100 + systems)
        self.hostile = hostile
        self.documents = documents
        self.systems = [f"system_{n + 1}" for n in range(systems)]
        if hostile:
            self.systems[0] = f"sys\"><b>'& {SCRIPT}"
        self.authors = ["reference", *self.systems]
        # of each text, by author
        self.scores: list[tuple[str, dict[str, float | None]]] = []

    def write(self, folder: Path) -> Path:
        """Write the page; returns its index.html."""
        page = PageFolder(folder)
        texts = put_texts(
            page,
            self._documents(),
            noun="document",
            judges=JUDGES,
            metrics={label(metric, judge): better for metric, judge, better in METRICS},
            criteria=dict(CRITERIA),
            parts=PARTS,
        )
        tables = []
        for name, frame, how in self._tables():
            tables.append(page.put_evidence(name, frame, means=MEANS, **how))
            frame.to_csv(
                folder / f"{name}.csv", index=False, encoding="utf-8", errors="replace"
            )
        page.finish(self._head(tables, texts))
        return folder / "index.html"

    def _words(self, n: int) -> str:
        return " ".join(self.random.choices(WORDS, k=n)).capitalize() + "."

    def _documents(self) -> Iterator[tuple[c.Document, list[int]]]:
        """Each with the number of lines, per text, on which a judge and most people differ."""
        for n in range(self.documents):
            passages = [
                c.Passage("doctor" if i % 2 else "patient", "", self._words(14))
                for i in range(12)
            ]
            name = f"visit-{n + 1}"
            if self.hostile:
                passages += [c.Passage(evil, evil, evil) for evil in HOSTILE]
                name = f'{name}"{HOSTILE[n % 6]}'  # tables hold no lone surrogates
            texts = [self._text(author, n) for author in self.authors]
            self.scores += [(text.author, dict(text.scores)) for text in texts]
            splits = [
                sum(
                    (line.judgments[0].side == "for")
                    != (sum(r.value or 0 for r in line.people) >= 2)
                    for block in text.blocks
                    for line in block.lines
                )
                for text in texts
            ]
            yield (
                c.Document(name, "summary", [f"age: {30 + n}"], passages, texts),
                splits,
            )

    def _text(self, author: str, n: int) -> c.Text:
        skill = 0.4 + 0.5 * self.authors.index(author) / len(self.authors)
        if (n, author) == (1, self.systems[-1]):
            return c.Text(author, ["truncated: the answer ended at the limit"], "")
        sentences = [self._words(8) for _ in range(5)]
        if self.hostile:
            sentences += HOSTILE
        text, starts = "", []
        for sentence in sentences:
            starts.append(_units(text))
            text += sentence + " "
        cuts = [0, starts[2], starts[4], _units(text)]
        judged = author != "reference"
        return c.Text(
            author,
            [],
            text,
            marks=[
                c.Mark(a, b, p) for a, b, p in zip(cuts, cuts[1:], PARTS, strict=False)
            ],
            ratings=[
                c.Rating(
                    name,
                    rater,
                    None if self.random.random() < 0.05 else self._grade(skill),
                )
                for name, _ in CRITERIA
                for rater in RATERS
                if judged
            ],
            scores=[(label(m, j), self._score(skill)) for m, j, _ in METRICS],
            blocks=[self._block(sentences, starts, skill)] if judged else [],
        )

    def _score(self, skill: float) -> float | None:
        return None if self.random.random() < 0.03 else self.random.gauss(skill, 0.1)

    def _grade(self, skill: float) -> float:
        return float(max(1, min(5, round(self.random.gauss(1 + 4 * skill, 1)))))

    def _block(self, sentences: list[str], starts: list[int], skill: float) -> c.Block:
        lines = []
        for i, (sentence, start) in enumerate(zip(sentences, starts, strict=True)):
            judgments = [self._judgment(skill) for _ in JUDGES]
            cites = self.random.sample(range(12), 2) if i % 2 else [i]
            each = [
                c.EachCitation(0, n, self._judgment(skill), None)
                for n in cites
                if i == 1
            ]
            people = [
                c.Rating("supported", r, float(self.random.random() < skill))
                for r in RATERS
            ]
            lines.append(
                c.Line(
                    i,
                    "full",
                    sentence,
                    start,
                    start + _units(sentence),
                    cites=cites + [40] * (i == 3),
                    aligned=self.random.sample(range(12), 2),
                    judgments=judgments,
                    each=each,
                    people=people,
                )
            )
        heads = [
            c.BlockHead("Does the source entail the claim?", "claim_recall", j)
            for j in JUDGES
        ]
        return c.Block(
            "claim_recall", "Is each claim in the source?", "claim", heads, lines
        )

    def _judgment(self, skill: float) -> c.Judgment:
        chance = self.random.random()
        if chance < 0.03:
            return c.Judgment("failed: refused", "unknown")
        right = chance < 0.1 + skill
        evil = HOSTILE[int(chance * 1e6) % len(HOSTILE)] if self.hostile else ""
        return c.Judgment(
            "entailed" if right else "not entailed",
            "for" if right else "against",
            round(self.random.random(), 3),
            f"The passage {'says so' if right else 'says nothing of it'}. {evil}",
            ["the left knee"] if right else [],
        )

    def _tables(self) -> list[tuple[str, pd.DataFrame, dict[str, Any]]]:
        def how(title: str, group: str, **others: Any) -> dict[str, Any]:
            says = [f"{title}: an invented table that says how to read it."]
            name = title.lower().replace(" ", "_")
            return {
                "title": title,
                "group": group,
                "says": says,
                "csv": f"{name}.csv",
                "command": "metassay run invented",
                **others,
            }

        estimate = c.CellInfo("value", "low", "high")
        mean = c.CellInfo("macro", "low", "high", "n", "n_missing")
        return [
            (
                "certificates",
                self._certificates(),
                how(
                    "Certificates",
                    "Which metric to trust",
                    pick=["study", "criterion", "level"],
                )
                | {"lead": ["metric", "judge"], "cell": estimate, "hide": ["sentence"]},
            ),
            (
                "confounds",
                self._confounds(),
                how("Confounds", "Which metric to trust", pick=["study", "criterion"])
                | {"lead": ["metric", "judge"], "across": "confound", "cell": estimate},
            ),
            (
                "leaderboard",
                self._leaderboard(),
                how("Leaderboard", "Systems", pick=["part"])
                | {"lead": ["author"], "cell": mean},
            ),
            ("groups", self._groups(), how("Groups", "Systems")),
        ]

    def _certificates(self) -> pd.DataFrame:
        dice = random.Random(7)
        shared = {
            "study": "invented",
            "part": "full",
            "advice": "rate 5 or more systems",
        }
        shared |= {
            "smallest_p": 0.0002,
            "shown_by": "document",
            "n": 70,
            "n_systems": 6,
            "fitted": False,
            "selected": False,
            "n_tried": 1,
        }
        shared |= {
            "n_documents": 12,
            "with_raters": 0.61,
            "rater": 0.7,
            "against_rater": -0.09,
        }
        shared |= {
            "against_rater_low": -0.2,
            "against_rater_high": 0.02,
            "confound": "words",
        }
        shared |= {
            "given_confound": 0.41,
            "needed_systems": 9.0,
            "needed_documents": 120.0,
        }
        rows = []
        for (name, _), level in product(CRITERIA, LEVELS):
            for i, (metric, judge, _) in enumerate(METRICS * 2):
                value = None if i == 4 else dice.gauss(0.35, 0.25)
                verdict = VERDICTS[
                    5 if value is None else min(4, int(4 * abs(value - 0.8)))
                ]
                rows.append(
                    {
                        **shared,
                        "criterion": name,
                        "level": level,
                        "judge": judge,
                        "metric": metric if i < len(METRICS) else f"{metric}_of_facets",
                        "verdict": verdict.kind
                        + " length" * (verdict.kind == "explained by"),
                        "value": value,
                        "low": value and value - 0.3,
                        "high": value and min(value + 0.25, 1.0),
                        "low_these_systems": value and value - 0.12,
                        "high_these_systems": value and min(value + 0.1, 1.0),
                        "p": 0.0004 * (i + 1),
                        "n_missing": i % 3,
                        "sentence": f"{verdict.kind}: {label(metric, judge)} puts two texts of a"
                        f" document in the order of {name}, more or less.",
                    }
                )
        return pd.DataFrame(rows)

    def _confounds(self) -> pd.DataFrame:
        dice = random.Random(8)
        return pd.DataFrame(
            {
                "study": "invented",
                "criterion": name,
                "metric": metric,
                "judge": judge,
                "confound": confound,
                "value": (v := dice.gauss(0.2, 0.2)),
                "low": v - 0.1,
                "high": v + 0.1,
            }
            for name, _ in CRITERIA
            for metric, judge, _ in METRICS
            for confound in ("words", "copying", "density")
        )

    def _leaderboard(self) -> pd.DataFrame:
        rows = []
        for metric, judge, better in METRICS:
            for author in self.systems:
                of_author = [
                    of[1].get(label(metric, judge))
                    for of in self.scores
                    if of[0] == author
                ]
                values = [value for value in of_author if value is not None]
                mean = sum(values) / len(values)
                rows.append(
                    {
                        "part": "full",
                        "metric": metric,
                        "judge": judge,
                        "author": author,
                        "macro": mean,
                        "low": mean - 0.05,
                        "high": mean + 0.04,
                        "n": len(values),
                        "n_missing": len(of_author) - len(values),
                        "better": better,
                    }
                )
        return pd.DataFrame(rows)

    def _groups(self) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "part": "full",
                "metric": metric,
                "judge": judge,
                "author": author,
                "group": letters,
            }
            for metric, judge, _ in METRICS
            for author, letters in zip(
                self.systems, _letters(len(self.systems)), strict=True
            )
        )

    def _head(self, tables: list[c.TableInfo], texts: c.TextsInfo) -> c.Head:
        evil = HOSTILE[0] if self.hostile else ""
        say = "Use rougeL_recall for factual recall between texts (r .52 [.31, .69])"
        use = c.GridCell(
            "use", "rougeL_recall", 0.52, 0.31, 0.69, "use", "best of 12 metrics"
        )
        confirm = c.GridCell(
            "confirm",
            "claim_recall (lexical)",
            0.44,
            -0.02,
            0.71,
            "promising",
            "rate 5 systems",
        )
        none = c.GridCell(
            "no", "", None, None, None, "too weak", "none of 12 is of use" + evil
        )
        return c.Head(
            kind="benchmark",
            name="invented" + evil,
            about="Summaries of invented visits by invented systems, rated by three raters."
            + evil,
            program="Metassay 0.1.0",
            dataset=c.Dataset(
                "Invented visits",
                "CC BY 4.0",
                "Nobody (2026): Invented visits." + evil,
                [
                    f"{self.documents} documents",
                    f"{len(self.systems)} systems",
                    "3 raters",
                ],
                ["The judge lexical was chosen without a look at these data."],
            ),
            banners=[
                "These data are invented: no number says anything of real systems."
            ],
            answer=[
                say + "; nothing ranks systems yet: rate 5 or more.",
                "Nothing is of use for hallucination; claim_recall (lexical) is promising.",
            ],
            problems=[
                c.Problem("missing", "1 of 84 texts has no answer: truncated." + evil),
                c.Problem("warning", "Rater r2 gave 5 to every second text."),
                c.Problem("limit", "6 systems say little of other systems."),
                c.Problem("change", "bertscore_f1 of system_2 went from .612 to .634."),
            ],
            decisions=LEVELS,
            grid=[
                c.GridRow("invented", name, "full", name.replace("_", " "), cells)
                for (name, _), cells in zip(
                    CRITERIA, ([use, none], [confirm, None]), strict=True
                )
            ],
            verdicts=VERDICTS,
            terms={"claim": "A statement of a text that is true or false by itself."},
            tables=tables,
            systems=c.SystemsInfo(
                "system",
                "leaderboard",
                "author",
                ["metric", "judge"],
                c.CellInfo("macro", "low", "high", "n", "n_missing"),
                list(self.headline),
                "better",
                "groups",
            ),
            texts=texts,
            links=[c.Link("../other/index.html", "Another report")],
        )


def invented_since(system: str, document: str) -> c.Since:
    """A score of a system that fell in the third week; another system's stayed."""

    def score(author: str, means: Sequence[float]) -> c.SinceScore:
        days = ("02-16", "02-23", "03-02")
        points = [
            c.SincePoint(
                f"2026-{day}T06:00:00Z",
                mean,
                mean - 0.1,
                mean + 0.1,
                "regressed" if mean == 0.5 else "no difference shown",
                another_recipe=False,
            )
            for day, mean in zip(days, means, strict=True)
        ]
        return c.SinceScore("claim_recall (lexical)", author, "higher", points)

    change = c.SinceChange(
        metric="claim_recall (lexical)",
        author=system,
        verdict="regressed",
        before=0.6,
        after=0.5,
        difference=-0.1,
        low=-0.15,
        high=-0.05,
        p=0.004,
        notes=["9 of 12 documents differ", "measured by another recipe"],
        documents=[document],
    )
    return c.Since(
        run="2026-03-02T06:00:00Z",
        revision="0123456789+",
        accepted="abcdef012345",
        title="since accepted, of 9 scores: 1 got worse",
        answer=[
            "1 of 9 scores got worse, all of `system_1`.",
            "3 stages checked again.",
        ],
        causes=["prompt: prompts/judge.md (stage judge)", "model: small (stage judge)"],
        drift=["judge small: no alarm, 2 of 40 verdicts changed"],
        certificates=["claim_recall (lexical) for recall, document: use -> promising"],
        changes=[change],
        others="8 same numbers",
        scores=[score(system, [0.6, 0.61, 0.5]), score("system_2", [0.7, 0.7, 0.7])],
        earlier=0,
        href="../changes/invented/index.html",
    )


MEANS = {
    "value": "correlation with people",
    "p": "exact test, adjusted for all metrics",
    "macro": "mean over documents",
}


def _units(text: str) -> int:
    """Length as JavaScript counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _letters(n: int) -> list[str]:
    return ["abc"[i // 2 % 3] + ("bc"[i // 2 % 2] if i % 2 else "") for i in range(n)]
