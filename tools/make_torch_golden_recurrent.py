#!/usr/bin/env python3
"""Writes tests/golden/recurrent.safetensors: PyTorch's RNN, GRU and LSTM with all gradients, float64.

Needs torch and safetensors. For every cell there are two cases: `CELL` is one layer over a full batch,
`CELL2` two layers in both directions over a packed batch whose lengths are not sorted. Names are
CASE/NAME for inputs, parameters (PyTorch's names) and results, CASE/d/NAME for the gradients of
sum(y * CASE/weigh_y) + sum(h * CASE/weigh_h) + sum(c * CASE/weigh_c).
"""
import pathlib

import torch
from safetensors.torch import save

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"
B, T, C, H = 3, 4, 3, 2
LENGTHS = [2, 4, 1]


def values(*shape):
    """Multiples of 1/64 in [-1, 1): exact in float32 too."""
    return torch.randint(-64, 64, shape).double() / 64


def case(make, stacked):
    layers, directions = (2, 2) if stacked else (1, 1)
    net = make(C, H, num_layers=layers, bidirectional=stacked, batch_first=True).double()
    has_c = isinstance(net, torch.nn.LSTM)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(values(*parameter.shape))
    given = {"x": values(B, T, C), "h0": values(layers * directions, B, H)}
    if has_c:
        given["c0"] = values(layers * directions, B, H)
    for value in given.values():
        value.requires_grad_()
    state = (given["h0"], given["c0"]) if has_c else given["h0"]
    if stacked:
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            given["x"], LENGTHS, batch_first=True, enforce_sorted=False
        )
        y, last = net(packed, state)
        y, _ = torch.nn.utils.rnn.pad_packed_sequence(y, batch_first=True, total_length=T)
    else:
        y, last = net(given["x"], state)
    results = {"y": y, "h": last[0] if has_c else last}
    if has_c:
        results["c"] = last[1]
    weighs = {f"weigh_{name}": values(*result.shape) for name, result in results.items()}
    sum((results[name] * weighs[f"weigh_{name}"]).sum() for name in results).backward()
    sources = given | dict(net.named_parameters())
    stored = sources | results | weighs
    stored |= {f"d/{name}": source.grad for name, source in sources.items()}
    if stacked:
        stored["lengths"] = torch.tensor(LENGTHS, dtype=torch.int32)
    return stored


torch.manual_seed(1)
golden = {}
for name, make in {"rnn": torch.nn.RNN, "gru": torch.nn.GRU, "lstm": torch.nn.LSTM}.items():
    for stacked in (False, True):
        for key, value in case(make, stacked).items():
            golden[f"{name}{'2' if stacked else ''}/{key}"] = value.detach().contiguous()
(GOLDEN / "recurrent.safetensors").write_bytes(save(golden))
