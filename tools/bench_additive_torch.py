"""The attention of bench/additive_bench.cpp in PyTorch, in turn with that program, both on 2 threads.

    tools/bench_additive_torch.py build/release/bench/additive_bench [ROUNDS]
"""
import os
import subprocess
import sys
import time

# Its workers would otherwise spin through our turns, and through its own on a shared machine.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import torch

torch.set_num_threads(2)
torch.manual_seed(0)


def additive(a, b, v, w):
    scores = torch.tanh(a[:, :, None, :] + b[:, None, :, :]) @ w
    return torch.softmax(scores, -1) @ v


def entmax15(q, k, v, w):
    """1.5-entmax by sorting, as the entmax package does it."""
    z = (q @ k.transpose(1, 2)) / (2 * q.shape[-1] ** 0.5)
    z = z - z.detach().max(-1, keepdim=True).values
    with torch.no_grad():
        top = torch.sort(z, -1, descending=True).values
        count = torch.arange(1, z.shape[-1] + 1, dtype=z.dtype)
        mean = top.cumsum(-1) / count
        spread = count * ((top * top).cumsum(-1) / count - mean * mean)
        tau = mean - torch.sqrt(torch.clamp((1 - spread) / count, min=0))
        support = (tau <= top).sum(-1, keepdim=True)
        tau = tau.gather(-1, support - 1)
    return Entmax15.apply(z, tau) @ v


class Entmax15(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z, tau):
        p = torch.clamp(z - tau, min=0) ** 2
        ctx.save_for_backward(p)
        return p

    @staticmethod
    def backward(ctx, dp):
        s = ctx.saved_tensors[0].sqrt()
        dz = dp * s
        return 2 * (dz - s * dz.sum(-1, keepdim=True) / s.sum(-1, keepdim=True)), None


def timed(f, inputs, grad, seconds=1.0):
    best = float("inf")
    stop = time.perf_counter() + seconds
    while time.perf_counter() < stop:
        start = time.perf_counter()
        if grad is None:
            with torch.no_grad():
                f(*inputs)
        else:
            torch.autograd.grad(f(*inputs), inputs, grad, allow_unused=True)
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def matmul_rate():
    a = torch.rand(1024, 1024)
    return 2 * 1024**3 / (timed(lambda x: x @ x, [a], None) * 1e6)


def fovea(program):
    env = dict(os.environ, FOVEA_THREADS="2")
    text = subprocess.run([program, "1", "8x256"], capture_output=True, text=True, env=env).stdout
    return {" ".join(line.split()[:3]): float(line.split()[3]) for line in text.splitlines()}


def main():
    shape = (8, 256, 64)
    inputs = [torch.rand(shape) * 2 - 1 for _ in range(3)] + [torch.rand(64) * 2 - 1]
    for x in inputs:
        x.requires_grad_()
    grad = torch.rand(shape)
    variants = {"additive eager": ("additive", additive), "entmax1.5 eager": ("entmax1.5", entmax15)}
    try:
        compiled = torch.compile(additive)
        torch.autograd.grad(compiled(*inputs), inputs, grad)
        variants["additive compiled"] = ("additive", compiled)
    except Exception as error:  # no compiler to be had, or none that works
        print("torch.compile does not work here:", str(error).splitlines()[0])
    ours, theirs = {}, {}
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 3):
        for name, ms in fovea(sys.argv[1]).items():
            ours[name] = min(ms, ours.get(name, ms))
        for name, (_, f) in variants.items():
            for way, g in (("forward", None), ("backward", grad)):
                ms = timed(f, inputs, g)
                theirs[name, way] = min(ms, theirs.get((name, way), ms))
    print(f"torch {torch.__version__}, its 1024^3 matmul {matmul_rate():.0f} GFLOP/s, 2 threads")
    for (name, way), ms in theirs.items():
        mine = ours[f"{variants[name][0]} 8x256x64 {way}"]
        print(f"{name:20} {way:9} torch {ms:9.2f} ms  fovea {mine:8.2f} ms  {ms / mine:6.1f} x")


main()
