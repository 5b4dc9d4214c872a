#!/usr/bin/env python3
"""Training steps of models of pictures in turn with PyTorch:

    bench_sight_torch.py build/bench/sight_bench [rounds]

The convolutional net (28 x 28, batch 64) and the recurrent attention model (28 x 28, 6 glimpses of
8 x 8, batch 128), each with Adam, as those who use PyTorch write them.
"""
import sys

import race

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(2)
torch.manual_seed(1)


class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2))
        self.output = nn.Linear(64 * 49, 10)

    def forward(self, x, y):
        return F.cross_entropy(self.output(self.body(x).flatten(1)), y)


class Glimpses(nn.Module):
    def __init__(self, glimpses=6, size=8, width=256, deviation=0.1):
        super().__init__()
        self.glimpses, self.size, self.width, self.deviation = glimpses, size, width, deviation
        half = width // 2
        self.seen, self.where = nn.Linear(size * size, half), nn.Linear(2, half)
        self.from_seen, self.from_where = nn.Linear(half, width), nn.Linear(half, width, bias=False)
        self.from_state, self.from_glimpse = nn.Linear(width, width), nn.Linear(width, width, bias=False)
        self.place, self.baseline = nn.Linear(width, 2), nn.Linear(width, 1)
        self.output = nn.Linear(width, 10)

    def sensor(self, x, place):
        # One gather for the batch: the fastest of the forms tried.
        B, _, H, W = x.shape
        start = torch.floor((place + 1) / 2 * torch.tensor([H, W]) - self.size / 2 + 0.5).long()
        padded = F.pad(x[:, 0], [self.size] * 4)
        start = (start + self.size).clamp(0, H + self.size)
        steps = torch.arange(self.size)
        rows, columns = start[:, :1] + steps, start[:, 1:] + steps
        return padded[torch.arange(B)[:, None, None], rows[:, :, None], columns[:, None, :]].flatten(1)

    def forward(self, x, y):
        h = torch.zeros(x.shape[0], self.width)
        likely, expected = [], []
        for _ in range(self.glimpses):
            state = h.detach()
            mean = torch.tanh(self.place(state))
            place = (mean + self.deviation * torch.randn_like(mean)).detach()
            likely.append(-((place - mean) ** 2).sum(1) / (2 * self.deviation**2))
            expected.append(self.baseline(state)[:, 0])
            what = F.relu(self.seen(self.sensor(x, place)))
            g = F.relu(self.from_seen(what) + self.from_where(F.relu(self.where(place))))
            h = F.relu(self.from_state(h) + self.from_glimpse(g))
        scores = self.output(h)
        right = (scores.argmax(1) == y).float()
        miss = right - torch.stack(expected)
        reinforce = (miss.detach() * torch.stack(likely)).sum(0).mean()
        return F.cross_entropy(scores, y) - 0.01 * reinforce + (miss**2).mean()


class Training(race.Theirs):
    def __init__(self, model, batch):
        self.model, self.batch = model, batch
        self.optimizer = torch.optim.Adam(model.parameters(), 1e-3)
        self.x, self.y = torch.rand(batch, 1, 28, 28), torch.randint(10, (batch,))

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.model(self.x, self.y)
        loss.backward()
        self.optimizer.step()
        return loss.item(), self.batch


def main():
    program = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    print(f"PyTorch {torch.__version__}, pictures a second, 2 threads each")
    for what, make, batch, each in (("conv", Conv, 64, 10), ("glimpses", Glimpses, 128, 20)):
        ours, theirs = race.Ours([program, what, batch]), Training(make(), batch)
        ours.turn(3), theirs.turn(3)
        turns = [(ours.turn(each), theirs.turn(each)) for _ in range(rounds)]
        ours.close()
        rate = [max(t[i][2] / t[i][0] for t in turns) for i in (0, 1)]
        processor = [max(t[i][2] / t[i][1] for t in turns) for i in (0, 1)]
        ratios = sorted(b[0] / a[0] for a, b in turns)
        print(f"{what:9} batch {batch}: {rate[0]:7.0f} ours {rate[1]:7.0f} theirs  ratio "
              f"{rate[0] / rate[1]:.2f}, median of rounds {ratios[len(ratios) // 2]:.2f}, processor time "
              f"{processor[0] / processor[1]:.2f}")


if __name__ == "__main__":
    main()
