#!/usr/bin/env python3
"""Writes tests/golden/conv.safetensors: PyTorch's convolution and pooling, for the tests.

Needs torch and safetensors. Arrays are stored as Fovea has them, features last: x and y as [B, T, C]
or [B, H, W, C], weights as [out, K, in] or [out, KH, KW, in]. The tests have the same names and
options.
"""
import pathlib

import torch
import torch.nn.functional as F
from safetensors.torch import save

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"
random = torch.Generator().manual_seed(1)
arrays = {}


def draw(*shape):
    return torch.randn(shape, generator=random)


def features_last(x):
    return x.movedim(1, -1).contiguous()


def keep(name, y, inputs):
    """The output, a gradient for it, and with those the gradients of all inputs."""
    dy = draw(*y.shape)
    y.backward(dy)
    found = {"y": y.detach(), "dy": dy}
    for i, x in enumerate(inputs):
        found |= {f"{i}": x.detach(), f"d{i}": x.grad}
    for key, x in found.items():
        arrays[f"{name}/{key}"] = x if x.dim() == 1 else features_last(x)


def conv(name, x_shape, w_shape, bias=True, pad=None, **options):
    x, w = draw(*x_shape).requires_grad_(), draw(*w_shape).requires_grad_()
    b = draw(w_shape[0]).requires_grad_() if bias else None
    f = F.conv1d if len(x_shape) == 3 else F.conv2d
    y = f(F.pad(x, pad) if pad else x, w, b, **options)
    keep(name, y, [x, w, b] if bias else [x, w])


def pool(name, f, x_shape, ties=False, **options):
    x = draw(*x_shape)
    x = (x.round() if ties else x).requires_grad_()
    keep(name, f(x, **options), [x])


conv("conv1d plain", (2, 5, 11), (7, 5, 3), padding=1)
conv("conv1d no bias", (2, 3, 8), (4, 3, 4), bias=False)
conv("conv1d strided", (2, 5, 17), (6, 5, 3), stride=3, padding=2, dilation=2)
conv("conv1d grouped", (3, 6, 9), (4, 3, 3), groups=2, padding=1)
conv("conv1d depthwise", (2, 19, 10), (19, 1, 4), groups=19, padding=2)
conv("conv1d causal", (2, 3, 7), (5, 3, 3), pad=(4, 0), dilation=2)
conv("conv1d wide kernel", (1, 2, 3), (3, 2, 6), padding=2)
conv("conv2d plain", (2, 3, 7, 6), (5, 3, 3, 3), padding=1)
conv("conv2d strided", (2, 3, 11, 10), (4, 3, 3, 2), stride=(2, 3), padding=(1, 2), dilation=(2, 1))
conv("conv2d stride beyond kernel", (2, 2, 9, 8), (3, 2, 2, 1), stride=(3, 4))
conv("conv2d grouped", (1, 4, 5, 6), (6, 2, 3, 3), groups=2, stride=2, padding=1)
conv("conv2d depthwise", (2, 9, 6, 7), (9, 1, 3, 3), groups=9, stride=2, padding=1)
conv("conv2d one by one", (2, 5, 3, 4), (7, 5, 1, 1))

pool("max_pool1d plain", F.max_pool1d, (2, 5, 9), kernel_size=2)
pool("max_pool1d overlapping", F.max_pool1d, (2, 17, 10), kernel_size=3, stride=1, padding=1)
pool("max_pool2d plain", F.max_pool2d, (2, 3, 7, 6), kernel_size=2)
pool("max_pool2d ties", F.max_pool2d, (2, 19, 8, 7), ties=True, kernel_size=3, stride=2, padding=1)
uneven = {"kernel_size": (4, 3), "stride": (3, 2), "padding": (2, 1)}
real = {"count_include_pad": False}
pool("max_pool2d uneven", F.max_pool2d, (1, 4, 9, 8), **uneven)
pool("avg_pool1d plain", F.avg_pool1d, (2, 5, 9), kernel_size=3)
pool("avg_pool1d real", F.avg_pool1d, (2, 17, 9), kernel_size=3, stride=2, padding=1, **real)
pool("avg_pool2d plain", F.avg_pool2d, (2, 3, 7, 6), kernel_size=2, stride=1)
pool("avg_pool2d padded", F.avg_pool2d, (1, 9, 8, 7), **uneven)
pool("avg_pool2d real", F.avg_pool2d, (1, 9, 8, 7), **uneven, **real)

(GOLDEN / "conv.safetensors").write_bytes(save(arrays, metadata={"torch": torch.__version__}))
