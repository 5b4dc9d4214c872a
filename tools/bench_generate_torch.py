"""The translation of bench/generate_bench.cpp in PyTorch with keys and values kept, in turn with
that program, both on 2 threads, from the same weights: 32 sources, a beam of 4, 40 tokens each.

    tools/bench generate_bench token 1      # builds it
    tools/bench_generate_torch.py build/release/bench/generate_bench [ROUNDS] [--width 256 512]
                                  [--form NAME] [--json]

Widths: 256 is the preset multi30k-transformer. A round is one translation of each. PyTorch runs in
several forms, each tried in every round, and the ratio is to the fastest: cross-attention that
takes the 4 answers of a source as 4 queries of one memory, or a memory repeated for each; weights
in oneDNN's blocked layout or plain; the decoder's blocks compiled or eager (compiled blocks do not
take blocked weights from outside). Tokens a second of processor time, on all threads, are what a
busy machine cannot hide.
"""
import argparse
import json
import math
import os
import subprocess
import tempfile
import time

# Its workers would otherwise spin through our turns, and through its own on a shared machine.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import torch
import torch.nn.functional as F
from safetensors.torch import load_file

LAYERS, HEAD = 3, 64
BEAM, TOKENS = 4, 40
BEGIN, END = 2, 3


class Layer:
    """y = x W^T + b; `blocked` keeps the weight in the layout that oneDNN multiplies from."""

    def __init__(self, weight, bias, blocked):
        self.weight, self.bias, self.blocked = weight, bias, None
        if blocked:
            self.blocked = torch.ops.mkldnn._reorder_linear_weight(weight)

    def __call__(self, x):
        if self.blocked is None:
            return F.linear(x, self.weight, self.bias)
        return torch.ops.mkldnn._linear_pointwise(x, self.blocked, self.bias, "none", [], "")


class Weights:
    def __init__(self, folder, blocked):
        self.all = load_file(folder + "/weights.safetensors")
        self.blocked = blocked

    def layer(self, *paths):
        """One layer of several that stand over the same input."""
        weight = torch.cat([self.all[p + "/weight"] for p in paths])
        biased = paths[0] + "/bias" in self.all
        bias = torch.cat([self.all[p + "/bias"] for p in paths]) if biased else None
        return Layer(weight, bias, self.blocked)

    def norm(self, path):
        return self.all[path + "/gamma"], self.all[path + "/beta"]


def normed(x, norm):
    return F.layer_norm(x, norm[0].shape, norm[0], norm[1])


def by_head(x):  # [B, T, C] -> [B, H, T, D]
    return x.unflatten(-1, (-1, HEAD)).transpose(1, 2)


def joined(x):  # and back
    return x.transpose(1, 2).flatten(2)


class Block:
    def __init__(self, weights, path, decoder):
        own = path + "/self"
        self.qkv = weights.layer(own + "/query", own + "/key", own + "/value")
        self.out = weights.layer(own + "/out")
        norms = ["norm1", "norm2", "norm3"] if decoder else ["norm1", "norm2"]
        self.norms = [weights.norm(f"{path}/{n}") for n in norms]
        self.inner = weights.layer(path + "/feed_forward/inner")
        self.outer = weights.layer(path + "/feed_forward/outer")
        if decoder:
            cross = path + "/cross"
            self.query = weights.layer(cross + "/query")
            self.memory = weights.layer(cross + "/key", cross + "/value")
            self.cross_out = weights.layer(cross + "/out")

    def feed(self, x):
        return x + self.outer(F.gelu(self.inner(normed(x, self.norms[-1]))))

    def encode(self, x, mask):
        q, k, v = (by_head(t) for t in self.qkv(normed(x, self.norms[0])).chunk(3, -1))
        x = x + self.out(joined(F.scaled_dot_product_attention(q, k, v, attn_mask=mask)))
        return self.feed(x)

    def before(self, x):
        """Queries, keys and values of a step, [N, H, 1, D]."""
        return self.qkv(normed(x, self.norms[0])).unflatten(-1, (3, -1, 1, HEAD)).unbind(1)

    def after(self, x, own, k, v, mask, grouped):
        x = x + self.out(own.flatten(1))
        q = self.query(normed(x, self.norms[1]))
        if grouped:  # [B, H, beam, D]: a source's answers are queries of one memory
            q = by_head(q.unflatten(0, (-1, BEAM)))
            y = joined(F.scaled_dot_product_attention(q, k, v, attn_mask=mask)).flatten(0, 1)
        else:
            q = q.unflatten(-1, (-1, 1, HEAD))
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).flatten(1)
        return self.feed(x + self.cross_out(y))


