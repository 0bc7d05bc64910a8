"""Tiny models, built where they are needed: they know nothing, but compute for real.

Import this module after `pytest.importorskip("torch")`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers

torch.set_num_threads(1)  # tiny matrices

CORPUS = [
    "[doctor] how is the knee today?",
    "[patient] it hurts when i climb the stairs",
] * 5
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)


def tokenizer(end: bool, corpus: Sequence[str] = CORPUS) -> Any:
    """A BPE tokenizer of bytes, trained here; with `end` it closes its input with an end mark."""
    bpe = tokenizers.Tokenizer(tokenizers.models.BPE())
    bpe.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<pad>", "<s>", "</s>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(corpus, trainer)
    if end:
        bpe.post_processor = tokenizers.processors.TemplateProcessing(
            single="$A </s>", special_tokens=[("</s>", 2)]
        )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=bpe, bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )


MARKS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
BERT = {"hidden_size": 16, "intermediate_size": 32, "num_attention_heads": 2}
BART = {
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
}
T5 = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_heads": 2}


def save(folder: Path, model: Any, words: Any, ends: list[int] | int) -> Path:
    model.generation_config.eos_token_id = ends
    # Settings that would make it sample and stop early must not matter.
    model.generation_config.update(
        do_sample=True, temperature=0.7, top_p=0.9, max_length=3
    )
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def bart(folder: Path, *, forced: bool = False, ends: list[int] | None = None) -> Path:
    words = tokenizer(end=True)
    torch.manual_seed(2)
    config = transformers.BartConfig(
        vocab_size=len(words),
        max_position_embeddings=64,
        init_std=0.3,
        decoder_start_token_id=2,
        forced_eos_token_id=2 if forced else None,
        **(BART | MARKS),
    )
    model = transformers.BartForConditionalGeneration(config)
    return save(folder, model, words, [2, *(ends or [])])


def t5(folder: Path, *, factor: float = 20.0) -> Path:
    """The larger `factor`, the surer it is of what it writes."""
    words = tokenizer(end=True)
    torch.manual_seed(3)
    config = transformers.T5Config(
        vocab_size=len(words),
        num_layers=1,
        pad_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=0,
        initializer_factor=factor,
        tie_word_embeddings=False,
        **T5,
    )
    model = transformers.T5ForConditionalGeneration(config)
    return save(folder, model, words, list(range(2, len(words), 5)))


def llama(folder: Path, *, template: str | None = TEMPLATE, places: int = 4096) -> Path:
    words = tokenizer(end=False)
    words.chat_template = template
    torch.manual_seed(4)
    config = transformers.LlamaConfig(
        vocab_size=len(words),
        max_position_embeddings=places,
        initializer_range=0.5,
        **{"num_hidden_layers": 1, "num_key_value_heads": 2, **BERT, **MARKS},
    )
    return save(
        folder,
        transformers.LlamaForCausalLM(config),
        words,
        list(range(2, len(words), 9)),
    )


def framed(single: str, pair: str | None = None) -> Any:
    """A tokenizer with a mark at the start and the end of an input."""
    words = tokenizer(end=True)
    words.cls_token, words.sep_token = "<s>", "</s>"
    words.backend_tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    return words


def scatter(model: Any) -> Any:
    """Draw all matrices, larger than those of an untrained model."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.3)
    return model


def encoder(folder: Path, kind: str, *, places: int = 64, limited: bool = True) -> Path:
    """An encoder of four layers; `limited`: its tokenizer knows how many tokens it reads."""
    words = framed("<s> $A </s>")
    sizes = {**BERT, "num_hidden_layers": 4}
    # RoBERTa's positions are counted from after that of the padding.
    at = {"max_position_embeddings": places + (kind == "roberta")}
    configs = {
        "bert": lambda: transformers.BertConfig(**sizes, **at),
        "roberta": lambda: transformers.RobertaConfig(**sizes, **at),
        "distilbert": lambda: transformers.DistilBertConfig(
            dim=16, hidden_dim=32, n_layers=4, n_heads=2, **at
        ),
        "albert": lambda: transformers.AlbertConfig(**sizes, embedding_size=8, **at),
        "xlnet": lambda: transformers.XLNetConfig(
            d_model=16, d_inner=32, n_layer=4, n_head=2
        ),
        "t5": lambda: transformers.T5Config(**T5, num_layers=4),
        "bart": lambda: transformers.BartConfig(**(BART | {"encoder_layers": 4}), **at),
    }
    torch.manual_seed(5)
    config = configs[kind]()
    config.vocab_size, config.pad_token_id = len(words), 0
    words.model_max_length = places if limited else 10**30
    scatter(transformers.AutoModel.from_config(config)).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def classifier(
    folder: Path,
    kind: str,
    classes: Sequence[str],
    *,
    places: int = 64,
    head: str = "Sequence",
) -> Path:
    """A classifier of pairs; what its classes are called is in its configuration."""
    typed = kind == "bert"
    words = framed(
        "<s> $A </s>",
        "<s> $A </s> $B:1 </s>:1" if typed else "<s> $A </s> </s> $B </s>",
    )
    if typed:
        names = ["input_ids", "token_type_ids", "attention_mask"]
        words.model_input_names = words.init_kwargs["model_input_names"] = names
    words.model_max_length = places
    common: dict[str, Any] = {
        "vocab_size": len(words),
        "decoder_start_token_id": 0,
        **MARKS,
        "id2label": dict(enumerate(classes)),
        "label2id": {name: place for place, name in enumerate(classes)},
    }
    sizes = {**BERT, "num_hidden_layers": 2, **common}
    at = {"max_position_embeddings": places + (kind == "roberta")}
    configs = {
        "bert": lambda: transformers.BertConfig(**sizes, **at),
        "roberta": lambda: transformers.RobertaConfig(**sizes, **at),
        "deberta": lambda: transformers.DebertaV2Config(
            position_biased_input=False,
            relative_attention=True,
            share_att_key=True,
            pos_att_type=["p2c", "c2p"],
            position_buckets=8,
            type_vocab_size=0,
            **{"norm_rel_ebd": "layer_norm", **sizes, **at},
        ),
        "t5": lambda: transformers.T5Config(**T5, num_layers=2, **common),
    }
    torch.manual_seed(6)
    build = getattr(transformers, f"AutoModelFor{head}Classification").from_config
    scatter(build(configs[kind]())).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder
