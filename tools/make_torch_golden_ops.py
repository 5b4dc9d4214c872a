#!/usr/bin/env python3
"""Writes tests/golden/ops.safetensors: PyTorch's numbers for tests/torch_ops_test.cpp.

Needs torch and safetensors. Each case has its inputs, the output y, a gradient dy for it, and with
those the gradient of every real input. The test has the same names and options.
"""
import pathlib

import torch
import torch.nn.functional as F
from safetensors.torch import save

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"
random = torch.Generator().manual_seed(2)
arrays = {}


def draw(*shape, scale=1.0):
    return scale * torch.randn(shape, generator=random)


def case(name, f, *inputs):
    inputs = [x.requires_grad_() if x.is_floating_point() else x for x in inputs]
    y = f(*inputs)
    dy = draw(*y.shape)
    y.backward(dy)
    arrays[f"{name}/y"], arrays[f"{name}/dy"] = y.detach(), dy
    for i, x in enumerate(inputs):
        arrays[f"{name}/{i}"] = x.detach() if x.is_floating_point() else x.to(torch.int32)
        if x.is_floating_point():
            arrays[f"{name}/d{i}"] = x.grad


for name, f in {
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "elu": F.elu,
    "elu 0.7": lambda x: F.elu(x, alpha=0.7),
    "leaky_relu": F.leaky_relu,
    "leaky_relu 0.2": lambda x: F.leaky_relu(x, negative_slope=0.2),
    "softplus": F.softplus,
}.items():
    case(name, f, draw(3, 13, scale=2))
    case(name + " far", f, draw(41, scale=20))

for shape in ((1, 1), (3, 7), (2, 3, 17), (5, 65)):
    rows = "x".join(map(str, shape))
    case(f"softmax {rows}", lambda x: F.softmax(x, -1), draw(*shape, scale=3))
    case(f"log_softmax {rows}", lambda x: F.log_softmax(x, -1), draw(*shape, scale=3))
for shape in ((3, 7), (2, 3, 17), (5, 65)):
    rows = "x".join(map(str, shape))
    norm = lambda x, gamma, beta: F.layer_norm(x, gamma.shape, gamma, beta)
    case(f"layer_norm {rows}", norm, draw(*shape, scale=2) + 3, draw(shape[-1]), draw(shape[-1]))
loose = lambda x, gamma, beta: F.layer_norm(x, gamma.shape, gamma, beta, eps=0.1)
case("layer_norm eps", loose, draw(4, 13, scale=0.3), draw(13), draw(13))

targets = torch.randint(0, 17, (2, 7), generator=random)
skipped = targets.clone()
skipped[0, 2], skipped[1, 0], skipped[1, 6] = -1, -1, -1


def cross_entropy(**options):
    return lambda x, t: F.cross_entropy(x.flatten(0, 1), t.flatten(), ignore_index=-1, **options)


case("cross_entropy", cross_entropy(), draw(2, 7, 17, scale=3), targets)
case("cross_entropy smooth", cross_entropy(label_smoothing=0.1), draw(2, 7, 17, scale=3), targets)
case("cross_entropy ignore", cross_entropy(), draw(2, 7, 17, scale=3), skipped)
case("cross_entropy both", cross_entropy(label_smoothing=0.1), draw(2, 7, 17, scale=3), skipped)

(GOLDEN / "ops.safetensors").write_bytes(save(arrays, metadata={"torch": torch.__version__}))
