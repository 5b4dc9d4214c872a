#!/usr/bin/env python3
"""Writes tests/golden/graph.safetensors: graph attention, edge by edge, as PyTorch Geometric's GATConv
and GATv2Conv compute it (sources are keys, targets are queries, loops are added), for the tests.

Needs numpy only. Everything is float64 sums over a list of edges; gradients are central differences.
A case NAME has inputs NAME/0 ..., the output NAME/y, a gradient NAME/dy for it and the gradients
NAME/d0 ... of the inputs; edges are int32 rows (query, key), without the loops.
"""
import json
import pathlib
import struct

import numpy as np

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"
random = np.random.default_rng(1)
arrays = {}
NODES, IN, HEADS, WIDTH = 7, 5, 3, 4
edges = np.array([(0, 1), (0, 2), (1, 0), (2, 5), (3, 4), (3, 5), (3, 6), (4, 3), (6, 0)], np.int32)


def leaky_relu(x):
    return np.where(x > 0, x, 0.2 * x)


def gather(scores, values):
    """scores [E, H] and values [E, H, D] of the edges (query, key): softmax over a query's edges, sum."""
    targets, _ = looped()
    out = np.zeros((NODES,) + values.shape[1:])
    for i in range(NODES):
        mine = targets == i
        weights = np.exp(scores[mine] - scores[mine].max(0))
        weights /= weights.sum(0)
        out[i] = (weights[:, :, None] * values[mine]).sum(0)
    return out


def looped():
    loops = np.arange(NODES)
    return np.concatenate([edges[:, 0], loops]), np.concatenate([edges[:, 1], loops])


def joined(out, bias, mean):
    return (out.mean(1) if mean else out.reshape(NODES, -1)) + bias


def gat(mean):
    def run(x, weight, a_key, a_query, bias):
        h = (x @ weight.T).reshape(NODES, HEADS, WIDTH)
        targets, sources = looped()
        scores = leaky_relu((h * a_key).sum(-1)[sources] + (h * a_query).sum(-1)[targets])
        return joined(gather(scores, h[sources]), bias, mean)
    return run


def gatv2(mean):
    def run(x, weight, bias_key, weight_query, bias_query, a, bias):
        key = (x @ weight.T + bias_key).reshape(NODES, HEADS, WIDTH)
        query = (x @ weight_query.T + bias_query).reshape(NODES, HEADS, WIDTH)
        targets, sources = looped()
        scores = (leaky_relu(key[sources] + query[targets]) * a).sum(-1)
        return joined(gather(scores, key[sources]), bias, mean)
    return run


def keep(name, f, shapes):
    inputs = [random.normal(size=shape).astype(np.float32).astype(np.float64) for shape in shapes]
    y = f(*inputs)
    dy = random.normal(size=y.shape).astype(np.float32).astype(np.float64)
    arrays[f"{name}/y"], arrays[f"{name}/dy"] = y, dy
    for i, x in enumerate(inputs):
        gradient = np.zeros_like(x)
        for at in np.ndindex(x.shape):
            sides = []
            for step in (1e-6, -1e-6):
                moved = [z.copy() for z in inputs]
                moved[i][at] += step
                sides.append((f(*moved) * dy).sum())
            gradient[at] = (sides[0] - sides[1]) / 2e-6
        arrays[f"{name}/{i}"], arrays[f"{name}/d{i}"] = x, gradient
    arrays[f"{name}/{len(inputs)}"] = edges


a = (HEADS, WIDTH)
for mean in (False, True):
    bias = (WIDTH,) if mean else (HEADS * WIDTH,)
    w, b = (HEADS * WIDTH, IN), (HEADS * WIDTH,)
    keep("gat_mean" if mean else "gat", gat(mean), [(NODES, IN), w, a, a, bias])
    keep("gatv2_mean" if mean else "gatv2", gatv2(mean), [(NODES, IN), w, b, w, b, a, bias])

header, data = {}, b""
for name, x in arrays.items():
    x = x if x.dtype == np.int32 else x.astype(np.float32)
    header[name] = {"dtype": "I32" if x.dtype == np.int32 else "F32", "shape": list(x.shape),
                    "data_offsets": [len(data), len(data) + x.nbytes]}
    data += x.tobytes()
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
(GOLDEN / "graph.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
