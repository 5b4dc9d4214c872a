"""The model, data and batches of bench/translate_bench.cpp trained in PyTorch, in turn with that
program, both on 2 threads and from the same first weights.

    tools/bench_translate_torch.py build/release/bench/translate_bench [ROUNDS] [--steps N]
                                   [--torch eager|packed|compiled|all] [--json]

A round is N steps of each. Tokens are the target's words. "packed" is PyTorch's eager form that
packs the source's sequences also where they are equally long.
"""
import argparse
import json
import tempfile

import race

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

WORDS, BATCH, WIDTH = 8000, 64, 256
IGNORE = -1


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.source = nn.Embedding(WORDS, WIDTH)
        self.target = nn.Embedding(WORDS, WIDTH)
        self.encoder = nn.LSTM(WIDTH, WIDTH, batch_first=True, bidirectional=True)
        self.memory = nn.Linear(2 * WIDTH, WIDTH)
        self.bridge_h = nn.Linear(2 * WIDTH, WIDTH)
        self.bridge_c = nn.Linear(2 * WIDTH, WIDTH)
        self.decoder = nn.LSTM(WIDTH, WIDTH, batch_first=True)
        self.query = nn.Linear(WIDTH, WIDTH, bias=False)
        self.key = nn.Linear(WIDTH, WIDTH)
        self.w = nn.Parameter(torch.zeros(WIDTH))
        self.combine = nn.Linear(2 * WIDTH, WIDTH)
        self.output = nn.Linear(WIDTH, WORDS)

    def forward(self, source, lengths, padded, target, rows):
        x = self.source(source)
        if padded:
            packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            states, (h, c) = self.encoder(packed)
            states, _ = pad_packed_sequence(states, batch_first=True)
        else:  # faster than packing
            states, (h, c) = self.encoder(x)
        memory = self.memory(states)
        h = torch.tanh(self.bridge_h(torch.cat([h[0], h[1]], -1)))
        c = self.bridge_c(torch.cat([c[0], c[1]], -1))
        s, _ = self.decoder(self.target(target), (h[None], c[None]))
        both = self.query(s)[:, :, None, :] + self.key(memory)[:, None, :, :]
        scores = torch.tanh(both) @ self.w
        if padded:
            past = torch.arange(source.shape[1])[None, :] >= lengths[:, None]
            scores = scores.masked_fill(past[:, None, :], float("-inf"))
        context = torch.softmax(scores, -1) @ memory
        # The output layer, which is most of the work, sees no padding.
        o = torch.cat([context, s], -1).flatten(0, 1)[rows]
        return self.output(torch.tanh(self.combine(o)))


def load(model, folder):
    ours = load_file(folder + "/weights.safetensors")
    lstms = {"encoder": "encoder/layers/0/forward", "encoder reverse": "encoder/layers/0/backward",
             "decoder": "decoder/layers/0/forward"}
    names = {"source.weight": "encoder/embedding/weight",
             "target.weight": "decoder/embedding/weight",
             "w": "decoder/attention/score/w"}
    for name, path in lstms.items():
        lstm, *reverse = name.split()
        for ih, part in (("ih", "input"), ("hh", "hidden")):
            for kind in ("weight", "bias"):
                mine = "_".join([f"{lstm}.{kind}", ih, "l0"] + reverse)
                names[mine] = f"{path}/{part}/{kind}"
    for name, path in {"memory": "decoder/memory", "bridge_h": "decoder/bridge/0",
                       "bridge_c": "decoder/bridge/1",
                       "query": "decoder/attention/score/query",
                       "key": "decoder/attention/score/key",
                       "combine": "decoder/combine", "output": "decoder/output"}.items():
        names[name + ".weight"] = path + "/weight"
        if path + "/bias" in ours:
            names[name + ".bias"] = path + "/bias"
    assert sorted(names.values()) == sorted(ours)
    model.load_state_dict({name: ours[path] for name, path in names.items()})


def read_batches(folder):
    data = load_file(folder + "/data.safetensors")

    def sequences(name):
        ids, offsets = data[name + "/ids"].long(), data[name + "/offsets"].tolist()
        return [ids[i:j] for i, j in zip(offsets, offsets[1:])]

    sources, targets = sequences("source"), sequences("target")
    return [(sources[i:i + BATCH], targets[i:i + BATCH]) for i in range(0, len(sources), BATCH)]


class Training(race.Theirs):
    def __init__(self, folder, kind):
        self.packed = kind == "packed"
        self.batches = read_batches(folder)
        self.next = 0
        self.model = Model()
        load(self.model, folder)
        self.run = torch.compile(self.model, dynamic=True) if kind == "compiled" else self.model
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3, fused=True)

    def step(self):
        sources, targets = self.batches[self.next % len(self.batches)]
        self.next += 1
        lengths = torch.tensor([len(s) for s in sources])
        source = pad_sequence(sources, batch_first=True)
        target = pad_sequence([t[:-1] for t in targets], batch_first=True)
        wanted = pad_sequence([t[1:] for t in targets], batch_first=True, padding_value=IGNORE)
        rows = (wanted.flatten() != IGNORE).nonzero().squeeze(1)
        self.optimizer.zero_grad(set_to_none=True)
        padded = self.packed or int(lengths.min()) < int(lengths.max())
        scores = self.run(source, lengths, padded, target, rows)
        loss = F.cross_entropy(scores, wanted.flatten()[rows])
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item(), len(rows)


def compete(args, kind):
    torch.set_num_threads(2)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        ours = race.Ours([args.program, folder])
        return race.race(ours, lambda: Training(folder, kind), args.rounds, args.steps)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("program")
    words.add_argument("rounds", nargs="?", type=int, default=8)
    words.add_argument("--steps", type=int, default=10)
    words.add_argument("--torch", choices=("eager", "packed", "compiled", "all"), default="eager")
    words.add_argument("--json", action="store_true")
    args = words.parse_args()
    results = {}
    for kind in ("eager", "packed", "compiled") if args.torch == "all" else (args.torch,):
        results[kind] = race.apart(compete, args, kind)
        if not args.json:
            race.show(f"torch {torch.__version__} {kind}", results[kind])
    if args.json:
        print(json.dumps({"torch": torch.__version__, **results}, indent=2))


if __name__ == "__main__":
    main()
