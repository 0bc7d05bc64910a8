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

CORPUS = ["[doctor] how is the knee today?", "[patient] it hurts when i climb the stairs"] * 5
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


def save(folder: Path, model: Any, words: Any, ends: list[int] | int) -> Path:
    model.generation_config.eos_token_id = ends
    # Settings that would make it sample and stop early must not matter.
    model.generation_config.update(do_sample=True, temperature=0.7, top_p=0.9, max_length=3)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def bart(folder: Path, *, forced: bool = False, ends: list[int] | None = None) -> Path:
    words = tokenizer(end=True)
    torch.manual_seed(2)
    config = transformers.BartConfig(
        vocab_size=len(words),
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=64,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_eos_token_id=2 if forced else None,
        init_std=0.3,
    )
    model = transformers.BartForConditionalGeneration(config)
    return save(folder, model, words, [2, *(ends or [])])


def t5(folder: Path, *, factor: float = 20.0) -> Path:
    """The larger `factor`, the surer it is of what it writes."""
    words = tokenizer(end=True)
    torch.manual_seed(3)
    config = transformers.T5Config(
        vocab_size=len(words),
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=1,
        num_heads=2,
        pad_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=0,
        initializer_factor=factor,
        tie_word_embeddings=False,
    )
    model = transformers.T5ForConditionalGeneration(config)
    return save(folder, model, words, list(range(2, len(words), 5)))


def llama(folder: Path, *, template: str | None = TEMPLATE, places: int = 4096) -> Path:
    words = tokenizer(end=False)
    words.chat_template = template
    torch.manual_seed(4)
    config = transformers.LlamaConfig(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=places,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
        initializer_range=0.5,
    )
    return save(folder, transformers.LlamaForCausalLM(config), words, list(range(2, len(words), 9)))


def encoder(folder: Path, kind: str, *, places: int = 64, told: bool = True) -> Path:
    """An encoder of four layers; `told`: its tokenizer knows how many tokens it reads."""
    words = tokenizer(end=True)
    words.cls_token, words.sep_token = "<s>", "</s>"
    words.backend_tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    common: dict[str, Any] = {"vocab_size": len(words), "pad_token_id": 0}
    sizes: dict[str, Any] = {
        **{"hidden_size": 16, "intermediate_size": 32},
        **{"num_hidden_layers": 4, "num_attention_heads": 2},
    }
    bart_sizes = {
        **{"d_model": 16, "encoder_layers": 4, "decoder_layers": 1, "encoder_ffn_dim": 32},
        **{"decoder_ffn_dim": 32, "encoder_attention_heads": 2, "decoder_attention_heads": 2},
    }
    configs = {
        "bert": lambda: transformers.BertConfig(**sizes, max_position_embeddings=places),
        # Its positions are counted from after that of the padding.
        "roberta": lambda: transformers.RobertaConfig(**sizes, max_position_embeddings=places + 1),
        "distilbert": lambda: transformers.DistilBertConfig(
            dim=16, hidden_dim=32, n_layers=4, n_heads=2, max_position_embeddings=places
        ),
        "albert": lambda: transformers.AlbertConfig(
            **sizes, embedding_size=8, max_position_embeddings=places
        ),
        "xlnet": lambda: transformers.XLNetConfig(d_model=16, d_inner=32, n_layer=4, n_head=2),
        "t5": lambda: transformers.T5Config(d_model=16, d_kv=8, d_ff=32, num_layers=4, num_heads=2),
        "bart": lambda: transformers.BartConfig(**bart_sizes, max_position_embeddings=places),
    }
    torch.manual_seed(5)
    config = configs[kind]()
    for name, value in common.items():
        setattr(config, name, value)
    model = transformers.AutoModel.from_config(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.3)
    words.model_max_length = places if told else 10**30
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def classifier(
    folder: Path, kind: str, classes: Sequence[str], *, places: int = 64, head: str = "Sequence"
) -> Path:
    """A classifier of pairs; what its classes are called is in its configuration."""
    words = tokenizer(end=True)
    words.cls_token, words.sep_token = "<s>", "</s>"
    typed = kind == "bert"
    words.backend_tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> $B:1 </s>:1" if typed else "<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 1), ("</s>", 2)],
    )
    if typed:
        told = ["input_ids", "token_type_ids", "attention_mask"]
        words.model_input_names = words.init_kwargs["model_input_names"] = told
    words.model_max_length = places
    sizes: dict[str, Any] = {
        **{"hidden_size": 16, "intermediate_size": 32},
        **{"num_hidden_layers": 2, "num_attention_heads": 2},
    }
    common: dict[str, Any] = {
        **{
            "vocab_size": len(words),
            "pad_token_id": 0,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "decoder_start_token_id": 0,
        },
        "id2label": dict(enumerate(classes)),
        "label2id": {name: place for place, name in enumerate(classes)},
    }
    configs = {
        "bert": lambda: transformers.BertConfig(**sizes, max_position_embeddings=places, **common),
        "roberta": lambda: transformers.RobertaConfig(
            **sizes, max_position_embeddings=places + 1, **common
        ),
        "deberta": lambda: transformers.DebertaV2Config(
            **sizes,
            **{"max_position_embeddings": places, "position_biased_input": False},
            **{"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 8},
            **{"share_att_key": True, "norm_rel_ebd": "layer_norm", "type_vocab_size": 0},
            **common,
        ),
        "t5": lambda: transformers.T5Config(
            d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, **common
        ),
    }
    torch.manual_seed(6)
    made = getattr(transformers, f"AutoModelFor{head}Classification")
    model = made.from_config(configs[kind]())
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.3)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder
