#!/usr/bin/env python3
"""Writes tests/golden/features.safetensors: PyTorch's numbers for tests/feature_golden_test.cpp.

Needs torch and safetensors. Written from the papers: parallel co-attention (Lu et al. 2016), its pooled form
over the concatenated affinity (Fan, Feng, Zhao 2018), rotatory attention with hops (Zheng, Xia 2018; Wallaart,
Frasincar 2019) and dynamic meta-embeddings (Kiela, Wang, Cho 2018). Each case has its inputs, the output y, a
gradient dy for it, and with those the gradient of every real input; lengths are int32.
"""
import pathlib

import torch
from safetensors.torch import save

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"
random = torch.Generator().manual_seed(7)
arrays = {}


def draw(*shape, scale=1.0):
    return scale * torch.randn(shape, generator=random)


def case(name, f, *inputs):
    inputs = [x.requires_grad_() if x.is_floating_point() else x for x in inputs]
    y = f(*inputs)
    dy = draw(*y.shape)
    y.backward(dy)
    arrays[f"{name}/y"], arrays[f"{name}/dy"] = y.detach().contiguous(), dy
    for i, x in enumerate(inputs):
        arrays[f"{name}/{i}"] = x.detach().contiguous() if x.is_floating_point() else x.to(torch.int32)
        if x.is_floating_point():
            arrays[f"{name}/d{i}"] = x.grad


def counted(n, T):
    return torch.arange(T)[None] < n[:, None]  # [B, T]


def read(e, F, mask):
    a = torch.softmax(e.masked_fill(~mask, -torch.inf), -1)
    return torch.einsum("bt,btd->bd", a, F)


def mean(F, mask):
    return (F * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


# Inputs: both texts, W of the affinity, W_1 and W_2, w_1 and w_2, lengths of both.
def parallel(F1, F2, W, W1, W2, w1, w2, n1, n2):
    m1, m2 = counted(n1, F1.shape[1]), counted(n2, F2.shape[1])
    A = torch.tanh(torch.einsum("bid,ed,bje->bij", F1, W, F2)) * m1[:, :, None] * m2[:, None, :]
    V1, V2 = F1 @ W1.T, F2 @ W2.T
    e1 = torch.tanh(V1 + A @ V2) @ w1
    e2 = torch.tanh(V2 + A.transpose(1, 2) @ V1) @ w2
    return torch.cat([read(e1, F1, m1), read(e2, F2, m2)], -1)


# Inputs: both texts, the three parts of w, lengths of both.
def pooled(F1, F2, wq, wk, wp, n1, n2):
    m1, m2 = counted(n1, F1.shape[1]), counted(n2, F2.shape[1])
    wq, wk = wq[0], wk[0]
    A = (F1 @ wq)[:, :, None] + (F2 @ wk)[:, None, :] + torch.einsum("bid,d,bjd->bij", F1, wp, F2)
    e1 = A.masked_fill(~m2[:, None, :], -torch.inf).max(2).values
    e2 = A.masked_fill(~m1[:, :, None], -torch.inf).max(1).values
    return torch.cat([read(e1, F1, m1), read(e2, F2, m2)], -1)


# Inputs: phrase, left, right, W and b of the four scores, lengths of the three.
def rotatory(hops):
    def run(Ft, Fl, Fr, Wl, Wr, Wtl, Wtr, b, nt, nl, nr):
        mt, ml, mr = (counted(n, F.shape[1]) for n, F in ((nt, Ft), (nl, Fl), (nr, Fr)))

        def asked(q, F, W, at, mask):
            return read(torch.tanh(torch.einsum("btd,de,be->bt", F, W, q) + b[at]), F, mask)

        by_left = by_right = mean(Ft, mt)
        for _ in range(hops):
            left, right = asked(by_left, Fl, Wl, 0, ml), asked(by_right, Fr, Wr, 1, mr)
            by_left, by_right = asked(left, Ft, Wtl, 2, mt), asked(right, Ft, Wtr, 3, mt)
        return torch.cat([left, right, by_left, by_right], -1)
    return run


# Inputs: two sets of vectors, their projections and biases, W, b and w of the score.
def meta(x1, x2, P1, b1, P2, b2, W, b, w):
    values = torch.stack([x1 @ P1.T + b1, x2 @ P2.T + b2], 1)
    a = torch.softmax(torch.tanh(values @ W.T + b) @ w, -1)
    return torch.einsum("ns,nsd->nd", a, values)


B, D = 3, 6
case("parallel", parallel, draw(B, 5, D), draw(B, 4, D), draw(D, D, scale=0.4), draw(D, D, scale=0.4),
     draw(D, D, scale=0.4), draw(D), draw(D), torch.tensor([5, 3, 4]), torch.tensor([2, 4, 1]))
case("pooled", pooled, draw(B, 5, D), draw(B, 4, D), draw(1, D), draw(1, D), draw(D),
     torch.tensor([5, 3, 4]), torch.tensor([2, 4, 1]))
for hops in (1, 3):
    case(f"rotatory{hops}", rotatory(hops), draw(B, 2, D), draw(B, 5, D), draw(B, 4, D),
         *(draw(D, D, scale=0.4) for _ in range(4)), draw(4),
         torch.tensor([2, 1, 2]), torch.tensor([5, 1, 3]), torch.tensor([4, 4, 2]))
case("meta", meta, draw(7, 4), draw(7, 5), draw(D, 4), draw(D), draw(D, 5), draw(D), draw(16, D), draw(16),
     draw(16))

GOLDEN.mkdir(exist_ok=True)
(GOLDEN / "features.safetensors").write_bytes(save(arrays))
