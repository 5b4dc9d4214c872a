"""The graph attention of bench/edges_bench.cpp in PyTorch Geometric, in turn with that program, both on 2 threads.

    tools/bench_edges_torch.py build/release/bench/edges_bench [ROUNDS]

100,000 nodes, 1,000,000 random edges, 8 heads of 8 features. GATConv's own projection of the input is taken out, as
the program has none; beside it stands the whole layer from 64 features.
"""
import os
import subprocess
import sys
import time
import warnings

# Its workers would otherwise spin through our turns, and through its own on a shared machine.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
warnings.filterwarnings("ignore")

import torch
import torch_geometric
from torch_geometric.nn import GATConv

torch.set_num_threads(2)
torch.manual_seed(0)

NODES, EDGES, HEADS, FEATURES = 100_000, 1_000_000, 8, 8


def timed(f, repeats=3):
    """Milliseconds by the clock, and of all threads together: what a busy machine cannot hide."""
    clock = processor = float("inf")
    for _ in range(repeats):
        start, busy = time.perf_counter(), time.process_time()
        f()
        clock = min(clock, time.perf_counter() - start)
        processor = min(processor, time.process_time() - busy)
    return clock * 1e3, processor * 1e3


def layers():
    width = HEADS * FEATURES
    whole = GATConv(width, FEATURES, heads=HEADS, add_self_loops=False, bias=False)
    attention = GATConv(width, FEATURES, heads=HEADS, add_self_loops=False, bias=False)
    attention.lin = torch.nn.Identity()
    return {"GATConv's attention": attention, "whole GATConv": whole}


def fovea(program):
    env = dict(os.environ, FOVEA_THREADS="2")
    text = subprocess.run([program, "1", "gat 8x8"], capture_output=True, text=True, env=env).stdout
    lines = [line.split() for line in text.splitlines() if line.startswith("gat 8x8")]
    return {words[2]: (float(words[3]), float(words[5])) for words in lines}


def least(a, b):
    return tuple(min(pair) for pair in zip(a, b))


def main():
    x = (torch.rand(NODES, HEADS * FEATURES) * 2 - 1).requires_grad_()
    # Both orders of the edges: as they come, and by the node that attends, which is kinder to its caches.
    edges = torch.randint(NODES, (2, EDGES))
    orders = {"": edges, ", edges sorted": edges[:, edges[1].argsort()].contiguous()}
    grad = torch.rand(NODES, HEADS * FEATURES)
    ours, theirs = {}, {}
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 3):
        for way, ms in fovea(sys.argv[1]).items():
            ours[way] = least(ms, ours.get(way, ms))
        for name, layer in layers().items():
            inputs = [x] + [p for p in layer.parameters()]
            for order, index in orders.items():

                def forward():
                    with torch.no_grad():
                        layer(x, index)

                def both():
                    torch.autograd.grad(layer(x, index), inputs, grad)

                for way, f in (("forward", forward), ("backward", both)):
                    ms = timed(f)
                    key = name + order, way
                    theirs[key] = least(ms, theirs.get(key, ms))
    print(f"torch {torch.__version__}, torch_geometric {torch_geometric.__version__}, 2 threads")
    for (name, way), ms in theirs.items():
        for what, a, b in zip(("clock", "processor"), ms, ours[way]):
            print(f"{name:36} {way:9} {what:9} torch {a:9.1f} ms  fovea {b:8.2f} ms  {a / b:6.1f} x")


main()
