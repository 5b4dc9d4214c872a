#!/usr/bin/env python3
"""Writes tests/golden/optimizers.safetensors: PyTorch's numbers for tests/optimizer_rules_test.cpp.

Needs torch and safetensors. Two parameters a and b start at start/<name>; step t takes the gradient
<t>/<name> and a rate times 1 / (1 + t), with t from 0. After all steps each optimiser has left
<case>/<name>. The test has the same names and options.
"""
import pathlib

import torch
from safetensors.torch import save

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"
STEPS = 10
SHAPES = {"a": (3, 7), "b": (5,)}
random = torch.Generator().manual_seed(11)
arrays = {f"start/{name}": torch.randn(shape, generator=random) for name, shape in SHAPES.items()}
for t in range(STEPS):
    for name, shape in SHAPES.items():
        arrays[f"{t}/{name}"] = torch.randn(shape, generator=random)


def case(case, make):
    weights = {name: arrays[f"start/{name}"].clone().requires_grad_() for name in SHAPES}
    optimizer = make(list(weights.values()))
    rate = optimizer.param_groups[0]["lr"]
    for t in range(STEPS):
        for name, w in weights.items():
            w.grad = arrays[f"{t}/{name}"].clone()
        optimizer.param_groups[0]["lr"] = rate / (1 + t)
        optimizer.step()
    for name, w in weights.items():
        arrays[f"{case}/{name}"] = w.detach()


O = torch.optim
case("adam", lambda p: O.Adam(p, lr=0.01))
case("adam decay", lambda p: O.Adam(p, lr=0.01, betas=(0.8, 0.98), eps=1e-6, weight_decay=0.1))
case("adamw decay", lambda p: O.AdamW(p, lr=0.01, weight_decay=0.1))
case("sgd", lambda p: O.SGD(p, lr=0.01, momentum=0.9))
case("sgd plain decay", lambda p: O.SGD(p, lr=0.01, momentum=0, weight_decay=0.1))
case("adadelta", lambda p: O.Adadelta(p, lr=1, rho=0.95, eps=1e-6))
case("adadelta decay", lambda p: O.Adadelta(p, lr=0.5, rho=0.8, eps=1e-4, weight_decay=0.1))
case("rmsprop", lambda p: O.RMSprop(p, lr=0.01, alpha=0.95))
case("rmsprop centred", lambda p: O.RMSprop(p, lr=0.01, alpha=0.9, eps=1e-4, centered=True,
                                            weight_decay=0.1))
(GOLDEN / "optimizers.safetensors").write_bytes(save(arrays))
