#!/usr/bin/env python3
"""Writes tests/golden/attention.safetensors: PyTorch's numbers for tests/multihead_test.cpp.

Needs torch and safetensors. Each case has its inputs, the output y, a gradient dy for it, and with
those the gradient of every real input. The test has the same names and options. Queries, keys and
values are stored as [B, T, H, D].
"""
import math
import pathlib

import torch
import torch.nn.functional as F
from safetensors.torch import save

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"
random = torch.Generator().manual_seed(3)
arrays = {}


def draw(*shape, scale=1.0):
    return scale * torch.randn(shape, generator=random)


def case(name, f, *inputs):
    inputs = [x.requires_grad_() if x.is_floating_point() else x for x in inputs]
    y = f(*inputs)
    dy = draw(*y.shape)
    y.backward(dy)
    arrays[f"{name}/y"], arrays[f"{name}/dy"] = y.detach().contiguous(), dy
    for i, x in enumerate(inputs):
        arrays[f"{name}/{i}"] = x.detach() if x.is_floating_point() else x.to(torch.int32)
        if x.is_floating_point():
            arrays[f"{name}/d{i}"] = x.grad


# Multi-head attention. Inputs: x, memory, the weights of query, key, value and out, the biases of the
# first three in one piece (that of the keys alone has no gradient but rounding: a softmax does not
# notice it) and of out, and the number of keys that count.
def multihead(width, memory_width, heads, causal=False, self_attention=False):
    layer = torch.nn.MultiheadAttention(width, heads, batch_first=True, kdim=memory_width,
                                        vdim=memory_width)

    def run(x, memory, wq, wk, wv, wo, b, bo, counts):
        if self_attention:
            memory = x
        if memory_width == width:
            weights = {"in_proj_weight": torch.cat([wq, wk, wv])}
        else:
            weights = {"q_proj_weight": wq, "k_proj_weight": wk, "v_proj_weight": wv}
        weights |= {"in_proj_bias": b, "out_proj.weight": wo, "out_proj.bias": bo}
        options = {"need_weights": False}
        padding = torch.arange(memory.shape[1])[None] >= counts[:, None]
        if padding.any():
            options["key_padding_mask"] = padding
        if causal:
            n = x.shape[1]
            options["attn_mask"] = torch.ones(n, n, dtype=torch.bool).triu(1)
        return torch.func.functional_call(layer, weights, (x, memory, memory), options)[0]

    parts = [draw(width, cols, scale=cols ** -0.5)
             for cols in (width, memory_width, memory_width, width)]
    return run, [*parts, draw(3 * width, scale=0.1), draw(width, scale=0.1)]


def multihead_case(name, B, Tq, Tk, width, memory_width, counts=None, **options):
    f, weights = multihead(width, memory_width, **options)
    # In self-attention the memory is not looked at; its gradient is zero.
    memory = draw(B, Tk, memory_width)
    counts = torch.tensor(counts or [Tk] * B)
    inputs = [draw(B, Tq, width), memory, *weights, counts]
    if options.get("self_attention"):
        g = f
        f = lambda x, memory, *rest: g(x, memory, *rest) + 0 * memory.sum()
    case("mha " + name, f, *inputs)


multihead_case("self", 2, 7, 7, 12, 12, heads=3, self_attention=True)
multihead_case("causal", 2, 7, 7, 12, 12, heads=3, self_attention=True, causal=True)
multihead_case("padding", 3, 5, 5, 8, 8, counts=[5, 2, 3], heads=2, self_attention=True)
multihead_case("causal padding", 2, 6, 6, 8, 8, counts=[6, 3], heads=4, self_attention=True,
               causal=True)
multihead_case("cross", 2, 3, 9, 8, 8, heads=2)
multihead_case("cross padding", 2, 4, 6, 10, 7, counts=[4, 6], heads=2)


# Scaled dot-product attention. Inputs: q, k, v, and a mask where there is one.
def product(**options):
    def run(q, k, v, mask=None):
        if mask is not None and not mask.is_floating_point():
            mask = mask.bool()
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, **options)
        return y.transpose(1, 2)

    return run


def product_case(name, B, Tq, Tk, H, Hk, D, Dv, *mask, **options):
    case("sdpa " + name, product(**options), draw(B, Tq, H, D), draw(B, Tk, Hk, D),
         draw(B, Tk, Hk, Dv), *mask)


def flags(*shape):  # every row has at least one key
    mask = torch.rand(shape, generator=random) < 0.6
    mask[..., 0] = True
    return mask.to(torch.int32)


product_case("plain", 2, 5, 7, 2, 2, 8, 6)
product_case("causal", 2, 9, 9, 2, 2, 8, 8, is_causal=True)
product_case("causal upper left", 1, 4, 7, 2, 2, 8, 8, is_causal=True)
product_case("bool mask", 2, 5, 7, 3, 3, 8, 8, flags(2, 3, 5, 7))
product_case("bool mask broadcast", 2, 5, 7, 3, 3, 8, 8, flags(2, 1, 1, 7))
product_case("float mask", 2, 5, 7, 3, 3, 8, 8, draw(2, 3, 5, 7))
product_case("float mask broadcast", 2, 5, 7, 3, 3, 8, 8, draw(3, 5, 7))
product_case("grouped", 2, 5, 6, 6, 2, 8, 8, enable_gqa=True)
product_case("grouped causal", 1, 6, 6, 4, 1, 8, 8, enable_gqa=True, is_causal=True)
product_case("scale", 2, 5, 7, 2, 2, 8, 8, scale=0.3)


# T5's buckets, as its authors compute them, in float32.
def t5_bucket(distance, causal, buckets=32, longest=128):
    first, d = torch.zeros_like(distance), -distance
    if causal:
        d = d.clamp(min=0)
    else:
        buckets //= 2
        first, d = (distance > 0).to(torch.int64) * buckets, d.abs()
    exact = buckets // 2
    far = exact + (torch.log(d.float() / exact) / math.log(longest / exact)
                   * (buckets - exact)).to(torch.int64)
    return first + torch.where(d < exact, d, far.clamp(max=buckets - 1))


for name, causal in (("both", False), ("causal", True)):
    distance = torch.arange(-300, 301)
    arrays[f"t5 {name}/0"] = distance.to(torch.int32)
    arrays[f"t5 {name}/y"] = t5_bucket(distance, causal).to(torch.int32)

arrays = {name: x.contiguous() for name, x in arrays.items()}
(GOLDEN / "attention.safetensors").write_bytes(save(arrays, metadata={"torch": torch.__version__}))
