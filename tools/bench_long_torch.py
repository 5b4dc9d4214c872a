#!/usr/bin/env python3
"""A sliding window of 256 tokens in a sequence of 8,192, forward and backward, beside PyTorch: its
scaled_dot_product_attention with the window as a mask, and the same in overlapping blocks (each block of 256 looks at
itself and its two neighbours), which does no more than a few times the work that is needed.

    tools/bench long_bench 2 "window 256"        # ours, as a ratio to sgemm
    tools/bench_long_torch.py build/release/bench/long_bench

Runs ours and PyTorch's in turn, on as many threads.
"""
import subprocess
import sys
import time

import torch
import torch.nn.functional as F

N, H, D, W = 8192, 4, 64, 256


def masked(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def blocked(q, k, v, mask):
    blocks = N // W
    split = lambda x: x.reshape(1, H, blocks, W, D)
    pad = lambda x: F.pad(split(x), (0, 0, 0, 0, 1, 1))
    near = lambda x: torch.cat([x[:, :, :-2], x[:, :, 1:-1], x[:, :, 2:]], 3)
    return F.scaled_dot_product_attention(split(q), near(pad(k)), near(pad(v)), attn_mask=mask).reshape(1, H, N, D)


def best_ms(f, mask):
    q, k, v = (torch.rand(1, H, N, D, requires_grad=True) for _ in range(3))
    dy = torch.rand(1, H, N, D)
    best = float("inf")
    for _ in range(7):
        start = time.perf_counter()
        f(q, k, v, mask).backward(dy)
        best = min(best, time.perf_counter() - start)
    return 1e3 * best


def main():
    i, j = torch.arange(N)[:, None], torch.arange(N)[None, :]
    whole = (i - j).abs() <= W // 2
    r, c = torch.arange(W)[:, None], torch.arange(3 * W)[None, :] - W
    place = torch.arange(N // W)[:, None, None] * W + c
    block = ((r - c).abs() <= W // 2)[None] & (place >= 0) & (place < N)
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads")
    if len(sys.argv) > 1:
        ours = subprocess.run([sys.argv[1], "time", "window", str(N)], capture_output=True, text=True, check=True)
        print(f"Fovea                 {float(ours.stdout):8.1f} ms")
    print(f"PyTorch, blocks       {best_ms(blocked, block):8.1f} ms")
    print(f"PyTorch, masked       {best_ms(masked, whole):8.1f} ms")


main()
