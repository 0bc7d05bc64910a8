"""Make data/hospital_course_models: tiny seq2seq models of the words of the invented stays.

    python -m tests.support.hospital_models data/hospital_course_models

The same files on every machine: weights are drawn by `random.Random.random` alone, or
set by hand, and no library writes a file.
"""

import json
import random
import re
import struct
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.hospital_course import choices, facts_of, fill_in, material

Weights = dict[str, np.ndarray[Any, Any]]

SEED = 20261128
SPECIAL = ("<pad>", "<s>", "</s>", "<unk>", "<mask>")
WIDTH, PLACES = 48, 512  # of bart
CODE, FILLER_PLACES = 32, 192  # of the filler: numbers of a word, and of a place
SHARP, GAIN, OTHERS = 20.0, 3.0, -20.0
_PIECES = r"[,./]"
_PRONOUNS = (("She", "she", "her", "her"), ("He", "he", "his", "him"))


def words() -> tuple[list[str], list[str]]:
    """Every word that a stay or a summary can have, and those of them that are values."""
    lines = material()
    texts, values = set(lines["unsaid"]), set[str]()
    for fact in facts_of([line for name in lines for line in lines[name]]):
        for drawn in product(*choices(fact)):
            values |= {f" {value}" for value in drawn}
            for pronouns in _PRONOUNS:
                marks = dict(zip(("%S", "%s", "%h", "%o"), pronouns, strict=True))
                wordings = [
                    fill_in(text, drawn, marks, short=short)
                    for text in (fact.source, fact.reworded)
                    for short in (False, True)
                    if text
                ]
                texts |= {f" {text}" for text in wordings}
    texts |= {text.strip()[0].upper() + text.strip()[1:] for text in texts} | {" and,."}
    every = {piece for text in texts for piece in pieces(text)}
    words_of_values = {text.split()[0] for text in values}
    return sorted(every), sorted({f"▁{word}" for word in words_of_values} & every)


def pieces(text: str) -> Iterator[str]:
    """As the tokenizer divides a text: words with the blank before them, and marks."""
    marked = ("" if text.startswith(" ") else "▁") + text.replace(" ", "▁")
    return iter(re.findall(rf"▁?[^▁,./]+|{_PIECES}", marked))


