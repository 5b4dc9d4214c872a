"""The model, data and batches of bench/translate_bench.cpp trained in PyTorch, in turn with that
program, both on 2 threads and from the same first weights.

    tools/bench_translate_torch.py build/release/bench/translate_bench [ROUNDS] [--steps N]
                                   [--torch eager|compiled|both] [--json]

A round is N steps of each. Of peak memory, "own" leaves out what a process holds before it makes
its model: for PyTorch its libraries. Words a second of processor time, on all threads, are what a
busy machine cannot hide.
"""
import argparse
import json
import os
import subprocess
import tempfile
import time

# Its workers would otherwise spin through our turns, and through its own on a shared machine.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

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
             "w": "attention/score/w"}
    for name, path in lstms.items():
        lstm, *reverse = name.split()
        for ih, part in (("ih", "input"), ("hh", "hidden")):
            for kind in ("weight", "bias"):
                mine = "_".join([f"{lstm}.{kind}", ih, "l0"] + reverse)
                names[mine] = f"{path}/{part}/{kind}"
    for name, path in {"memory": "memory", "bridge_h": "bridge/0", "bridge_c": "bridge/1",
                       "query": "attention/score/query", "key": "attention/score/key",
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


class Training:
    def __init__(self, folder, compiled):
        self.batches = read_batches(folder)
        self.next = 0
        self.model = Model()
        load(self.model, folder)
        self.run = torch.compile(self.model, dynamic=True) if compiled else self.model
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
        scores = self.run(source, lengths, int(lengths.min()) < int(lengths.max()), target, rows)
        loss = F.cross_entropy(scores, wanted.flatten()[rows])
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item(), len(rows)

    def turn(self, steps):
        start, processor = time.perf_counter(), time.process_time()
        taken = [self.step() for _ in range(steps)]
        return (time.perf_counter() - start, time.process_time() - processor,
                sum(n for _, n in taken), [loss for loss, _ in taken])


def peak_megabytes():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024


class Ours:
    def __init__(self, program, folder):
        self.process = subprocess.Popen([program, folder], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE,
                                        env=dict(os.environ, FOVEA_THREADS="2"))
        self.before = float(self.process.stdout.readline().split()[1])

    def turn(self, steps):
        print(steps, file=self.process.stdin, flush=True)
        seconds, processor, tokens, peak, *losses = self.process.stdout.readline().split()
        self.peak = float(peak)
        return float(seconds), float(processor), int(tokens), [float(loss) for loss in losses]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def figures(turns, peak, before):
    rates = sorted((tokens / seconds for seconds, _, tokens, _ in turns), reverse=True)
    return {"tokens_per_second": rates[0], "spread": rates[0] / rates[len(rates) // 2],
            "tokens_per_processor_second": max(t / processor for _, processor, t, _ in turns),
            "peak_mb": peak, "own_mb": peak - before,
            "losses": [loss for *_, losses in turns for loss in losses]}


def race(args, compiled):
    with tempfile.TemporaryDirectory() as folder:
        before = peak_megabytes()
        ours = Ours(args.program, folder)
        theirs = Training(folder, compiled)
        pairs = [(ours.turn(args.steps), theirs.turn(args.steps)) for _ in range(args.rounds)]
        ours.close()
    a = figures([a for a, _ in pairs], ours.peak, ours.before)
    b = figures([b for _, b in pairs], peak_megabytes(), before)
    apart = [abs(x - y) / y for x, y in zip(a["losses"], b["losses"])]
    ratios = sorted(y[0] / x[0] for x, y in pairs)
    return {"torch": torch.__version__, "compiled": compiled, "fovea": a, "pytorch": b,
            "ratio": a["tokens_per_second"] / b["tokens_per_second"],
            "ratio_median": ratios[len(ratios) // 2],
            "ratio_processor": a["tokens_per_processor_second"] / b["tokens_per_processor_second"],
            "memory": a["peak_mb"] / b["peak_mb"], "memory_own": a["own_mb"] / b["own_mb"],
            "first_loss_apart": abs(a["losses"][0] - b["losses"][0]),
            "losses_apart": max(apart)}


def show(result):
    kind = "compiled" if result["compiled"] else "eager"
    print(f"torch {result['torch']} {kind}, 2 threads each; load {os.getloadavg()[0]:.1f}")
    for name in ("fovea", "pytorch"):
        r = result[name]
        print(f"{name:8} {r['tokens_per_second']:8.0f} words/s (best over median {r['spread']:.2f})"
              f" {r['tokens_per_processor_second']:6.0f} / processor s"
              f"  peak {r['peak_mb']:6.0f} MB, own {r['own_mb']:6.0f} MB"
              f"  loss {r['losses'][0]:.5f} -> {r['losses'][-1]:.5f}")
    print(f"speed {result['ratio']:.2f} x (median of rounds {result['ratio_median']:.2f} x, "
          f"processor time {result['ratio_processor']:.2f} x)")
    print(f"peak memory {result['memory']:.2f} x (own {result['memory_own']:.2f} x)")
    print(f"losses apart: the first {result['first_loss_apart']:.1e}, "
          f"any at most {100 * result['losses_apart']:.4f} %")


def main():
    words = argparse.ArgumentParser()
    words.add_argument("program")
    words.add_argument("rounds", nargs="?", type=int, default=8)
    words.add_argument("--steps", type=int, default=10)
    words.add_argument("--torch", choices=("eager", "compiled", "both"), default="eager")
    words.add_argument("--json", action="store_true")
    args = words.parse_args()
    torch.set_num_threads(2)
    torch.manual_seed(0)
    kinds = {"eager": [False], "compiled": [True], "both": [False, True]}[args.torch]
    results = [race(args, compiled) for compiled in kinds]
    if args.json:
        print(json.dumps(results, indent=2))
    else:
        for result in results:
            show(result)


main()