def positions(n, width):
    at = torch.arange(n, dtype=torch.float64)[:, None]
    rate = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(1e4) / width))
    return torch.stack([torch.sin(at * rate), torch.cos(at * rate)], -1).flatten(1).float()


class Translation:
    def __init__(self, folder, blocked=False, compiled=False, grouped=True):
        weights = Weights(folder, blocked)
        self.grouped = grouped
        self.source, self.target = (weights.all[f"{part}/embedding/weight"]
                                    for part in ("encoder", "decoder"))
        self.width = self.source.shape[1]
        self.source, self.target = (t * math.sqrt(self.width) for t in (self.source, self.target))
        self.encoder = [Block(weights, f"encoder/{i}", False) for i in range(LAYERS)]
        self.decoder = [Block(weights, f"decoder/{i}", True) for i in range(LAYERS)]
        self.norm = [weights.norm(p + "/norm") for p in ("encoder", "decoder")]
        self.output = weights.layer("output")
        self.at = positions(64, self.width)
        if compiled:
            for block in self.decoder:
                block.before = torch.compile(block.before)
                block.after = torch.compile(block.after)
        data = load_file(folder + "/data.safetensors")
        ids, offsets = data["source/ids"].long(), data["source/offsets"].tolist()
        lists = [ids[i:j] for i, j in zip(offsets, offsets[1:])]
        self.lengths = torch.tensor([len(s) for s in lists])
        self.ids = torch.nn.utils.rnn.pad_sequence(lists, batch_first=True)

    def encode(self):
        S = self.ids.shape[1]
        mask = (torch.arange(S)[None, :] < self.lengths[:, None])[:, None, None, :]
        x = self.source[self.ids] + self.at[:S]
        for block in self.encoder:
            x = block.encode(x, mask)
        x = normed(x, self.norm[0])
        # As numbers to add, which the kernel would otherwise make of a mask at every step.
        mask = torch.zeros(mask.shape).masked_fill(~mask, float("-inf"))
        kept = [[by_head(t).contiguous() for t in b.memory(x).chunk(2, -1)] for b in self.decoder]
        if not self.grouped:
            mask = mask.repeat_interleave(BEAM, 0)
            kept = [[t.repeat_interleave(BEAM, 0) for t in pair] for pair in kept]
        return kept, mask

    @torch.inference_mode()
    def run(self):
        B = len(self.ids)
        N = B * BEAM
        memory, mask = self.encode()
        # Two sets of caches with room for all steps: one is reordered into the other.
        shape = (2, LAYERS, 2, N, self.width // HEAD, TOKENS, HEAD)
        caches = torch.empty(shape)
        last = torch.full((N,), BEGIN)
        total = torch.full((B, BEAM), float("-inf"), dtype=torch.float64)
        total[:, 0] = 0
        first_row = (torch.arange(B) * BEAM)[:, None]
        answers = torch.empty(N, 0, dtype=torch.long)
        for t in range(TOKENS):
            cache = caches[t % 2]
            x = self.target[last] + self.at[t]
            for i, block in enumerate(self.decoder):
                q, k, v = block.before(x)
                keys, values = cache[i, 0, :, :, :t + 1], cache[i, 1, :, :, :t + 1]
                keys[:, :, t:] = k
                values[:, :, t:] = v
                own = F.scaled_dot_product_attention(q, keys, values)
                x = block.after(x, own, *memory[i], mask, self.grouped)
            scores = self.output(normed(x, self.norm[1]))
            # The best of each row first: a row's log-probabilities differ from its scores by one
            # number. Pad and begin are never answers; of the ends, none comes into the beam here,
            # and the 2 * BEAM of a search that must look for them are left out.
            normal = torch.logsumexp(scores, -1)
            scores[:, 0] = scores[:, BEGIN] = float("-inf")
            best, ids = scores.topk(BEAM, -1)
            each = (best - normal[:, None]).double().view(B, BEAM, BEAM) + total[:, :, None]
            total, which = each.flatten(1).topk(BEAM, -1)
            rows = (first_row + which // BEAM).flatten()
            last = ids.view(B, -1).gather(1, which).flatten()
            answers = torch.cat([answers[rows], last[:, None]], 1)
            if t + 1 < TOKENS:
                other = caches[(t + 1) % 2]
                for i in range(LAYERS):
                    for part in range(2):
                        torch.index_select(cache[i, part, :, :, :t + 1], 0, rows,
                                           out=other[i, part, :, :, :t + 1])
        assert not (answers == END).any()
        return answers.view(B, BEAM, TOKENS)[:, 0].flatten().tolist()

    def turn(self):
        start, processor = time.perf_counter(), time.process_time()
        ids = self.run()
        return time.perf_counter() - start, time.process_time() - processor, len(ids), ids


class Ours:
    def __init__(self, program, folder, width):
        self.process = subprocess.Popen([program, "serve", folder, str(width)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=dict(os.environ, FOVEA_THREADS="2"))
        assert self.process.stdout.readline().strip() == "ready"

    def turn(self):
        print(1, file=self.process.stdin, flush=True)
        seconds, processor, tokens, *ids = self.process.stdout.readline().split()
        return float(seconds), float(processor), int(tokens), [int(i) for i in ids]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


FORMS = {
    "eager": {},
    "repeated memory": {"grouped": False},
    "blocked": {"blocked": True},
    "blocked, repeated": {"blocked": True, "grouped": False},
    "compiled": {"compiled": True},
}


def figures(turns):
    rates = sorted((tokens / seconds for seconds, _, tokens, _ in turns), reverse=True)
    return {"tokens_per_second": rates[0], "spread": rates[0] / rates[len(rates) // 2],
            "tokens_per_processor_second": max(n / processor for _, processor, n, _ in turns)}


def same_share(a, b):
    """Of the answers, and of the tokens."""
    each = [a[i:i + TOKENS] == b[i:i + TOKENS] for i in range(0, len(a), TOKENS)]
    return sum(each) / len(each), sum(x == y for x, y in zip(a, b)) / len(a)


def race(args, width):
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(args.program, folder, width)
        entrants, excuses = {"fovea": ours}, {}
        for name, how in FORMS.items():
            if args.form not in (None, name):
                continue
            try:
                entrants[name] = Translation(folder, **how)
                entrants[name].run()
            except Exception as e:  # a form that this PyTorch cannot run is left out, and said
                if not how:
                    raise
                entrants.pop(name, None)
                excuses[name] = repr(e).splitlines()[0][:200]
        ours.turn()
        turns = {name: [] for name in entrants}
        for _ in range(args.rounds):
            for name, one in entrants.items():
                turns[name].append(one.turn())
        ours.close()
    results = {name: figures(t) for name, t in turns.items()}
    for name, result in results.items():
        result["same_answers"], result["same_tokens"] = same_share(turns["fovea"][0][3],
                                                                   turns[name][0][3])
    best = max((n for n in results if n != "fovea"), key=lambda n: results[n]["tokens_per_second"])
    ratios = sorted(b[0] / a[0] for a, b in zip(turns["fovea"], turns[best]))
    a, b = results["fovea"], results[best]
    return {"torch": torch.__version__, "width": width, "results": results,
            "left_out": excuses, "best": best,
            "ratio": a["tokens_per_second"] / b["tokens_per_second"],
            "ratio_median": ratios[len(ratios) // 2],
            "ratio_processor": a["tokens_per_processor_second"] / b["tokens_per_processor_second"]}


def show(result):
    print(f"{result['width']} wide, torch {result['torch']}, 2 threads each; "
          f"load {os.getloadavg()[0]:.1f}")
    for name, r in result["results"].items():
        print(f"{name:20} {r['tokens_per_second']:7.0f} tokens/s (best over median "
              f"{r['spread']:.2f}) {r['tokens_per_processor_second']:6.0f} / processor s"
              f"  same answers {100 * r['same_answers']:.0f} %, "
              f"tokens {100 * r['same_tokens']:.1f} %")
    for name, why in result["left_out"].items():
        print(f"{name:20} left out: {why}")
    print(f"speed {result['ratio']:.2f} x PyTorch's best ({result['best']}; median of rounds "
          f"{result['ratio_median']:.2f} x, processor time {result['ratio_processor']:.2f} x)")


def main():
    words = argparse.ArgumentParser()
    words.add_argument("program")
    words.add_argument("rounds", nargs="?", type=int, default=8)
    words.add_argument("--width", type=int, nargs="*", default=[256, 512])
    words.add_argument("--form", choices=FORMS)
    words.add_argument("--json", action="store_true")
    args = words.parse_args()
    torch.set_num_threads(2)
    results = [race(args, width) for width in args.width]
    if args.json:
        print(json.dumps(results, indent=2))
    else:
        for result in results:
            show(result)


main()
