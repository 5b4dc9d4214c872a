"""The model, data and batches of bench/reader_bench.cpp trained in PyTorch, in turn with that
program, both on 2 threads and from the same first weights.

    tools/bench_reader_torch.py build/release/bench/reader_bench [ROUNDS] [--steps N]
                                [--torch packed|padded|all] [--json]

A round is N steps of each. Tokens are the words of passages and questions. "packed" gives the LSTMs
packed sequences, as a result that does not depend on the padding needs; "padded" lets them run over
the padding, which is wrong at the ends of shorter passages and often faster.
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

WORDS, ALPHABET, EMBED, WIDTH = 20000, 80, 100, 100


class Bidaf(nn.Module):
    def __init__(self, packed):
        super().__init__()
        self.packed = packed
        self.words = nn.Embedding(WORDS, EMBED)
        self.words.weight.requires_grad_(False)
        self.alphabet = nn.Embedding(ALPHABET, 32)
        self.spelling = nn.Conv1d(32, 100, 3, padding=1)
        self.plain = nn.ModuleList(nn.Linear(200, 200) for _ in range(2))
        self.gate = nn.ModuleList(nn.Linear(200, 200) for _ in range(2))

        def lstm(size, layers=1):
            return nn.LSTM(size, WIDTH, layers, batch_first=True, bidirectional=True)

        self.context = lstm(200)
        self.by_query = nn.Parameter(torch.zeros(1, 200))
        self.by_key = nn.Parameter(torch.zeros(1, 200))
        self.by_product = nn.Parameter(torch.zeros(200))
        self.modelling = lstm(800, 2)
        self.ending = lstm(200)
        self.from_flow = nn.Linear(800, 2)
        self.from_modelling = nn.Linear(200, 1, bias=False)
        self.from_ending = nn.Linear(200, 1, bias=False)

    def embed(self, ids, letters):
        spelled = self.alphabet(letters.flatten(0, 1)).transpose(1, 2)
        spelled = F.relu(self.spelling(spelled)).amax(-1).view(*ids.shape, 100)
        x = torch.cat([self.words(ids), spelled], -1)
        for plain, gate in zip(self.plain, self.gate):
            x = x + torch.sigmoid(gate(x)) * (F.relu(plain(x)) - x)
        return x

    def run(self, layer, x, lengths):
        if not self.packed:
            return layer(x)[0]
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(layer(packed)[0], batch_first=True, total_length=x.shape[1])[0]

    def forward(self, passage, letters, lengths, question, question_letters, question_lengths):
        h = self.run(self.context, self.embed(passage, letters), lengths)
        u = self.run(self.context, self.embed(question, question_letters), question_lengths)
        past = torch.arange(passage.shape[1])[None] >= lengths[:, None]
        none = torch.arange(question.shape[1])[None] >= question_lengths[:, None]
        s = (h * self.by_product) @ u.transpose(1, 2)
        s = s + F.linear(h, self.by_query) + F.linear(u, self.by_key).transpose(1, 2)
        s = s.masked_fill(none[:, None], float("-inf"))
        asked = torch.softmax(s, -1) @ u
        whole = torch.softmax(s.amax(-1).masked_fill(past, float("-inf")), -1)
        summary = (whole[:, None] @ h).expand_as(h)
        g = torch.cat([h, asked, h * asked, h * summary], -1)
        m = self.run(self.modelling, g, lengths)
        end = self.run(self.ending, m, lengths)
        both = self.from_flow(g)
        start = both[..., 0] + self.from_modelling(m)[..., 0]
        last = both[..., 1] + self.from_ending(end)[..., 0]
        return start.masked_fill(past, float("-inf")), last.masked_fill(past, float("-inf"))


def load(model, folder):
    ours = load_file(folder + "/weights.safetensors")
    names = {"words.weight": "encoder/embedding/weight",
             "alphabet.weight": "encoder/alphabet/weight",
             "spelling.weight": "encoder/spelling/weight",
             "spelling.bias": "encoder/spelling/bias",
             "by_query": "flow/query", "by_key": "flow/key", "by_product": "flow/product",
             "from_flow.weight": "from_flow/weight", "from_flow.bias": "from_flow/bias",
             "from_modelling.weight": "from_modelling/weight",
             "from_ending.weight": "from_ending/weight"}
    for i in range(2):
        for part in ("plain", "gate"):
            for kind in ("weight", "bias"):
                names[f"{part}.{i}.{kind}"] = f"highway/{i}/{part}/{kind}"
    for lstm, layers in (("context", 1), ("modelling", 2), ("ending", 1)):
        for layer in range(layers):
            for way, end in (("forward", ""), ("backward", "_reverse")):
                for ih, part in (("ih", "input"), ("hh", "hidden")):
                    for kind in ("weight", "bias"):
                        mine = f"{lstm}.{kind}_{ih}_l{layer}{end}"
                        names[mine] = f"{lstm}/{layer}/{way}/{part}/{kind}"
    assert sorted(names.values()) == sorted(ours)
    state = {name: ours[path] for name, path in names.items()}
    state["spelling.weight"] = state["spelling.weight"].transpose(1, 2)
    model.load_state_dict(state)


def read_batches(folder):
    data = load_file(folder + "/data.safetensors")

    def padded(rows, offsets):
        cuts = offsets.tolist()
        parts = [rows[i:j].long() for i, j in zip(cuts, cuts[1:])]
        return pad_sequence(parts, batch_first=True), torch.tensor([len(p) for p in parts])

    batches = []
    while f"{len(batches)}/passage" in data:
        part = {name: data[f"{len(batches)}/{name}"] for name in
                ("passage", "offsets", "letters", "question", "question_offsets",
                 "question_letters", "targets")}
        passage, lengths = padded(part["passage"], part["offsets"])
        letters, _ = padded(part["letters"], part["offsets"])
        question, question_lengths = padded(part["question"], part["question_offsets"])
        question_letters, _ = padded(part["question_letters"], part["question_offsets"])
        batches.append(((passage, letters, lengths, question, question_letters, question_lengths),
                        part["targets"].long() - 1))
    return batches


class Training(race.Theirs):
    def __init__(self, folder, kind):
        self.batches = read_batches(folder)
        self.next = 0
        self.model = Bidaf(kind == "packed")
        load(self.model, folder)
        learned = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.Adam(learned, lr=1e-3, fused=True)

    def step(self):
        inputs, targets = self.batches[self.next % len(self.batches)]
        self.next += 1
        self.optimizer.zero_grad(set_to_none=True)
        start, end = self.model(*inputs)
        loss = F.cross_entropy(start, targets[:, 0]) + F.cross_entropy(end, targets[:, 1])
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.optimizer.step()
        return loss.item(), int(inputs[2].sum() + inputs[5].sum())


def compete(args, kind):
    torch.set_num_threads(2)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        ours = race.Ours([args.program, folder])
        return race.race(ours, lambda: Training(folder, kind), args.rounds, args.steps)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("program")
    words.add_argument("rounds", nargs="?", type=int, default=5)
    words.add_argument("--steps", type=int, default=4)
    words.add_argument("--torch", choices=("packed", "padded", "all"), default="packed")
    words.add_argument("--json", action="store_true")
    args = words.parse_args()
    results = {}
    for kind in ("packed", "padded") if args.torch == "all" else (args.torch,):
        results[kind] = race.apart(compete, args, kind)
        if not args.json:
            race.show(f"torch {torch.__version__} {kind}", results[kind])
    if args.json:
        print(json.dumps({"torch": torch.__version__, **results}, indent=2))


if __name__ == "__main__":
    main()