def tokenizer(known: Sequence[str], places: int) -> dict[str, Any]:
    """The files of a tokenizer of these words."""
    mark = {
        "type": "Metaspace",
        "replacement": "▁",
        "prepend_scheme": "first",
        "split": True,
    }
    split = {"type": "Split", "pattern": {"Regex": _PIECES}, "behavior": "Isolated"}
    every = [*SPECIAL, *known]
    flags = {
        "single_word": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }
    begin, end = (
        {"SpecialToken": {"id": token, "type_id": 0}} for token in ("<s>", "</s>")
    )
    text, other = ({"Sequence": {"id": letter, "type_id": 0}} for letter in "AB")
    ids = {
        token: {"id": token, "ids": [SPECIAL.index(token)], "tokens": [token]}
        for token in SPECIAL[1:3]
    }
    inner = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": n, "content": token, "lstrip": token == "<mask>", **flags}
            for n, token in enumerate(SPECIAL)
        ],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [mark, {**split, "invert": False}],
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [begin, text, end],
            "pair": [begin, text, end, end, other, end],
            "special_tokens": ids,
        },
        "decoder": mark,
        "model": {
            "type": "WordLevel",
            "vocab": {token: n for n, token in enumerate(every)},
            "unk_token": "<unk>",
        },
    }
    roles = dict(zip(("pad", "bos", "eos", "unk", "mask"), SPECIAL, strict=True))
    outer: dict[str, Any] = {f"{role}_token": token for role, token in roles.items()}
    outer |= {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": places}
    return {"tokenizer.json": inner, "tokenizer_config.json": outer}


def configuration(size: int, width: int, places: int, heads: int) -> dict[str, Any]:
    ids = {
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "decoder_start_token_id": 2,
    }
    layers = {f"{side}_layers": 1 for side in ("encoder", "decoder")}
    sizes = {f"{side}_ffn_dim": width for side in ("encoder", "decoder")}
    sizes |= {f"{side}_attention_heads": heads for side in ("encoder", "decoder")}
    config = {
        "architectures": ["BartForConditionalGeneration"],
        "model_type": "bart",
        "vocab_size": size,
        "d_model": width,
        "max_position_embeddings": places,
        **layers,
        **sizes,
        **ids,
        "is_encoder_decoder": True,
        "tie_word_embeddings": True,
        "dropout": 0.0,
        "attention_dropout": 0.0,
        "activation_dropout": 0.0,
        "dtype": "float16",
        "forced_eos_token_id": None,
        "scale_embedding": False,
    }
    return {"config.json": config, "generation_config.json": ids}


def shapes(size: int, width: int, places: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Name and shape of every weight of a BART of one layer on either side."""
    yield "final_logits_bias", (1, size)
    yield "model.shared.weight", (size, width)
    for side, attentions in (("encoder", 1), ("decoder", 2)):
        yield f"model.{side}.embed_positions.weight", (places + 2, width)
        yield from _norm(f"model.{side}.layernorm_embedding", width)
        layer = f"model.{side}.layers.0"
        for attention in ("self_attn", "encoder_attn")[:attentions]:
            for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
                yield from _linear(f"{layer}.{attention}.{name}", width)
            yield from _norm(f"{layer}.{attention}_layer_norm", width)
        for name in ("fc1", "fc2"):
            yield from _linear(f"{layer}.{name}", width)
        yield from _norm(f"{layer}.final_layer_norm", width)


def _linear(name: str, width: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield f"{name}.weight", (width, width)
    yield f"{name}.bias", (width,)


def _norm(name: str, width: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield f"{name}.weight", (width,)
    yield f"{name}.bias", (width,)


def untrained(size: int) -> Weights:
    """Weights by chance."""
    rng, weights = random.Random(SEED), dict[str, Any]()
    for name, shape in shapes(size, WIDTH, PLACES):
        if len(shape) == 2 and name != "final_logits_bias":
            count = shape[0] * shape[1]
            drawn = [2 * rng.random() - 1 for _ in range(count)]
            weights[name] = np.array(drawn).reshape(shape) / WIDTH**0.5
        else:
            is_norm_weight = "norm" in name and name.endswith("weight")
            weights[name] = np.full(shape, float(is_norm_weight))
    return weights


def filler(known: Sequence[str], values: Sequence[str]) -> Weights:
    """Writes its input again, word by word; in the place of a mask any value of the stays.

    A word and a place are a code each, half of its numbers 1 and half -1, so that norms
    change nothing. The decoder takes away the word before (self_attn) and puts there
    the word that the encoder has at its place (encoder_attn). A mask has no code: there
    the bias decides.
    """
    size = len(SPECIAL) + len(known)
    weights = {
        name: np.zeros(shape) for name, shape in shapes(size, 2 * CODE, FILLER_PLACES)
    }
    for name, weight in weights.items():
        if "norm" in name and name.endswith("weight"):
            weight[:] = 1
    by_word = weights["model.shared.weight"]
    by_word[:, :CODE] = codes(size, 16)
    by_word[[SPECIAL.index("<pad>"), SPECIAL.index("<mask>")]] = 0
    for side in ("encoder", "decoder"):
        weights[f"model.{side}.embed_positions.weight"][2:, CODE:] = codes(
            FILLER_PLACES, 12
        )
    word, place = (np.diag(np.repeat(side, CODE)) for side in ([1.0, 0.0], [0.0, 1.0]))
    layer = "model.decoder.layers.0"
    for attention, out in (("self_attn", -1.0), ("encoder_attn", 4.0)):
        each = {
            "q_proj": SHARP * place,
            "k_proj": place,
            "v_proj": word,
            "out_proj": out * word,
        }
        for name, weight in each.items():
            weights[f"{layer}.{attention}.{name}.weight"] = weight
    weights[f"{layer}.final_layer_norm.weight"] *= GAIN
    weights["final_logits_bias"] += OTHERS
    weights["final_logits_bias"][
        0, [len(SPECIAL) + known.index(value) for value in values]
    ] = 0
    return weights


def codes(count: int, most: int) -> np.ndarray[Any, Any]:
    """So many codes, any two of which have at most this product."""
    rng, chosen = random.Random(SEED), np.empty((0, CODE))
    while len(chosen) < count:
        order = sorted((rng.random(), n) for n in range(CODE))
        code = np.array([1.0 if n < CODE // 2 else -1.0 for _, n in order])
        if not len(chosen) or (chosen @ code).max() <= most:
            chosen = np.vstack([chosen, code])
    return chosen


def write(folder: Path) -> None:
    """Write a folder for each model."""
    known, values = words()
    size = len(SPECIAL) + len(known)
    for name, weights, width, places, heads in (
        ("bart", untrained(size), WIDTH, PLACES, 2),
        ("filler", filler(known, values), 2 * CODE, FILLER_PLACES, 1),
    ):
        (folder / name).mkdir(parents=True, exist_ok=True)
        files = tokenizer(known, places) | configuration(size, width, places, heads)
        for file, content in files.items():
            text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
            (folder / name / file).write_text(text + "\n", encoding="utf-8")
        (folder / name / "model.safetensors").write_bytes(safetensors(weights))


def safetensors(weights: Weights) -> bytes:
    """The weights in the format of that name, in halves."""
    head: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    parts, start = [], 0
    for name, weight in weights.items():
        parts.append(weight.astype("<f2").tobytes())
        ends = [start, start + len(parts[-1])]
        head[name] = {"dtype": "F16", "shape": list(weight.shape), "data_offsets": ends}
        start = ends[1]
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *parts])


if __name__ == "__main__":
    write(Path(sys.argv[1]))
