#!/usr/bin/env python3
"""A whole training epoch of GAT on Cora (8 heads of 8, dropout 0.6, Adam) beside PyTorch Geometric, in turn: its
GATConv over features as a dense matrix, as its own example has them, and as a sparse one.

    tools/bench_graph_torch.py build/release/fovea CORA [THREADS]

CORA is a folder with features.txt, labels.txt, edges.txt and split.txt.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import torch
import torch.nn.functional as F
from torch_geometric.nn import GATConv

STEPS, ROUNDS = 100, 5


def read(folder):
    rows = [[int(i) for i in line.split()] for line in open(f"{folder}/features.txt")]
    x = torch.zeros(len(rows), 1 + max(max(r) for r in rows if r))
    for i, row in enumerate(rows):
        x[i, row] = 1.0 / len(row) if row else 0.0
    y = torch.tensor([int(line) for line in open(f"{folder}/labels.txt")])
    edges = torch.tensor([[int(i) for i in line.split()] for line in open(f"{folder}/edges.txt")]).T
    split = {line.split()[0]: [int(i) for i in line.split()[1:]] for line in open(f"{folder}/split.txt") if line.split()}
    train = torch.tensor(split["train"])
    return x, y, torch.cat([edges, edges.flip(0)], 1), train


class Gat(torch.nn.Module):
    def __init__(self, features, labels):
        super().__init__()
        self.first = GATConv(features, 8, heads=8, dropout=0.6)
        self.second = GATConv(64, labels, heads=1, concat=False, dropout=0.6)

    def forward(self, x, edges):
        if not x.is_sparse:
            x = F.dropout(x, 0.6, self.training)
        x = F.elu(self.first(x, edges))
        return self.second(F.dropout(x, 0.6, self.training), edges)


def theirs(x, y, edges, train, sparse):
    torch.manual_seed(0)
    model = Gat(x.shape[1], int(y.max()) + 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005, weight_decay=5e-4)
    x = x.to_sparse() if sparse else x
    model.train()
    times = []
    for _ in range(STEPS):
        start = time.perf_counter()
        if sparse:  # dropout of the entries that are there
            x_ = torch.sparse_coo_tensor(x.indices(), F.dropout(x.values(), 0.6), x.shape, is_coalesced=True)
        else:
            x_ = x
        optimizer.zero_grad()
        F.cross_entropy(model(x_, edges)[train], y[train]).backward()
        optimizer.step()
        times.append(time.perf_counter() - start)
    return 1e3 * sum(times) / len(times)


def ours(program, folder, threads):
    with tempfile.TemporaryDirectory() as out:
        made = subprocess.run(
            [program, "train", "graph", "--data", folder, "--model", "gat", "--steps", str(STEPS), "--early-stop",
             "0", "--json", "--out", out + "/run"],
            capture_output=True, text=True, check=True, env={**os.environ, "FOVEA_THREADS": str(threads)})
        return json.loads(made.stdout)["step_ms"]


def main():
    program, folder = sys.argv[1:3]
    threads = int(sys.argv[3]) if len(sys.argv) > 3 else torch.get_num_threads()
    torch.set_num_threads(threads)
    data = read(folder)
    runs = {"Fovea": [], "PyG, dense features": [], "PyG, sparse features": []}
    for _ in range(ROUNDS):
        runs["Fovea"].append(ours(program, folder, threads))
        runs["PyG, dense features"].append(theirs(*data, False))
        try:
            runs["PyG, sparse features"].append(theirs(*data, True))
        except (RuntimeError, NotImplementedError, AttributeError) as refused:
            print("sparse features are refused:", str(refused).split("\n")[0])
    print(f"PyTorch {torch.__version__}, {threads} threads; ms a step, best and worst of {ROUNDS} means of {STEPS}")
    for name, times in runs.items():
        if times:
            print(f"{name:22} {min(times):7.2f} {max(times):7.2f}   x {min(times) / min(runs['Fovea']):.2f}")


main()
