"""Architectures of the ``transformers`` package in tiny random configurations; no weights are fetched.

A model is one word: its ``model_type``. Settings common to nearly all of them are in ``TINY``, and are used if a configuration
has them; a model's additional settings follow its name.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import torch
from torch import Tensor, nn

os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}


def each(words: str, value: Any) -> dict[str, Any]:
    return dict.fromkeys(words.split(), value)


def plain(words: str) -> dict[str, dict[str, Any]]:
    """Models that need no settings of their own."""
    return {word: {} for word in words.split()}


WIDTH = each(
    "hidden_size d_model n_embd embed_dim dim emb_dim embedding_size attention_hidden_size word_embed_proj_dim",
    16,
)
LAYERS = each(
    "num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers num_decoder_layers "
    "num_encoder_layers",
    2,
)
HEADS = each(
    "num_attention_heads n_head n_heads num_heads encoder_attention_heads decoder_attention_heads num_key_value_heads "
    "num_encoder_attention_heads num_decoder_attention_heads",
    2,
)
INSIDE = each(
    "intermediate_size n_inner hidden_dim d_ff ffn_dim encoder_ffn_dim decoder_ffn_dim "
    "shared_expert_intermediate_size moe_intermediate_size",
    32,
)
LENGTH = each(
    "max_position_embeddings n_positions n_ctx max_seq_len vocab_size",
    64,
)
TINY = WIDTH | LAYERS | HEADS | INSIDE | LENGTH
TINY |= {
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 1,
    "num_labels": 3,
}
TINY |= {"rotary_dim": 4, "d_kv": 8, "head_dim": 8, "state_size": 4, "time_step_rank": 4}
TINY |= {"num_experts": 4, "num_local_experts": 4, "image_size": 32, "patch_size": 8, "drop_path_rate": 0.0}

AUDIO = {
    "conv_dim": (8, 8), "conv_stride": (4, 2), "conv_kernel": (8, 3), "apply_spec_augment": False, "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 2, "feat_proj_dropout": 0.0,
}  # fmt: skip
OWN = {
    "num_attention_heads": None,
    "num_hidden_layers": None,
    "num_layers": None,
}  # these models have lists under other names
WINDOWS = OWN | {
    "embed_dim": 8,
    "depths": [1, 1],
    "num_heads": [1, 2],
    "window_size": 4,
    "patch_size": 4,
    "hidden_size": None,
}
FOUR = {"hidden_sizes": [8, 8, 16, 16], "depths": [1, 1, 1, 1], "num_attention_heads": [1, 1, 2, 2]}

CAUSAL: dict[str, dict[str, Any]] = plain(
    "gpt2 gpt_neox gptj llama mistral mixtral qwen2 qwen2_moe qwen3 phi phi3 gemma gemma2 gemma3_text bloom opt mpt "
    "stablelm starcoder2 olmo olmo2 cohere codegen ctrl xglm biogpt persimmon granite mamba rwkv glm nemotron smollm3 "
    "helium openai-gpt"
) | {
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "qwen3_moe": {"num_experts_per_tok": 2},
    "mamba2": {"num_heads": 4, "head_dim": 8, "n_groups": 1, "expand": 2},
    "xlnet": {"d_inner": 32, "max_position_embeddings": None},
}  # fmt: skip
MASKED: dict[str, dict[str, Any]] = plain(
    "bert roberta albert electra distilbert deberta deberta-v2 mpnet mobilebert squeezebert xlm funnel longformer "
    "big_bird nystromformer yoso fnet rembert ibert convbert roformer megatron-bert modernbert esm layoutlm "
    "data2vec-text mra"
) | {"funnel": {"block_sizes": [1, 1], "num_hidden_layers": None, "d_inner": 32, "d_head": 8}}  # fmt: skip
SEQ2SEQ: dict[str, dict[str, Any]] = plain(
    "mt5 umt5 bart mbart pegasus blenderbot m2m_100 marian led plbart fsmt bigbird_pegasus"
) | {
    "t5": {"decoder_start_token_id": 0},
    "longt5": {"decoder_start_token_id": 0},
    "switch_transformers": {"decoder_start_token_id": 0, "num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1},
    "prophetnet": {"num_hidden_layers": None, "num_attention_heads": None, "ngram": 2},
}  # fmt: skip
IMAGE: dict[str, dict[str, Any]] = plain(
    "vit beit dinov2 data2vec-vision ijepa vit_msn"
) | {
    "resnet": FOUR | {"embedding_size": 8},
    "regnet": FOUR | {"embedding_size": 8, "groups_width": 8},
    "poolformer": {"hidden_sizes": [8, 8, 16, 16], "depths": [1, 1, 1, 1], "patch_size": 7},
    "convnext": {"hidden_sizes": [8, 8], "depths": [1, 1], "num_stages": 2, "patch_size": 4},
    "convnextv2": {"hidden_sizes": [8, 8], "depths": [1, 1], "num_stages": 2, "patch_size": 4},
    "swin": WINDOWS,
    "swinv2": WINDOWS,
    "segformer": FOUR | {"decoder_hidden_size": 16, "patch_size": None, "patch_sizes": [7, 3, 3, 3]},
    "pvt_v2": FOUR | {"patch_size": None},
    "bit": {"hidden_sizes": [128, 128], "depths": [1, 1], "embedding_size": 32},
    "focalnet": {"embed_dim": 8, "depths": [1, 1, 1, 1], "patch_size": 2, "hidden_sizes": [8, 16, 32, 64]},
    "mobilenet_v1": {"depth_multiplier": 0.25},
    "mobilenet_v2": {"depth_multiplier": 0.25},
}  # fmt: skip
SPEECH: dict[str, dict[str, Any]] = each(
    "wav2vec2 hubert wavlm unispeech unispeech-sat data2vec-audio",
    AUDIO,
)
KINDS = {"causal": CAUSAL, "masked": MASKED, "seq2seq": SEQ2SEQ, "image": IMAGE, "speech": SPEECH}


def names() -> list[str]:
    """Every model, as ``kind/model_type``."""
    return [f"{kind}/{name}" for kind, models in KINDS.items() for name in models]


def make(name: str) -> tuple[Tensor, nn.Module]:
    """The loss of a model on a small random batch, and the model."""
    import transformers

    warnings.simplefilter("ignore")
    kind, _, name = name.partition("/")
    known = transformers.CONFIG_MAPPING[name]
    base, more = known(), KINDS[kind][name]
    usual = {key: value for key, value in TINY.items() if hasattr(base, key) and key not in more}
    config = known(**usual, **{key: value for key, value in more.items() if value is not None})
    if kind == "image":
        model = transformers.AutoModelForImageClassification.from_config(config)
        return model(pixel_values=torch.randn(2, 3, 32, 32), labels=torch.tensor([0, 2])).loss, model
    if kind == "speech":
        model = transformers.AutoModelForCTC.from_config(config)
        return model(input_values=torch.randn(2, 400), labels=torch.tensor([[3, 4], [5, 6]])).loss, model
    auto = {
        "causal": "AutoModelForCausalLM",
        "masked": "AutoModelForMaskedLM",
        "seq2seq": "AutoModelForSeq2SeqLM",
    }
    model, ids = getattr(transformers, auto[kind]).from_config(config), torch.randint(3, 60, (2, 6))
    return model(input_ids=ids, labels=ids).loss, model
