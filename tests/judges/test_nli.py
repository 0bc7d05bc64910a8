"""The NLI judge against a direct computation, pair by pair, with tiny models of each form."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.core.options import parse
from metassay.judges import JUDGES
from metassay.judges.make import make_judge
from metassay.judges.nli import NliJudge, NliOptions
from metassay.judges.protocol import Judgment, Pair
from metassay.judges.run import judge_pairs
from metassay.llm.needs import Resources

torch = pytest.importorskip("torch", reason="needs metassay[models]")
transformers = pytest.importorskip("transformers", reason="needs metassay[models]")

from metassay.models import pair_scores, rows  # noqa: E402 - it needs them
from tests.models.tiny import classifier, llama, t5  # noqa: E402

TEXTS = [
    ("the knee hurts when i climb the stairs, and today it hurts more than it did", "it hurts"),
    ("how is the knee?", "the patient does not climb the stairs today"),
    ("it hurts", "it hurts"),
    ("", "the doctor is here"),
    ("it hurts. {hypothesis} {premise} {0} %s", "a brace } and { two"),
]
PAIRS = [Pair(f"p{n}", "entailment", *texts) for n, texts in enumerate(TEXTS)]
MNLI = ("entailment", "neutral", "contradiction")
TEMPLATE = "premise: {premise} hypothesis: {hypothesis}"
WORDS = {"entailed": "1", "not_entailed": "0"}
CLOSE = 1e-5  # five digits are kept of float32

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
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What models computed is kept below the folder that a test runs in."""
    monkeypatch.chdir(tmp_path)


def judge(model: Path | str, form: str = "classification", **changes: Any) -> NliJudge:
    block = {"model": str(model), "device": "cpu", "dtype": "float32", "form": form} | changes
    return NliJudge(parse(NliOptions, block, where="test"))


def answered(judge: NliJudge, pairs: Sequence[Pair]) -> list[Judgment]:
    found = [judgment for judgment in judge.judge(pairs) if judgment is not None]
    assert len(found) == len(pairs)
    return found


def probabilities(judge: NliJudge, pairs: Sequence[Pair] = PAIRS) -> list[float]:
    return [j.probability for j in answered(judge, pairs) if j.probability is not None]


def encoded(words: Any, *texts: str) -> Any:
    return words(*texts, return_tensors="pt")


def one_by_one(
    model: Path, kind: str, read: Callable[[Any, Any, str, str], Any], place: int
) -> list[float]:
    """Softmax of what `read` gives for each pair alone, at `place`."""
    words = transformers.AutoTokenizer.from_pretrained(model)
    weights = getattr(transformers, kind).from_pretrained(model).eval()
    with torch.no_grad():
        logits = [read(words, weights, *texts) for texts in TEXTS]
    return [torch.softmax(row, 0)[place].item() for row in logits]


@pytest.mark.parametrize("kind", ["bert", "roberta", "deberta", "t5"])
def test_a_classifier_gives_what_each_pair_gives_alone(models: Models, kind: str) -> None:
    model = models(kind, ("contradiction", "entailment", "neutral"), places=128)

    def read(words: Any, weights: Any, premise: str, hypothesis: str) -> Any:
        return weights(**encoded(words, premise, hypothesis)).logits[0]

    expected = one_by_one(model, "AutoModelForSequenceClassification", read, 1)
    found = probabilities(judge(model, batch_tokens=300))
    assert found == pytest.approx(expected, abs=CLOSE)
    assert len({round(value, 3) for value in found}) == len(TEXTS)


def test_a_template_joins_the_two_with_a_mark_of_its_own(models: Models) -> None:
    """As MiniCheck's classifiers want it: one end mark between the texts, not two."""
    model = models("roberta", ("0", "1"), places=128)

    def read(words: Any, weights: Any, premise: str, hypothesis: str) -> Any:
        return weights(**encoded(words, premise + "</s>" + hypothesis)).logits[0]

    expected = one_by_one(model, "AutoModelForSequenceClassification", read, 1)
    labels = {"labels": ["not_entailment", "entailment"]}
    found = judge(model, template="{premise}</s>{hypothesis}", **labels)
    assert probabilities(found) == pytest.approx(expected, abs=CLOSE)
    with pytest.raises(BadInput, match="classes called '0', '1' do not say what they mean; give"):
        judge(model).judge(PAIRS)
    with pytest.raises(BadInput, match="the model has 2 classes, `labels` has 3"):
        judge(model, labels=list(MNLI)).judge(PAIRS)


