#!/usr/bin/env python3
"""Writes tests/golden/batch_norm.safetensors: PyTorch's batch norm, for the tests.

Needs torch and safetensors. Arrays are stored as Fovea has them, features last.
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
    return (x.movedim(1, -1) if x.dim() > 1 else x).contiguous()


def keep(name, y, inputs):
    dy = draw(*y.shape)
    y.backward(dy)
    found = {"y": y.detach(), "dy": dy}
    for i, x in enumerate(inputs):
        found |= {f"{i}": x.detach(), f"d{i}": x.grad}
    for key, x in found.items():
        arrays[f"{name}/{key}"] = features_last(x)


for shape in [(6, 3), (2, 5, 3, 4), (3, 17, 5, 2)]:
    x = (3 * draw(*shape) + 1).requires_grad_()
    gamma, beta = draw(shape[1]).requires_grad_(), draw(shape[1]).requires_grad_()
    y = F.batch_norm(x, None, None, gamma, beta, training=True)
    name = "x".join(str(n) for n in features_last(x).shape)
    keep(f"batch_norm {name}", y, [x, gamma, beta])

x = draw(4, 3).requires_grad_()
gamma, beta = draw(3).requires_grad_(), draw(3).requires_grad_()
mean, variance = torch.tensor([0.5, -1, 2]), torch.tensor([1, 4, 0.25])
keep("batch_norm fixed", F.batch_norm(x, mean, variance, gamma, beta, training=False, eps=1e-3),
     [x, gamma, beta])

(GOLDEN / "batch_norm.safetensors").write_bytes(save(arrays))
