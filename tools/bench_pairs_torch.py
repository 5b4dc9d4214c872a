"""The steps of bench/pairs_bench.cpp in PyTorch, plain and vectorised, in turn with that program, 2 threads each.

    tools/bench_pairs_torch.py build/release/bench/pairs_bench [ROUNDS]

parallel: a step of parallel co-attention (Lu et al. 2016) between 32 pairs of 60 words, 128 features, with the
gradient of the words' states; document: a step of hierarchical attention (Yang et al. 2016) over 16 documents of 20
sentences of 25 words, 20,000 words of 100 features, GRUs of 64 in both directions. Forward, backward and Adam. All
texts are equally long: PyTorch then needs no masks. Figures are words a second.
"""
import sys

import race  # before torch
import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(2)
torch.manual_seed(0)


class Parallel(nn.Module):
    def __init__(self, d=128):
        super().__init__()
        self.W = nn.Linear(d, d, bias=False)
        self.b = nn.Parameter(torch.zeros(1))
        self.W1, self.W2 = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)
        self.w1, self.w2 = nn.Linear(d, 1, bias=False), nn.Linear(d, 1, bias=False)
        self.out = nn.Linear(2 * d, 2)

    def forward(self, x1, x2):
        A = torch.tanh(torch.bmm(self.W(x1), x2.transpose(1, 2)) + self.b)
        v1, v2 = self.W1(x1), self.W2(x2)
        a1 = F.softmax(self.w1(torch.tanh(v1 + torch.bmm(A, v2))), 1)
        a2 = F.softmax(self.w2(torch.tanh(v2 + torch.bmm(A.transpose(1, 2), v1))), 1)
        return self.out(torch.cat([(a1 * x1).sum(1), (a2 * x2).sum(1)], 1))


class Pool(nn.Module):
    def __init__(self, d, width=128):
        super().__init__()
        self.hidden, self.w = nn.Linear(d, width), nn.Linear(width, 1, bias=False)

    def forward(self, x):
        return (F.softmax(self.w(torch.tanh(self.hidden(x))), 1) * x).sum(1)


class Document(nn.Module):
    def __init__(self, words=20000, embed=100, width=64):
        super().__init__()
        self.embedding = nn.Embedding(words, embed)
        self.words = nn.GRU(embed, width, batch_first=True, bidirectional=True)
        self.sentences = nn.GRU(2 * width, width, batch_first=True, bidirectional=True)
        self.pool_words, self.pool_sentences = Pool(2 * width), Pool(2 * width)
        self.out = nn.Linear(2 * width, 2)

    def forward(self, ids):
        B, S, T = ids.shape
        states, _ = self.words(self.embedding(ids.reshape(B * S, T)))
        of_sentences, _ = self.sentences(self.pool_words(states).reshape(B, S, -1))
        return self.out(self.pool_sentences(of_sentences))


class Training(race.Theirs):
    def __init__(self, what):
        self.what = what
        self.model = Parallel() if what == "parallel" else Document()
        self.optimizer = torch.optim.Adam(self.model.parameters(), 1e-3)
        if what == "parallel":
            self.x1, self.x2 = torch.randn(32, 60, 128), torch.randn(32, 60, 128)

    def step(self):
        if self.what == "parallel":
            x1, x2 = self.x1.detach().requires_grad_(), self.x2.detach().requires_grad_()
            scores, words = self.model(x1, x2), 2 * 32 * 60
        else:
            scores, words = self.model(torch.randint(0, 20000, (16, 20, 25))), 16 * 20 * 25
        loss = F.cross_entropy(scores, torch.randint(0, 2, (scores.shape[0],)))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item(), words


def run(program, what, rounds):
    before = race.peak_megabytes()
    theirs, ours = Training(what), race.Ours([program, what])
    turns = {"ours": [], "theirs": []}
    for _ in range(rounds):
        turns["ours"].append(ours.turn(10))
        turns["theirs"].append(theirs.turn(10))
    result = {"ours": race.figures(turns["ours"][1:], ours.peak, ours.before),
              "theirs": race.figures(turns["theirs"][1:], race.peak_megabytes(), before)}
    ours.close()
    return result


if __name__ == "__main__":
    program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 8
    for what in ("parallel", "document"):
        got = race.apart(run, program, what, rounds)
        ours, theirs = got["ours"], got["theirs"]
        print(f"{what}: ours {ours['tokens_per_second']:.0f} words/s, PyTorch {theirs['tokens_per_second']:.0f}, "
              f"{ours['tokens_per_second'] / theirs['tokens_per_second']:.2f} x; by processor time "
              f"{ours['tokens_per_processor_second'] / theirs['tokens_per_processor_second']:.2f} x; memory "
              f"{ours['own_mb']:.0f} and {theirs['own_mb']:.0f} MB")
