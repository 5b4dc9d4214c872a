"""The model, data and batches of bench/caption_bench.cpp trained in PyTorch, in turn with that
program, both on 2 threads and from the same first weights.

    tools/bench_caption_torch.py build/release/bench/caption_bench [ROUNDS] [--steps N]
                                 [--layout first|last|both] [--json]

A round is N steps of each. Tokens are the captions' words. The layout is that of PyTorch's
pictures: channels first, as it has them by default, or last.
"""
import argparse
import json
import tempfile

import race

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn

WORDS, EMBED, WIDTH, SCORE, CHANNELS = 25, 64, 128, 64, (32, 64, 128)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        ins = (3,) + CHANNELS[:-1]
        self.convs = nn.ModuleList(nn.Conv2d(i, o, 3, padding=1, bias=False)
                                   for i, o in zip(ins, CHANNELS))
        self.norms = nn.ModuleList(nn.BatchNorm2d(o) for o in CHANNELS)
        features = CHANNELS[-1]
        self.place = nn.Parameter(torch.zeros(64, features))
        self.embedding = nn.Embedding(WORDS, EMBED)
        self.cell = nn.LSTMCell(EMBED + features, WIDTH)
        self.first_h = nn.Linear(features, WIDTH)
        self.first_c = nn.Linear(features, WIDTH)
        self.key = nn.Linear(features, SCORE)
        self.query = nn.Linear(WIDTH, SCORE, bias=False)
        self.w = nn.Parameter(torch.zeros(SCORE))
        self.gate = nn.Linear(WIDTH, 1)
        self.h_out = nn.Linear(WIDTH, EMBED)
        self.z_out = nn.Linear(features, EMBED, bias=False)
        self.output = nn.Linear(EMBED, WORDS)

    def forward(self, pictures, target):
        x = 2 * pictures - 1
        for conv, norm in zip(self.convs, self.norms):
            x = F.max_pool2d(F.relu(norm(conv(x))), 2)
        a = x.flatten(2).transpose(1, 2) + self.place  # [B, regions, features]
        mean = a.mean(1)
        h, c = torch.tanh(self.first_h(mean)), torch.tanh(self.first_c(mean))
        keys, words = self.key(a), self.embedding(target)
        hs, zs = [], []
        for t in range(target.shape[1]):
            scores = torch.tanh(keys + self.query(h)[:, None]) @ self.w
            z = (torch.softmax(scores, -1)[:, None] @ a)[:, 0] * torch.sigmoid(self.gate(h))
            h, c = self.cell(torch.cat([words[:, t], z], -1), (h, c))
            hs.append(h), zs.append(z)
        h, z = torch.stack(hs, 1), torch.stack(zs, 1)
        return self.output(torch.tanh(words + self.h_out(h) + self.z_out(z))).flatten(0, 1)


def load(model, folder):
    ours = load_file(folder + "/weights.safetensors")
    names = {"place": "encoder/place", "embedding.weight": "decoder/embedding/weight",
             "w": "decoder/attention/score/w"}
    for i in range(len(CHANNELS)):
        names[f"convs.{i}.weight"] = f"encoder/net/{i}/first/weight"
        for theirs, mine in (("weight", "gamma"), ("bias", "beta"), ("running_mean", "mean"),
                             ("running_var", "variance")):
            names[f"norms.{i}.{theirs}"] = f"encoder/net/{i}/first_norm/{mine}"
    for theirs, mine in (("ih", "input"), ("hh", "hidden")):
        for kind in ("weight", "bias"):
            names[f"cell.{kind}_{theirs}"] = f"decoder/layers/0/forward/{mine}/{kind}"
    for name, path in (("first_h", "first_h"), ("first_c", "first_c"),
                       ("key", "attention/score/key"), ("query", "attention/score/query"),
                       ("gate", "gate"), ("h_out", "h_out"), ("z_out", "z_out"),
                       ("output", "output")):
        for kind in ("weight", "bias"):
            if f"decoder/{path}/{kind}" in ours:
                names[f"{name}.{kind}"] = f"decoder/{path}/{kind}"
    assert sorted(names.values()) == sorted(ours)
    state = {name: ours[path] for name, path in names.items()}
    for name in state:
        if name.startswith("convs"):
            state[name] = state[name].permute(0, 3, 1, 2).contiguous()
    missing = set(model.state_dict()) - set(state)
    assert all(name.endswith("num_batches_tracked") for name in missing), missing
    model.load_state_dict(state, strict=False)


class Training(race.Theirs):
    def __init__(self, folder, layout):
        data = load_file(folder + "/data.safetensors")
        pictures = data["pictures"].permute(0, 1, 4, 2, 3).contiguous()
        form = torch.channels_last if layout == "last" else torch.contiguous_format
        self.batches = [(x.contiguous(memory_format=form), y.long(), w.long())
                        for x, y, w in zip(pictures, data["target"], data["wanted"])]
        self.next = 0
        self.model = Model()
        load(self.model, folder)
        self.model = self.model.to(memory_format=form)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3, fused=True)

    def step(self):
        pictures, target, wanted = self.batches[self.next % len(self.batches)]
        self.next += 1
        self.optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(self.model(pictures, target), wanted.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item(), wanted.numel()


def compete(args, layout):
    torch.set_num_threads(2)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        ours = race.Ours([args.program, folder])
        return race.race(ours, lambda: Training(folder, layout), args.rounds, args.steps)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("program")
    words.add_argument("rounds", nargs="?", type=int, default=8)
    words.add_argument("--steps", type=int, default=10)
    words.add_argument("--layout", choices=("first", "last", "both"), default="both")
    words.add_argument("--json", action="store_true")
    args = words.parse_args()
    results = {}
    for layout in ("first", "last") if args.layout == "both" else (args.layout,):
        results[layout] = race.apart(compete, args, layout)
        if not args.json:
            race.show(f"torch {torch.__version__} eager, channels {layout}", results[layout])
    if args.json:
        print(json.dumps({"torch": torch.__version__, **results}, indent=2))


if __name__ == "__main__":
    main()
