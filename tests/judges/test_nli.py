"""The NLI judge against a direct computation, pair by pair, with tiny models of each form."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.judges.nli import NliJudge, NliOptions
from metassay.judges.protocol import Judgment, Pair

torch = pytest.importorskip("torch", reason="needs metassay[models]")
transformers = pytest.importorskip("transformers", reason="needs metassay[models]")

from metassay.models import pair_scores, rows  # noqa: E402 - it needs them
from tests.models.tiny import classifier, llama, t5  # noqa: E402

TEXTS = [
    (
        "the knee hurts when i climb the stairs, and today it hurts more than it did",
        "it hurts",
    ),
    ("how is the knee?", "the patient does not climb the stairs today"),
    ("it hurts", "it hurts"),
    ("", "the doctor is here"),
    ("it hurts. {hypothesis} {premise} {0} %s", "a brace } and { two"),
]
PAIRS = [Pair(f"p{n}", "entailment", *texts) for n, texts in enumerate(TEXTS)]
MNLI = ("entailment", "neutral", "contradiction")
TEMPLATE = "premise: {premise} hypothesis: {hypothesis}"
WORDS = {"entailed": "1", "not_entailed": "0"}
CLOSE = 1e-5  # five digits are significant in float32

Models = Callable[..., Path]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Models:
    """A tiny model per kind (and names of its classes), built once."""
    folder = tmp_path_factory.mktemp("models")

    def model(kind: str, classes: Sequence[str] = MNLI, **settings: Any) -> Path:
        place = folder / "-".join([kind, *classes, *map(str, settings.values())])
        if place.exists():
            return place
        if kind in ("llama", "writer"):
            return llama(place) if kind == "llama" else t5(place, factor=2.0)
        return classifier(place, kind, classes, **settings)

    return model


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store of model outputs is below the folder that a test runs in."""
    monkeypatch.chdir(tmp_path)


def judge(model: Path | str, form: str = "classification", **changes: Any) -> NliJudge:
    block = {
        "model": str(model),
        "device": "cpu",
        "dtype": "float32",
        "form": form,
    } | changes
    return NliJudge(parse(NliOptions, block, where="test"))


def pairs_of(*texts: tuple[str, str]) -> list[Pair]:
    return [Pair(f"q{n}", "entailment", *each) for n, each in enumerate(texts)]


def answered(judge: NliJudge, pairs: Sequence[Pair]) -> list[Judgment]:
    judgments = [judgment for judgment in judge.judge(pairs) if judgment is not None]
    assert len(judgments) == len(pairs)
    return judgments


def probabilities(judge: NliJudge, pairs: Sequence[Pair] = PAIRS) -> list[float]:
    return [j.probability for j in answered(judge, pairs) if j.probability is not None]


def load(model: Path, kind: str) -> tuple[Any, Any]:
    """The tokenizer, by which texts become tensors, and the network."""
    weights = getattr(transformers, kind).from_pretrained(model).eval()
    return transformers.AutoTokenizer.from_pretrained(model), weights


def encoded(words: Any, *texts: str) -> Any:
    return words(*texts, return_tensors="pt")


def joined(form: str) -> Callable[..., Any]:
    return lambda words, weights, p, h: weights(
        **encoded(words, form.format(premise=p, hypothesis=h))
    )


def of_words(answers: Sequence[str]) -> Callable[..., Any]:
    """Logits of an encoder-decoder's answers where they begin to differ."""

    def read(words: Any, weights: Any, premise: str, hypothesis: str) -> Any:
        yes, no = (
            words(word, add_special_tokens=False)["input_ids"] for word in answers
        )
        same = next(n for n in range(9) if yes[n] != no[n])
        assert same == len(answers[0]) - 1
        texts = encoded(words, TEMPLATE.format(premise=premise, hypothesis=hypothesis))
        begun = torch.tensor([[0, *yes[:same]]])
        return weights(**texts, decoder_input_ids=begun).logits[0, -1][
            [yes[same], no[same]]
        ]

    return read


def of_chat(form: str) -> Callable[..., Any]:
    """Logits of a causal model's answers; two spellings of a word count together."""

    def read(words: Any, weights: Any, premise: str, hypothesis: str) -> Any:
        tokens = [words.convert_tokens_to_ids(word) for word in ("Y", "y", "N")]
        logits = joined(form)(words, weights, premise, hypothesis).logits[0, -1][tokens]
        return torch.stack([torch.logsumexp(logits[:2], 0), logits[2]])

    return read