def test_the_first_token_can_speak_for_the_pair(models: Models) -> None:
    """As HHEM-2.1's classifier does."""
    model = models("t5", ("0", "1"), head="Token")

    def read(words: Any, weights: Any, premise: str, hypothesis: str) -> Any:
        text = f"<pad> {premise}\n\n{hypothesis}"
        return weights(**encoded(words, text)).logits[0, 0]

    expected = one_by_one(model, "AutoModelForTokenClassification", read, 1)
    said = {"labels": ["not_entailment", "entailment"], "max_tokens": 400}
    found = judge(model, head="first_token", template="<pad> {premise}\n\n{hypothesis}", **said)
    assert probabilities(found) == pytest.approx(expected, abs=CLOSE)


def test_a_single_class_is_a_probability_by_the_logistic_function(models: Models) -> None:
    """As HHEM-1's is."""
    model = models("bert", ("LABEL_0",), places=128)
    words = transformers.AutoTokenizer.from_pretrained(model)
    weights = transformers.AutoModelForSequenceClassification.from_pretrained(model).eval()
    with torch.no_grad():
        logits = [weights(**encoded(words, *texts)).logits.item() for texts in TEXTS]
    expected = [1 / (1 + math.exp(-logit)) for logit in logits]
    assert probabilities(judge(model)) == pytest.approx(expected, abs=CLOSE)


@pytest.mark.parametrize("said", [("1", "0"), ("x1", "x0")])
def test_an_encoder_decoder_weighs_the_words_where_they_differ(
    models: Models, said: tuple[str, str]
) -> None:
    model = models("writer")
    words = transformers.AutoTokenizer.from_pretrained(model)
    yes, no = (words(word, add_special_tokens=False)["input_ids"] for word in said)
    same = next(n for n in range(9) if yes[n] != no[n])

    def read(words: Any, weights: Any, premise: str, hypothesis: str) -> Any:
        given = encoded(words, f"premise: {premise} hypothesis: {hypothesis}")
        begun = torch.tensor([[0, *yes[:same]]])
        logits = weights(**given, decoder_input_ids=begun).logits[0, -1]
        return logits[[yes[same], no[same]]]

    expected = one_by_one(model, "AutoModelForSeq2SeqLM", read, 0)
    answers = dict(zip(WORDS, said, strict=True))
    found = judge(model, "seq2seq", template=TEMPLATE, words=answers, max_tokens=400)
    assert same == len(said[0]) - 1
    assert probabilities(found) == pytest.approx(expected, abs=CLOSE)
    assert len({round(value, 6) for value in expected}) > 3


@pytest.mark.parametrize("chat", [False, True])
def test_a_causal_model_weighs_the_words_that_it_would_go_on_with(
    models: Models, chat: bool
) -> None:
    """Two spellings of a word count together."""
    model = models("llama")
    words = transformers.AutoTokenizer.from_pretrained(model)
    tokens = [words.convert_tokens_to_ids(word) for word in ("Y", "y", "N")]

    def read(words: Any, weights: Any, premise: str, hypothesis: str) -> Any:
        text = f"Does {premise} say {hypothesis}?"
        if chat:
            text = f"system: Be brief.\nuser: {text}\nassistant:"
        return weights(**encoded(words, text)).logits[0, -1][tokens]

    expected = [a + b for a, b in zip(*causal_shares(model, read), strict=True)]
    answers = {"entailed": ["Y", "y"], "not_entailed": "N"}
    how = {"chat": True, "system": "Be brief."} if chat else {}
    template = "Does {premise} say {hypothesis}?"
    assert len({round(value, 6) for value in expected}) > 3
    found = judge(model, "causal", template=template, words=answers, **how)
    assert probabilities(found) == pytest.approx(expected, abs=CLOSE)


