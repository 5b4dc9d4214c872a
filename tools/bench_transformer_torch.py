"""The language model, data and batches of bench/transformer_bench.cpp trained in PyTorch, in turn
with that program, both on 2 threads and from the same first weights.

    tools/bench_transformer_torch.py build/release/bench/transformer_bench [ROUNDS] [--only NAME]
                                     [--seconds S] [--dropout P]
                                     [--torch eager|manual|compiled|all] [--json]

A round is about S seconds of each. PyTorch's forms: "eager" calls scaled_dot_product_attention,
"manual" writes the attention out, "compiled" is torch.compile of the first. With dropout 0 the
losses must agree; with it only the speed is compared, as the masks differ.
"""
import argparse
import json
import math
import tempfile

import race

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn

TOKENS = 256
# layers, width, length, batch
SIZES = {"4 x 256, n 128, batch 16": (4, 256, 128, 16),
         "6 x 512, n 128, batch 8": (6, 512, 128, 8),
         "2 x 128, n 64, batch 32": (2, 128, 64, 32)}


class Block(nn.Module):
    def __init__(self, width, dropout, manual):
        super().__init__()
        self.heads, self.p, self.manual = width // 64, dropout, manual
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.inner, self.outer = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, q, k, v):
        if not self.manual:
            return F.scaled_dot_product_attention(q, k, v, dropout_p=self.p, is_causal=True)
        n = q.shape[2]
        future = torch.ones(n, n, dtype=torch.bool).triu(1)
        scores = (q @ k.transpose(2, 3)) * (1 / math.sqrt(q.shape[3]))
        weights = torch.softmax(scores.masked_fill(future, float("-inf")), -1)
        return F.dropout(weights, self.p) @ v

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (a.view(B, T, self.heads, 64).transpose(1, 2)
                   for a in self.qkv(self.norm1(x)).split(C, 2))
        y = self.attend(q, k, v).transpose(1, 2).reshape(B, T, C)
        x = x + F.dropout(self.out(y), self.p)
        hidden = F.dropout(F.gelu(self.inner(self.norm2(x))), self.p)
        return x + F.dropout(self.outer(hidden), self.p)


class Model(nn.Module):
    def __init__(self, layers, width, length, dropout, manual):
        super().__init__()
        self.p = dropout
        self.embedding = nn.Embedding(TOKENS, width)
        self.positions = nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, dropout, manual) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)

    def forward(self, ids, wanted):
        x = self.embedding(ids) + self.positions.weight[:ids.shape[1]]
        x = self.norm(self.blocks(F.dropout(x, self.p)))
        scores = F.linear(x, self.embedding.weight)
        return F.cross_entropy(scores.flatten(0, 1), wanted.flatten())


def load(model, folder):
    def theirs(name):
        name = name.removeprefix("decoder/")
        return name.replace("/gamma", "/weight").replace("/beta", "/bias")

    ours = {theirs(n): w for n, w in load_file(folder + "/weights.safetensors").items()}
    state = {}

    def take(name, *paths):
        for kind in ("weight", "bias"):
            parts = [ours.pop(f"{path}/{kind}") for path in paths if f"{path}/{kind}" in ours]
            if parts:
                state[f"{name}.{kind}"] = torch.cat(parts)

    take("embedding", "embedding")
    take("positions", "positions")
    take("norm", "norm")
    for i in range(len(model.blocks)):
        at = f"blocks.{i}."
        take(at + "qkv", f"{i}/self/query", f"{i}/self/key", f"{i}/self/value")
        take(at + "out", f"{i}/self/out")
        take(at + "inner", f"{i}/feed_forward/inner")
        take(at + "outer", f"{i}/feed_forward/outer")
        take(at + "norm1", f"{i}/norm1")
        take(at + "norm2", f"{i}/norm2")
    assert not ours, sorted(ours)
    model.load_state_dict(state)


class Training(race.Theirs):
    def __init__(self, folder, sizes, dropout, kind):
        layers, width, length, self.batch = sizes
        self.ids = load_file(folder + "/data.safetensors")["ids"].long()
        self.next = 0
        self.model = Model(layers, width, length, dropout, kind == "manual")
        load(self.model, folder)
        self.run = torch.compile(self.model) if kind == "compiled" else self.model
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3, fused=True)

    def step(self):
        rows = self.ids[self.next:self.next + self.batch]
        self.next = (self.next + self.batch) % len(self.ids)
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.run(rows[:, :-1], rows[:, 1:])
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item(), rows[:, 1:].numel()


def compete(args, sizes, kind):
    torch.set_num_threads(2)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        ours = race.Ours([args.program, "serve", *sizes, args.dropout, folder])
        probe, *_ = ours.turn(3)
        ours.close()
        steps = max(3, round(args.seconds / (probe / 3)))
        ours = race.Ours([args.program, "serve", *sizes, args.dropout, folder])
        return race.race(ours, lambda: Training(folder, sizes, args.dropout, kind), args.rounds,
                         steps, warm=3)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("program")
    words.add_argument("rounds", nargs="?", type=int, default=8)
    words.add_argument("--only", default="")
    words.add_argument("--seconds", type=float, default=2)
    words.add_argument("--dropout", type=float, default=0.1)
    words.add_argument("--torch", choices=("eager", "manual", "compiled", "all"), default="all")
    words.add_argument("--json", action="store_true")
    args = words.parse_args()
    kinds = ("eager", "manual", "compiled") if args.torch == "all" else (args.torch,)
    results = []
    for name, sizes in SIZES.items():
        if args.only not in name:
            continue
        for kind in kinds:
            results.append({"name": name, "torch": torch.__version__, "kind": kind,
                            **race.apart(compete, args, sizes, kind)})
            if not args.json:
                race.show(f"{name}: torch {torch.__version__} {kind}", results[-1])
    if args.json:
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
