"""The memories of bench/machines_bench.cpp in PyTorch, plain and vectorised, in turn with that program, 2 threads each.

    tools/bench_machines_torch.py build/release/bench/machines_bench [ROUNDS] [compile]

With `compile` each step of a sequence, or the whole memory network, goes through torch.compile; the better of the two
is what counts. Figures are steps of sequences (for memn2n: questions) a second, forward, backward and update.
"""
import sys

import race  # before torch
import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(2)
torch.manual_seed(0)
COMPILE = "compile" in sys.argv


class Turing(nn.Module):
    def __init__(self, inputs=9, outputs=8, width=100, N=128, D=20):
        super().__init__()
        self.N, self.D, self.width = N, D, width
        self.cell = nn.LSTMCell(inputs + D, width)
        self.heads = nn.Linear(width, 2 * (D + 6) + 2 * D)
        self.out = nn.Linear(width + D, outputs)
        self.one = torch.compile(self.step) if COMPILE else self.step

    def address(self, M, c, w):
        D = self.D
        k, beta, g, s, gamma = c[:, :D], F.softplus(c[:, D:D + 1]), torch.sigmoid(c[:, D + 1:D + 2]), \
            F.softmax(c[:, D + 2:D + 5], 1), 1 + F.softplus(c[:, D + 5:D + 6])
        content = F.softmax(beta * F.cosine_similarity(M, k.unsqueeze(1), dim=2, eps=1e-6), 1)
        gated = g * content + (1 - g) * w
        moved = s[:, 0:1] * gated.roll(-1, 1) + s[:, 1:2] * gated + s[:, 2:3] * gated.roll(1, 1)
        return F.softmax(gamma * torch.log(moved + 1e-16), 1)

    def step(self, x, r, h, c, M, ww, wr):
        D = self.D
        h, c = self.cell(torch.cat([x, r], 1), (h, c))
        o = self.heads(h)
        ww = self.address(M, o[:, :D + 6], ww)
        e, a = torch.sigmoid(o[:, D + 6:2 * D + 6]), o[:, 2 * D + 6:3 * D + 6]
        M = M * (1 - ww.unsqueeze(2) * e.unsqueeze(1)) + ww.unsqueeze(2) * a.unsqueeze(1)
        wr = self.address(M, o[:, 3 * D + 6:], wr)
        r = torch.bmm(wr.unsqueeze(1), M).squeeze(1)
        return r, h, c, M, ww, wr

    def forward(self, x):
        T, B, _ = x.shape
        M = torch.full((B, self.N, self.D), 1e-6)
        w = F.one_hot(torch.zeros(B, dtype=torch.long), self.N).float()
        state = (torch.zeros(B, self.D), torch.zeros(B, self.width), torch.zeros(B, self.width), M, w, w)
        features = []
        for t in range(T):
            state = self.one(x[t], *state)
            features.append(torch.cat([state[1], state[0]], 1))
        return self.out(torch.stack(features))


class Stack(nn.Module):
    def __init__(self, inputs=33, outputs=33, width=64, value=64):
        super().__init__()
        self.width, self.value = width, value
        self.cell = nn.LSTMCell(inputs + value, width)
        self.controls = nn.Linear(width, 2 + value)
        self.out = nn.Linear(width + value, outputs)

    @staticmethod
    def above(s):
        return s.flip(1).cumsum(1).flip(1) - s

    def forward(self, x):
        T, B, _ = x.shape
        h = c = torch.zeros(B, self.width)
        r, s, V, features = torch.zeros(B, self.value), None, None, []
        for t in range(T):
            h, c = self.cell(torch.cat([x[t], r], 1), (h, c))
            o = self.controls(h)
            d, u, v = torch.sigmoid(o[:, 0:1]), torch.sigmoid(o[:, 1:2]), torch.tanh(o[:, 2:])
            if s is None:
                s, V = d, v.unsqueeze(1)
            else:
                s = torch.cat([F.relu(s - F.relu(u - self.above(s))), d], 1)
                V = torch.cat([V, v.unsqueeze(1)], 1)
            part = torch.minimum(s, F.relu(1 - self.above(s)))
            r = torch.bmm(part.unsqueeze(1), V).squeeze(1)
            features.append(torch.cat([h, r], 1))
        return self.out(torch.stack(features))