ORDER, BINARY = ("contradiction", "entailment", "neutral"), ("0", "1")
NAMED = {"labels": ["not_entailment", "entailment"]}
ASKS = "Does {premise} say {hypothesis}?"
CHAT = f"system: Be brief.\nuser: {ASKS}\nassistant:"
CAUSAL = {"template": ASKS, "words": {"entailed": ["Y", "y"], "not_entailed": "N"}}
SEQUENCE, TOKENS = (
    "AutoModelForSequenceClassification",
    "AutoModelForTokenClassification",
)
SEQ2SEQ, CAUSAL_LM = "AutoModelForSeq2SeqLM", "AutoModelForCausalLM"
Pairwise = Callable[..., Any]


def of_pair(words: Any, weights: Any, premise: str, hypothesis: str) -> Any:
    return weights(**encoded(words, premise, hypothesis)).logits[0]


# model, the judge's options, what transformers has, logits of a pair, and the place of
# `entailed`
FORMS: dict[str, tuple[Any, dict[str, Any], str, Pairwise, int]] = {
    **{
        kind: (
            (kind, ORDER, {"places": 128}),
            {"batch_tokens": 300},
            SEQUENCE,
            of_pair,
            1,
        )
        for kind in ("bert", "roberta", "deberta", "t5")
    },
    "a template with a mark of its own, as MiniCheck's classifiers": (
        ("roberta", BINARY, {"places": 128}),
        {"template": "{premise}</s>{hypothesis}", **NAMED},
        SEQUENCE,
        lambda *each: joined("{premise}</s>{hypothesis}")(*each).logits[0],
        1,
    ),
    "the first token speaks for the pair, as in HHEM-2.1": (
        ("t5", BINARY, {"head": "Token"}),
        {
            "head": "first_token",
            "template": "<pad> {premise}\n\n{hypothesis}",
            "max_tokens": 400,
            **NAMED,
        },
        TOKENS,
        lambda *each: joined("<pad> {premise}\n\n{hypothesis}")(*each).logits[0, 0],
        1,
    ),
    "a single class is a logistic function, as HHEM-1's": (
        ("bert", ("LABEL_0",), {"places": 128}),
        {},
        SEQUENCE,
        lambda *each: torch.stack([of_pair(*each)[0], torch.tensor(0.0)]),
        0,
    ),
    **{
        f"an encoder-decoder, {yes} or {no}": (
            ("writer", (), {}),
            {
                "form": "seq2seq",
                "template": TEMPLATE,
                "max_tokens": 400,
                "words": {"entailed": yes, "not_entailed": no},
            },
            SEQ2SEQ,
            of_words((yes, no)),
            0,
        )
        for yes, no in (("1", "0"), ("x1", "x0"))
    },
    "causal": (
        ("llama", (), {}),
        {"form": "causal", **CAUSAL},
        CAUSAL_LM,
        of_chat(ASKS),
        0,
    ),
    "a chat": (
        ("llama", (), {}),
        {"form": "causal", **CAUSAL, "chat": True, "system": "Be brief."},
        CAUSAL_LM,
        of_chat(CHAT),
        0,
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_pair_has_the_probability_that_it_has_alone(
    models: Models, form: str
) -> None:
    (kind, classes, settings), block, network, read, place = FORMS[form]
    model = models(kind, classes, **settings) if classes else models(kind)
    words, weights = load(model, network)
    with torch.no_grad():
        logits = [read(words, weights, *texts) for texts in TEXTS]
    expected = [torch.softmax(row, 0)[place].item() for row in logits]
    assert probabilities(judge(model, **block)) == pytest.approx(expected, abs=CLOSE)
    assert len({round(value, 6) for value in expected}) > 3


def test_neither_order_nor_neighbours_nor_repeats_change_an_answer(
    models: Models,
) -> None:
    model = models("bert", places=128)
    alone = {pair.pair_id: answered(judge(model), [pair])[0] for pair in PAIRS}
    again = [Pair(f"again {n}", "attribution", *texts) for n, texts in enumerate(TEXTS)]
    pairs = [*reversed(PAIRS), *again]
    Path(".work/models.sqlite").unlink()
    for pair, judgment in zip(
        pairs, answered(judge(model, batch_tokens=64), pairs), strict=True
    ):
        other = alone[f"p{pair.pair_id[-1]}"]
        assert (judgment.status, judgment.label) == (other.status, other.label)
        assert judgment.probability == pytest.approx(other.probability, abs=CLOSE)


def test_classes_in_another_order_are_the_same_classes(
    models: Models, tmp_path: Path
) -> None:
    """The last layer's rows and their names are exchanged together."""
    model = models("bert", places=128)
    words, weights = load(model, SEQUENCE)
    order = [2, 0, 1]
    with torch.no_grad():
        weights.classifier.weight.copy_(weights.classifier.weight[order])
        weights.classifier.bias.copy_(weights.classifier.bias[order])
    weights.config.id2label = {n: MNLI[place].upper() for n, place in enumerate(order)}
    for part in (words, weights):
        part.save_pretrained(tmp_path / "turned")
    pairs = [Pair(pair.pair_id, "three_way", *TEXTS[n]) for n, pair in enumerate(PAIRS)]
    ours, theirs = (
        answered(judge(model), pairs),
        answered(judge(tmp_path / "turned"), pairs),
    )
    assert [judgment.label for judgment in ours] == [
        judgment.label for judgment in theirs
    ]
    expected = [judgment.probability for judgment in theirs]
    assert [judgment.probability for judgment in ours] == pytest.approx(
        expected, abs=CLOSE
    )


def test_a_second_run_loads_no_model(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks: list[tuple[Path, dict[str, Any]]] = [
        *((models("bert", places=128), block) for block in ({}, {"window": 12})),
        (models("writer"), {"form": "seq2seq", "template": TEMPLATE, "words": WORDS}),
    ]
    first = [answered(judge(model, **block), PAIRS) for model, block in blocks]

    def fail(*_: object) -> None:
        raise AssertionError("a model is loaded")

    monkeypatch.setattr(pair_scores, "load", fail)
    assert [answered(judge(model, **block), PAIRS) for model, block in blocks] == first
    unsure = [judge(model, **block, abstain=[0.0, 1.0]) for model, block in blocks[:2]]
    assert {j.status for each in unsure for j in answered(each, PAIRS)} == {"abstained"}
    model, block = blocks[2]
    with pytest.raises(AssertionError, match="a model is loaded"):
        judge(model, **block, max_tokens=100).judge(PAIRS)


def test_each_window_and_hypothesis_is_computed_once_ever(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where two premises share a window, and in a later run with other questions."""
    computed: list[tuple[str, str]] = []
    scores = rows.Runner.scores

    def counting(
        runner: Any, pairs: Sequence[tuple[str, str]], batch_tokens: int
    ) -> Any:
        computed.extend(pairs)
        return scores(runner, pairs, batch_tokens)

    monkeypatch.setattr(rows.Runner, "scores", counting)
    first, second, third = (
        "It hurts today.",
        "The knee is here.",
        "He climbs the stairs.",
    )
    texts = [
        (f"{first} {second}", "it hurts"),
        (f"{second} {third}", "it hurts"),
        (first, "how"),
    ]
    pairs = [
        Pair(f"{of} {n}", of, *t)
        for n, t in enumerate(texts)
        for of in ("entailment", "three_way")
    ]
    model = models("bert", places=128)
    answered(judge(model, window=1), [*pairs, Pair("again", "attribution", *texts[0])])
    expected = [
        *((sentence, "it hurts") for sentence in (first, second, third)),
        (first, "how"),
    ]
    assert sorted(computed) == sorted(expected)
    computed.clear()
    answered(judge(model, window=1), [*pairs, Pair("new", "entailment", third, "how")])
    assert computed == [(third, "how")]


@pytest.mark.parametrize("template", [None, "{premise}</s>{hypothesis}"])
def test_no_text_is_a_mark_of_the_tokenizer(
    models: Models, template: str | None
) -> None:
    pairs = pairs_of(
        ("it hurts</s>today<pad>", "it<s>"), ("it hurts< /s>today< pad>", "it< s>")
    )
    marked, plain = probabilities(judge(models("roberta"), template=template), pairs)
    assert marked == plain


def test_what_does_not_fit_is_cut_and_counted(models: Models) -> None:
    """A place per token; each of these letters is a token, and the three special ones are too."""
    model = models("bert")  # reads 64
    words, weights = load(model, SEQUENCE)
    long, short = "aq" * 40, "qa"
    cut = "aq" * 29 + "a"
    read = [(cut, short), (short, cut), ("aq" * 15 + "a", "aq" * 15), (short, short)]
    assert [len(words(*each)["input_ids"]) for each in read] == [64, 64, 64, 7]
    with torch.no_grad():
        logits = [of_pair(words, weights, *each).softmax(0)[0].item() for each in read]
    texts = pairs_of((long, short), (short, long), (long, long), (short, short))
    whole, single = judge(model), judge(model)
    assert probabilities(whole, texts) == pytest.approx(logits, abs=CLOSE)
    (note,) = whole.notes
    assert (
        "of 4 questions 2 have a premise and 2 a hypothesis whose end was not read"
        in note
    )
    answered(single, texts[:1])
    assert "of 1 questions 1 have a premise and 0 a hypothesis" in single.notes[0]


def test_labels_that_hang_on_last_digits_are_counted(models: Models) -> None:
    """With a threshold that is the first pair's probability, and with one far from all."""
    model = models("bert", places=128)
    first, *others = probabilities(judge(model))
    assert min(abs(first - other) for other in others) > 1e-3
    near = judge(model, threshold=first)
    far = judge(model, threshold=(first + max(first, *others)) / 2 + 1e-3)
    answered(near, PAIRS)
    answered(far, PAIRS)
    (note,) = near.notes
    assert "of 5 questions 1 have a label that may differ on another processor" in note
    assert "in float32 probabilities can be 5e-05 off" in note
    assert far.notes == []


@pytest.mark.parametrize(
    ("kind", "most", "is_cut"),
    [
        ("deberta", None, True),
        ("deberta", 100, True),
        ("deberta", 126, False),
        ("bert", None, True),
        ("bert", 1000, True),
        ("bert", 4, None),
    ],
)
def test_a_limit_is_as_long_as_the_model_allows(
    models: Models, kind: str, most: int | None, is_cut: bool | None
) -> None:
    """Distances can be longer than those of the training; places end where their table does."""
    limited, pairs = judge(models(kind), max_tokens=most), pairs_of(("aq" * 60, "qa"))
    if is_cut is None:
        with pytest.raises(BadInput, match="is too short; increase `max_tokens`"):
            limited.judge(pairs)
    else:
        answered(limited, pairs)
        assert bool(limited.notes) is is_cut


def test_a_long_premise_is_read_in_windows(models: Models) -> None:
    """The highest of the windows' probabilities, each computed by itself."""
    model = models("bert")
    sentences = [
        "It hurts today.",
        "The knee is here.",
        "How is it?",
        "He climbs the stairs.",
    ]
    words = transformers.AutoTokenizer.from_pretrained(model)
    counts = [
        len(words(f" {text}" if n else text, add_special_tokens=False)["input_ids"])
        for n, text in enumerate(sentences)
    ]
    most = counts[0] + counts[1]
    assert counts[1] + counts[2] <= most < counts[2] + counts[3] + counts[1]
    runs = [" ".join(part) for part in (sentences[:2], sentences[1:3], sentences[2:])]
    whole = probabilities(judge(model), pairs_of(*((run, "it hurts") for run in runs)))
    pairs = pairs_of((" ".join(sentences), "it hurts"))
    (judgment,) = answered(judge(model, window=most, stride=1), pairs)
    assert judgment.probability == pytest.approx(max(whole), abs=CLOSE)
    assert (judgment.explanation or "").endswith(
        f"in window {whole.index(max(whole)) + 1} of 3"
    )
    apart = probabilities(judge(model, window=most), pairs)
    assert apart == pytest.approx([max(whole[0], whole[2])], abs=CLOSE)


def test_a_written_answer_is_its_word_or_unparsed(
    models: Models, tmp_path: Path
) -> None:
    """It begins with 1, 0, 7 or nothing, whatever the likeliest first token is, and ends there."""
    words, weights = load(models("writer"), SEQ2SEQ)
    digits = words.convert_tokens_to_ids(["1", "0", "7"])
    with torch.no_grad():
        head = torch.zeros_like(weights.lm_head.weight)
        scale = torch.tensor([[1], [1], [0.5]])  # or 7 would always be likeliest
        head[digits] = scale * weights.lm_head.weight[digits]
        # no longer those of the first layer
        weights.lm_head.weight = torch.nn.Parameter(head)
    weights.generation_config.eos_token_id = [2, *digits]
    for part in (words, weights):
        part.save_pretrained(tmp_path / "writer")
    premises = [
        f"it hurts {text} today" for text in ("a", "in the knee", "how", "2", "10")
    ]
    texts = [
        encoded(words, f"premise: {text} hypothesis: it hurts") for text in premises
    ]
    with torch.no_grad():
        start = torch.tensor([[0]])
        first = [
            weights(**each, decoder_input_ids=start).logits[0, 0].argmax()
            for each in texts
        ]
    written = [words.decode(token, skip_special_tokens=True) for token in first]
    assert set(written) == {"1", "0", "7"}
    meaning = {"1": ("ok", "entailed"), "0": ("ok", "not_entailed")}
    block = {"template": TEMPLATE, "words": WORDS, "read": "generated"}
    pairs = pairs_of(*((premise, "it hurts") for premise in premises))
    writer = judge(tmp_path / "writer", "seq2seq", **block)
    judgments = answered(writer, pairs)
    assert "it is not known how many labels may differ" in writer.notes[-1]
    expected = [meaning.get(word, ("unparsed", None)) for word in written]
    assert [(j.status, j.label) for j in judgments] == expected
    assert all(j.probability is None for j in judgments)


def test_what_cannot_be_asked_or_computed_has_status_error(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [Pair("blank", "entailment", "it hurts", " \n"), *PAIRS[:2]]
    monkeypatch.setattr(pair_scores, "math", SimpleNamespace(isfinite=lambda _: False))
    bert = judge(models("bert", places=128))
    judgments = answered(bert, pairs)
    assert answered(bert, pairs[:1]) == judgments[:1]
    reasons = ["the hypothesis is blank", *["the model's numbers are not finite"] * 2]
    assert judgments == [Judgment("error", explanation=reason) for reason in reasons]


STRICT = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no') }}{% endif %}x"
)
CAUSAL_BLOCK = {"form": "causal", "template": TEMPLATE, "words": WORDS}


@pytest.mark.parametrize(
    ("model", "block", "problem"),
    [
        (
            ("roberta", BINARY),
            {},
            "the names of the classes, '0', '1', do not say what they mean; give",
        ),
        (
            ("roberta", BINARY),
            {"labels": list(MNLI)},
            "the model has 2 classes, `labels` has 3",
        ),
        (("bert", ("LABEL_0",)), {}, "knows entailed, which do not answer three_way"),
        (
            ("llama", ()),
            CAUSAL_BLOCK | {"words": {"entailed": "yes", "not_entailed": "yes, but"}},
            "words 'yes' start alike",
        ),
        (None, CAUSAL_BLOCK | {"chat": True}, "has no chat template; remove `chat`"),
        (
            STRICT,
            CAUSAL_BLOCK | {"chat": True, "system": "Be brief."},
            "refuses these messages",
        ),
    ],
)
def test_a_model_that_does_not_fit_is_refused(
    models: Models, tmp_path: Path, model: Any, block: dict[str, Any], problem: str
) -> None:
    """A model by kind and classes, or one that chats by a template."""
    built = (
        models(*model)
        if isinstance(model, tuple)
        else llama(tmp_path / "m", template=model)
    )
    pairs = PAIRS if block else [*PAIRS, Pair("t", "three_way", *TEXTS[0])]
    with pytest.raises(BadInput, match=problem):
        judge(built, **block).judge(pairs)


def test_whatever_can_change_an_answer_is_in_the_signature(models: Models) -> None:
    model = models("bert")
    changes: list[dict[str, Any]] = [
        {},
        {"template": TEMPLATE},
        {"head": "first_token"},
        {"max_tokens": 20},
        {"window": 20},
        {"labels": ["neutral", "entailment", "contradiction"]},
        {"window": 20, "stride": 9},
        {"threshold": 0.6},
        {"abstain": [0.4, 0.6]},
        {"dtype": "bfloat16"},
        {"device": "cuda"},
        *(
            CAUSAL_BLOCK | {"form": "seq2seq", "read": read}
            for read in ("probability", "generated")
        ),
        *(
            CAUSAL_BLOCK | more
            for more in ({}, {"chat": True}, {"chat": True, "system": "Be brief."})
        ),
        CAUSAL_BLOCK | {"template": TEMPLATE + " "},
        CAUSAL_BLOCK | {"words": WORDS | {"entailed": "2"}},
        CAUSAL_BLOCK | {"words": WORDS | {"entailed": ["1", "3"]}},
    ]
    signatures = [judge(model, **change).signature for change in changes]
    signatures.append(judge(models("bert", ("LABEL_0",))).signature)
    assert len(set(signatures)) == len(changes) + 1
    assert str(model.parent) not in "".join(signatures)
    assert judge(model, batch_tokens=9).signature == signatures[0]