def causal_shares(model: Path, read: Callable[[Any, Any, str, str], Any]) -> list[list[float]]:
    return [one_by_one(model, "AutoModelForCausalLM", read, place) for place in (0, 1)]


def test_neither_order_nor_neighbours_nor_repeats_change_an_answer(models: Models) -> None:
    model = models("bert", places=128)
    alone = {pair.pair_id: answered(judge(model), [pair])[0] for pair in PAIRS}
    again = [Pair(f"again {n}", "attribution", *texts) for n, texts in enumerate(TEXTS)]
    pairs = [*reversed(PAIRS), *again]
    Path(".work/models.sqlite").unlink()
    found = answered(judge(model, batch_tokens=64), pairs)
    for pair, one in zip(pairs, found, strict=True):
        other = alone[f"p{pair.pair_id[-1]}"]
        assert (one.status, one.label) == (other.status, other.label)
        assert one.probability == pytest.approx(other.probability, abs=CLOSE)


def test_classes_in_another_order_are_the_same_classes(models: Models, tmp_path: Path) -> None:
    """The last layer's rows and their names are exchanged together."""
    model = models("bert", places=128)
    weights = transformers.AutoModelForSequenceClassification.from_pretrained(model)
    order = [2, 0, 1]
    with torch.no_grad():
        weights.classifier.weight.copy_(weights.classifier.weight[order])
        weights.classifier.bias.copy_(weights.classifier.bias[order])
    weights.config.id2label = {n: MNLI[place].upper() for n, place in enumerate(order)}
    weights.save_pretrained(tmp_path / "turned")
    transformers.AutoTokenizer.from_pretrained(model).save_pretrained(tmp_path / "turned")
    pairs = [Pair(pair.pair_id, "three_way", *TEXTS[n]) for n, pair in enumerate(PAIRS)]
    ours, theirs = answered(judge(model), pairs), answered(judge(tmp_path / "turned"), pairs)
    assert [one.label for one in ours] == [other.label for other in theirs]
    assert [one.probability for one in ours] == pytest.approx(
        [other.probability for other in theirs], abs=CLOSE
    )
    with pytest.raises(BadInput, match="knows entailed, which do not answer three_way"):
        judge(models("bert", ("LABEL_0",), places=128)).judge(pairs)