class Memory(nn.Module):
    def __init__(self, words=180, d=50, hops=3, J=7, S=50):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(words + S, d) for _ in range(hops + 1))
        self.words = words
        j, k = torch.arange(1, J + 2).float(), torch.arange(1, d + 1).float()
        self.register_buffer("places", 1 + 4 * torch.outer(j - (J + 2) / 2, k - (d + 1) / 2) / (d * (J + 1)))

    def forward(self, story, question):
        u = (self.tables[0](question) * self.places[:question.shape[1]]).sum(1)
        m = (self.tables[0](story) * self.places).sum(2)
        for table in list(self.tables)[1:]:
            c = (table(story) * self.places).sum(2)
            p = F.softmax(torch.bmm(m, u.unsqueeze(2)).squeeze(2), 1)
            u = u + torch.bmm(p.unsqueeze(1), c).squeeze(1)
            m = c
        return u @ self.tables[-1].weight[:self.words].T


class Training(race.Theirs):
    def __init__(self, what, B):
        self.what, self.B = what, B
        self.model = {"ntm": Turing, "stack": Stack, "memn2n": Memory}[what]()
        self.run = torch.compile(self.model) if COMPILE and what == "memn2n" else self.model
        self.optimizer = torch.optim.RMSprop(self.model.parameters(), 1e-4)

    def sequence(self):
        B = self.B
        if self.what == "ntm":
            bits = torch.randint(0, 2, (20, B, 8)).float()
            x = torch.zeros(41, B, 9)
            x[:20, :, :8], x[20, :, 8] = bits, 1
            return F.binary_cross_entropy_with_logits(self.run(x)[21:], bits), 41 * B
        symbols = torch.randint(0, 32, (32, B))
        x = torch.zeros(66, B, 33)
        x[:32] = F.one_hot(symbols, 33)
        x[32, :, 32] = 1
        wanted = torch.cat([symbols.flip(0), torch.full((1, B), 32)])
        return F.cross_entropy(self.run(x)[33:].reshape(-1, 33), wanted.reshape(-1)), 66 * B

    def story(self):
        B = self.B
        times = torch.arange(180 + 19, 179, -1).view(1, 20, 1).expand(B, 20, 1)
        story = torch.cat([torch.randint(0, 180, (B, 20, 7)), times], 2)
        return F.cross_entropy(self.run(story, torch.randint(0, 180, (B, 4))), torch.randint(0, 180, (B,)),
                               reduction="sum"), B

    def step(self):
        loss, rows = self.story() if self.what == "memn2n" else self.sequence()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item(), rows


def main():
    program = sys.argv[1]
    rounds = next((int(word) for word in sys.argv[2:] if word.isdigit()), 5)
    print(f"PyTorch {torch.__version__}{', compiled' if COMPILE else ''}, steps a second")
    for what, B, each in (("ntm", 1, 10), ("ntm", 16, 5), ("stack", 10, 5), ("memn2n", 32, 20)):
        ours, theirs = race.Ours([program, what, B]), Training(what, B)
        ours.turn(2), theirs.turn(2)
        best = {"ours": 0, "theirs": 0}
        ratios = []
        for _ in range(rounds):
            seconds, _, rows, _ = ours.turn(each)
            other, _, other_rows, _ = theirs.turn(each)
            best["ours"] = max(best["ours"], rows / seconds)
            best["theirs"] = max(best["theirs"], other_rows / other)
            ratios.append(rows / seconds / (other_rows / other))
        ours.close()
        ratios.sort()
        print(f"{what:7} batch {B:3}: {best['ours']:10.0f} ours {best['theirs']:9.0f} theirs  "
              f"ratio {best['ours'] / best['theirs']:.1f}, median of rounds {ratios[len(ratios) // 2]:.1f}")


if __name__ == "__main__":
    main()
