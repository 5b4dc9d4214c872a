#!/usr/bin/env python3
"""Writes tests/golden/transformer.safetensors: PyTorch's numbers for tests/transformer_test.cpp.

Needs torch and safetensors. Each case is one layer of torch.nn with its inputs (x, the memory where
there is one, the layer's weights in the order of ENCODER or DECODER below, then the lengths of the
sequences), the output y, a gradient dy for it, and with those the gradient of every real input. Rows
beyond a sequence's length are zero in y and dy.
"""
import pathlib

import torch
from safetensors.torch import save

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"
random = torch.Generator().manual_seed(5)
arrays = {}

ATTENTION = ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]
FEED_FORWARD = ["linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias"]


def norms(count):
    return [f"norm{i}.{part}" for i in range(1, count + 1) for part in ("weight", "bias")]


ENCODER = [f"self_attn.{name}" for name in ATTENTION] + FEED_FORWARD + norms(2)
DECODER = ([f"self_attn.{name}" for name in ATTENTION] +
           [f"multihead_attn.{name}" for name in ATTENTION] + FEED_FORWARD + norms(3))


def draw(*shape, scale=1.0):
    return scale * torch.randn(shape, generator=random)


def weight(name, shape):
    if len(shape) == 2:
        return draw(*shape, scale=shape[1] ** -0.5)
    return draw(*shape, scale=0.1) + (1 if "norm" in name and name.endswith("weight") else 0)


def beyond(lengths, n):
    return torch.arange(n)[None] >= lengths[:, None]


def case(name, f, inputs, kept):
    inputs = [x.requires_grad_() if x.is_floating_point() else x for x in inputs]
    y = f(*inputs) * kept
    dy = draw(*y.shape) * kept
    y.backward(dy)
    arrays[f"{name}/y"], arrays[f"{name}/dy"] = y.detach().contiguous(), dy
    for i, x in enumerate(inputs):
        arrays[f"{name}/{i}"] = x.detach() if x.is_floating_point() else x.to(torch.int32)
        if x.is_floating_point():
            arrays[f"{name}/d{i}"] = x.grad


def layer_case(name, B, T, S, width, heads, hidden, lengths, memory_lengths=None, causal=False,
               pre_norm=False, activation="relu"):
    decoder = memory_lengths is not None
    kind = torch.nn.TransformerDecoderLayer if decoder else torch.nn.TransformerEncoderLayer
    layer = kind(width, heads, hidden, dropout=0.0, activation=activation, batch_first=True,
                 norm_first=pre_norm)
    layer.train()  # the path that training takes
    names = DECODER if decoder else ENCODER
    shapes = dict((name, p.shape) for name, p in layer.named_parameters())
    lengths = torch.tensor(lengths)
    mask = torch.ones(T, T, dtype=torch.bool).triu(1) if causal else None
    kept = (~beyond(lengths, T))[:, :, None].float()

    def encode(x, *rest):
        return torch.func.functional_call(
            layer, dict(zip(names, rest)), (x,),
            {"src_mask": mask, "src_key_padding_mask": beyond(lengths, T)})

    def decode(x, memory, *rest):
        return torch.func.functional_call(
            layer, dict(zip(names, rest)), (x, memory),
            {"tgt_mask": mask, "tgt_key_padding_mask": beyond(lengths, T),
             "memory_key_padding_mask": beyond(torch.tensor(memory_lengths), S)})

    inputs = [draw(B, T, width)]
    if decoder:
        inputs.append(draw(B, S, width))
    inputs += [weight(name, shapes[name]) for name in names]
    inputs.append(lengths)
    if decoder:
        inputs.append(torch.tensor(memory_lengths))
    case(name, decode if decoder else encode, inputs, kept)


for norm in ("post", "pre"):
    for activation in ("relu", "gelu"):
        options = {"pre_norm": norm == "pre", "activation": activation}
        layer_case(f"encoder {norm} {activation}", 3, 6, 0, 8, 2, 12, [6, 2, 5], **options)
        layer_case(f"decoder {norm} {activation}", 2, 5, 7, 12, 3, 20, [5, 3], [4, 7], causal=True,
                   **options)
layer_case("encoder causal", 2, 7, 0, 8, 4, 16, [7, 7], causal=True, pre_norm=True)

(GOLDEN / "transformer.safetensors").write_bytes(save(arrays))
