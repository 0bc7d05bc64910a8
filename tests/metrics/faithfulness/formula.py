"""Tiny models whose weights are a formula, so that anybody can rebuild them, and their tokenizers.

Import this module after `pytest.importorskip("torch")`.
"""

from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
import torch
import transformers

BEGIN, PAD, END = 0, 1, 2
COMMON = {
    "vocab_size": 20,
    "pad_token_id": PAD,
    "bos_token_id": BEGIN,
    "eos_token_id": END,
}


def fill(model: Any) -> Any:
    """Entry k of parameter p, by name: .3 sin(1.7 p + .13 k + .001 k p); norms 1 and 0."""
    with torch.no_grad():
        for p, (name, weight) in enumerate(sorted(model.named_parameters())):
            k = np.arange(weight.numel())
            values = 0.3 * np.sin(1.7 * p + 0.13 * k + 0.001 * k * p)
            if "norm" in name.lower():
                values = np.full(weight.numel(), float(name.endswith("weight")))
            weight.copy_(
                torch.tensor(values.reshape(weight.shape), dtype=torch.float32)
            )
    return model.eval()


def tokenizer(*, pair: str) -> Any:
    """Words `t3` to `t19` are the tokens 3 to 19, `##t7` behind another piece is token 7."""
    vocabulary = {"<s>": BEGIN, "<pad>": PAD, "</s>": END}
    vocabulary |= {f"t{n}": n for n in range(3, 20) if n != 7} | {
        "##t7": 7,
        "[UNK]": 20,
    }
    pieces = tokenizers.Tokenizer(
        tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]")
    )
    pieces.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    pieces.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", pair=pair, special_tokens=[("<s>", BEGIN), ("</s>", END)]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=pieces,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        cls_token="<s>",
        sep_token="</s>",
    )


def save(folder: Path, model: Any, pair: str = "<s> $A </s> </s> $B </s>") -> Path:
    model.save_pretrained(folder)
    tokenizer(pair=pair).save_pretrained(folder)
    return folder


def bart(folder: Path) -> Path:
    config = transformers.BartConfig(
        **COMMON,
        d_model=8,
        encoder_layers=1,
        decoder_layers=1,
        decoder_start_token_id=END,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        dropout=0.0,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        max_position_embeddings=32,
    )
    return save(folder, fill(transformers.BartForConditionalGeneration(config)))


def roberta(folder: Path, classes: tuple[str, ...] = ("ok", "fake")) -> Path:
    """With a classifier of tokens: rows .5 cos(i) and .5 sin(i + 1), bias .1 and -.1."""
    config = transformers.RobertaConfig(
        **COMMON,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=40,
        type_vocab_size=1,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        id2label=dict(enumerate(classes)),
        label2id={name: place for place, name in enumerate(classes)},
    )
    model = transformers.RobertaForTokenClassification(config)
    fill(model.roberta)
    with torch.no_grad():
        i = torch.arange(8.0)
        model.classifier.weight.copy_(
            torch.stack([0.5 * torch.cos(i), 0.5 * torch.sin(i + 1)])
        )
        model.classifier.bias.copy_(torch.tensor([0.1, -0.1]))
    return save(folder, model.eval())