def test_a_second_run_loads_no_model(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    makers = [
        lambda **changes: judge(models("bert", places=128), **changes),
        lambda **changes: judge(models("bert", places=128), window=12, **changes),
        lambda **changes: judge(
            models("writer"), "seq2seq", template=TEMPLATE, words=WORDS, **changes
        ),
    ]
    first = [answered(make(), PAIRS) for make in makers]

    def fail(*_: object) -> None:
        raise AssertionError("a model is loaded")

    monkeypatch.setattr(pair_scores, "load", fail)
    assert [answered(make(), PAIRS) for make in makers] == first
    strict = [make(abstain=[0.0, 1.0]) for make in makers[:2]]
    assert {j.status for one in strict for j in answered(one, PAIRS)} == {"abstained"}
    with pytest.raises(AssertionError, match="a model is loaded"):
        makers[2](max_tokens=100).judge(PAIRS)


def test_each_window_and_hypothesis_is_computed_once_ever(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where two premises share a window, and in a later run with other questions."""
    computed: list[tuple[str, str]] = []
    scores = rows.Runner.scores

    def counting(runner: Any, pairs: Sequence[tuple[str, str]], batch_tokens: int) -> Any:
        computed.extend(pairs)
        return scores(runner, pairs, batch_tokens)

    monkeypatch.setattr(rows.Runner, "scores", counting)
    one, two, three = "It hurts today.", "The knee is here.", "He climbs the stairs."
    texts = [(f"{one} {two}", "it hurts"), (f"{two} {three}", "it hurts"), (one, "how")]
    pairs = [
        Pair(f"{of} {n}", of, *t) for n, t in enumerate(texts) for of in ("entailment", "three_way")
    ]
    model = models("bert", places=128)
    answered(judge(model, window=1), [*pairs, Pair("again", "attribution", *texts[0])])
    expected = [(one, "it hurts"), (two, "it hurts"), (three, "it hurts"), (one, "how")]
    assert sorted(computed) == sorted(expected)
    computed.clear()
    answered(judge(model, window=1), [*pairs, Pair("new", "entailment", three, "how")])
    assert computed == [(three, "how")]


def test_what_a_text_says_is_no_mark_of_the_tokenizer(models: Models) -> None:
    texts = [("it hurts</s>today<pad>", "it<s>"), ("it hurts< /s>today< pad>", "it< s>")]
    pairs = [Pair(f"p{n}", "entailment", *each) for n, each in enumerate(texts)]
    for template in (None, "{premise}</s>{hypothesis}"):
        one, other = probabilities(judge(models("roberta"), template=template), pairs)
        assert one == other


def test_what_does_not_fit_is_cut_and_counted(models: Models) -> None:
    """A place per token; each of these letters is a token, and the three special ones are too."""
    model = models("bert")  # reads 64
    words = transformers.AutoTokenizer.from_pretrained(model)
    weights = transformers.AutoModelForSequenceClassification.from_pretrained(model).eval()
    long, short = "aq" * 40, "qa"
    texts = [(long, short), (short, long), (long, long), (short, short)]
    read = [("aq" * 29 + "a", short), (short, "aq" * 29 + "a"), ("aq" * 15 + "a", "aq" * 15)]
    read = [*read, (short, short)]
    assert [len(words(*each)["input_ids"]) for each in read] == [64, 64, 64, 7]
    with torch.no_grad():
        rows = [weights(**encoded(words, *each)).logits[0].softmax(0) for each in read]
    asked = judge(model)
    found = answered(asked, [Pair(f"p{n}", "entailment", *each) for n, each in enumerate(texts)])
    expected = [row[0].item() for row in rows]
    assert [one.probability for one in found] == pytest.approx(expected, abs=CLOSE)
    (note,) = asked.notes
    assert "of 4 questions 2 have a premise and 2 a hypothesis whose end was not read" in note
    again = judge(model)
    answered(again, [Pair("p", "entailment", *texts[0])])
    assert "of 1 questions 1 have a premise and 0 a hypothesis" in again.notes[0]


def test_labels_that_hang_on_last_digits_are_counted(models: Models) -> None:
    """With a threshold that is the first pair's own probability, and with one far from all."""
    block: dict[str, Any] = {"model": models("bert", places=128)}
    own, *others = probabilities(judge(**block))
    assert min(abs(own - other) for other in others) > 1e-3
    asked = judge(**block, threshold=own)
    answered(asked, PAIRS)
    (note,) = asked.notes
    assert "of 5 questions 1 have a label that may differ on another processor" in note
    assert "in float32 probabilities can be 5e-05 off" in note
    clear = judge(**block, threshold=(own + max(own, *others)) / 2 + 1e-3)
    answered(clear, PAIRS)
    assert clear.notes == []


def test_a_limit_is_as_long_as_the_model_allows(models: Models) -> None:
    """Distances can be longer than those of the training; places end where their table does."""
    pair = [Pair("p", "entailment", "aq" * 60, "qa")]

    def notes(kind: str, most: int | None) -> list[str]:
        asked = judge(models(kind), max_tokens=most)
        answered(asked, pair)
        return asked.notes

    assert [bool(notes("deberta", most)) for most in (None, 100, 126)] == [True, True, False]
    assert [bool(notes("bert", most)) for most in (None, 1000)] == [True, True]
    with pytest.raises(BadInput, match="is too short; increase `max_tokens`"):
        notes("bert", 4)


def test_a_long_premise_is_read_in_windows(models: Models) -> None:
    """The highest of the windows' probabilities, each computed by itself."""
    model = models("bert")
    sentences = ["It hurts today.", "The knee is here.", "How is it?", "He climbs the stairs."]
    premise, said = " ".join(sentences), "it hurts"
    words = transformers.AutoTokenizer.from_pretrained(model)
    counts = [
        len(words(f" {text}" if n else text, add_special_tokens=False)["input_ids"])
        for n, text in enumerate(sentences)
    ]
    most = counts[0] + counts[1]
    assert counts[1] + counts[2] <= most < counts[2] + counts[3] + counts[1]
    runs = [" ".join(sentences[:2]), " ".join(sentences[1:3]), " ".join(sentences[2:])]
    whole = probabilities(
        judge(model), [Pair(f"w{n}", "entailment", r, said) for n, r in enumerate(runs)]
    )
    asked = judge(model, window=most, stride=1)
    (found,) = answered(asked, [Pair("p", "entailment", premise, said)])
    assert found.probability == pytest.approx(max(whole), abs=CLOSE)
    assert (found.explanation or "").endswith(f"in window {whole.index(max(whole)) + 1} of 3")
    apart = probabilities(judge(model, window=most), [Pair("p", "entailment", premise, said)])
    assert apart == pytest.approx([max(whole[0], whole[2])], abs=CLOSE)


def test_a_written_answer_is_its_word_or_unparsed(models: Models, tmp_path: Path) -> None:
    """It begins with 1, 0, 7 or nothing, whatever the likeliest first token is, and ends there."""
    words = transformers.AutoTokenizer.from_pretrained(models("writer"))
    weights = transformers.AutoModelForSeq2SeqLM.from_pretrained(models("writer")).eval()
    digits = words.convert_tokens_to_ids(["1", "0", "7"])
    with torch.no_grad():
        head = torch.zeros_like(weights.lm_head.weight)
        scale = torch.tensor([[1], [1], [0.5]])  # or 7 would always be likeliest
        head[digits] = scale * weights.lm_head.weight[digits]
        weights.lm_head.weight = torch.nn.Parameter(head)  # no longer those of the first layer
    weights.generation_config.eos_token_id = [2, *digits]
    weights.save_pretrained(tmp_path / "writer")
    words.save_pretrained(tmp_path / "writer")
    premises = [f"it hurts {text} today" for text in ("a", "in the knee", "how", "2", "10")]
    given = [encoded(words, f"premise: {text} hypothesis: it hurts") for text in premises]
    with torch.no_grad():
        start = torch.tensor([[0]])
        first = [weights(**each, decoder_input_ids=start).logits[0, 0].argmax() for each in given]
    said = [words.decode(token, skip_special_tokens=True) for token in first]
    assert set(said) == {"1", "0", "7"}
    meant = {"1": ("ok", "entailed"), "0": ("ok", "not_entailed")}
    asked = judge(tmp_path / "writer", "seq2seq", template=TEMPLATE, words=WORDS, read="generated")
    found = answered(asked, [Pair(t, "entailment", t, "it hurts") for t in premises])
    expected = [meant.get(word, ("unparsed", None)) for word in said]
    assert [(one.status, one.label) for one in found] == expected
    assert all(one.probability is None for one in found)


def test_what_cannot_be_asked_or_computed_has_status_error(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [Pair("blank", "entailment", "it hurts", " \n"), *PAIRS[:2]]
    monkeypatch.setattr(pair_scores, "math", SimpleNamespace(isfinite=lambda _: False))
    found = answered(judge(models("bert", places=128)), pairs)
    assert [one.status for one in found] == ["error"] * 3
    assert [one.explanation for one in found] == [
        "the hypothesis is blank",
        *["the model's numbers are not finite"] * 2,
    ]


def test_too_little_memory_is_said(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object) -> None:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(pair_scores, "_listed", full)
    asked = judge(models("bert", places=128), batch_tokens=9)
    with pytest.raises(BadInput, match=r"cpu has too little memory for 1 inputs of \d+ tokens"):
        asked.judge(PAIRS)


def test_words_that_begin_alike_are_refused(models: Models) -> None:
    words = {"entailed": "yes", "not_entailed": "yes, but"}
    with pytest.raises(BadInput, match="words 'yes' start alike"):
        judge(models("llama"), "causal", template=TEMPLATE, words=words).judge(PAIRS)


def test_a_chat_needs_a_template_of_the_model(tmp_path: Path) -> None:
    model = llama(tmp_path / "plain", template=None)
    asked = judge(model, "causal", template=TEMPLATE, words=WORDS, chat=True)
    with pytest.raises(BadInput, match="has no chat template; remove `chat`"):
        asked.judge(PAIRS)


def test_a_chat_template_may_refuse_a_system(tmp_path: Path) -> None:
    template = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no') }}{% endif %}x"
    model = llama(tmp_path / "strict", template=template)
    asked = {"template": TEMPLATE, "words": WORDS, "chat": True, "system": "Be brief."}
    with pytest.raises(BadInput, match="refuses these messages"):
        judge(model, "causal", **asked).judge(PAIRS)


def test_a_model_that_is_not_there_while_the_hub_is_shut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(BadInput, match="HF_HUB_OFFLINE is set, so it must be in the hub's cache"):
        judge("someone/nowhere", revision="0123456789" * 4).judge(PAIRS)


def test_whatever_can_change_an_answer_is_in_the_signature(models: Models) -> None:
    model = models("bert")
    changes: list[dict[str, Any]] = [
        {},
        {"template": TEMPLATE},
        {"labels": ["neutral", "entailment", "contradiction"]},
        {"head": "first_token"},
        {"max_tokens": 20},
        {"window": 20},
        {"window": 20, "stride": 9},
        {"threshold": 0.6},
        {"abstain": [0.4, 0.6]},
        {"dtype": "bfloat16"},
        {"device": "cuda"},
    ]
    said = [judge(model, **change).signature for change in changes]
    said.append(judge(models("bert", ("LABEL_0",))).signature)
    asked: list[dict[str, Any]] = [
        {},
        {"template": TEMPLATE + " "},
        {"words": {"entailed": "1", "not_entailed": "2"}},
        {"words": {"entailed": ["1", "3"], "not_entailed": "2"}},
        {"chat": True},
        {"chat": True, "system": "Be brief."},
    ]
    first = {"template": TEMPLATE, "words": WORDS}
    said += [judge(model, "causal", **first | change).signature for change in asked]
    said += [
        judge(model, "seq2seq", **first, read=r).signature for r in ("probability", "generated")
    ]
    assert len(set(said)) == len(changes) + 1 + len(asked) + 2
    assert str(model.parent) not in "".join(said)
    assert judge(model, batch_tokens=9).signature == said[0]


def test_citations_are_asked_about_only_as_far_as_they_matter(models: Models) -> None:
    """With nothing entailed by all passages together, none of the single ones is asked about."""
    said, both = "it hurts", "the knee\nthe stairs"
    pairs = [
        Pair("whole", "attribution", both, said),
        Pair("alone", "attribution_alone", "the knee", said, context=both),
        Pair("rest", "attribution_rest", "the stairs", said, context=both),
    ]
    model = models("bert")
    none = judge(model, threshold=1.0).judge(pairs)
    assert [one and one.label for one in none] == ["not_entailed", None, None]
    all_ = judge(model, threshold=0.0).judge(pairs)
    assert [one and one.label for one in all_] == ["entailed", "entailed", None]


def test_the_stage_judges_with_a_block_of_params(models: Models) -> None:
    model = models("bert", places=24)
    block = {"kind": "nli", "form": "classification", "model": str(model)}
    chosen = choose(
        JUDGES, block | {"device": "cpu", "dtype": "float32"}, where="params.yaml > judges > mine"
    )
    made = make_judge(chosen, lambda _: Resources(Path("data/raw")))
    rows = pd.DataFrame(
        [
            (f"p{n}", "three_way" if n % 2 else "entailment", *texts)
            for n, texts in enumerate(TEXTS)
        ],
        columns=["pair_id", "instrument", "premise", "hypothesis"],
    ).assign(measure="m", part="full", author="a", context=None, settled=None)
    found = judge_pairs(rows, "mine", made, chosen.record.instruments).set_index("pair_id")
    assert list(found["status"]) == ["ok"] * len(TEXTS)
    assert set(found["recipe"]) == {made.signature}
    alone = [answered(judge(model), [pair])[0].probability for pair in PAIRS]
    assert list(found["probability"].sort_index()) == pytest.approx(alone, abs=CLOSE)
    assert len(made.notes) == 1  # two premises are longer than it reads
    assert str(model.parent) not in made.notes[0]
