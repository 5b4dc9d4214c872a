"""Training in turn with one of our bench programs (bench/turns.h is the other end), on 2 threads
each. Import it before torch.

Of peak memory, "own" leaves out what a process holds before it makes its model: for PyTorch its
libraries. Tokens a second of processor time, on all threads, are what a busy machine cannot hide.
"""
import multiprocessing
import os
import subprocess
import time

# PyTorch's workers would otherwise spin through our turns, and through its own on a shared machine.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def peak_megabytes():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024


def apart(f, *arguments):
    """f's result, from a process of its own: what one race leaves in memory is not the next's."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(f, arguments)


class Ours:
    def __init__(self, command):
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE,
                                        text=True, stdout=subprocess.PIPE,
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


class Theirs:
    """A peer's training: `step()` gives a loss and how many tokens it learned from."""

    def turn(self, steps):
        start, processor = time.perf_counter(), time.process_time()
        taken = [self.step() for _ in range(steps)]
        return (time.perf_counter() - start, time.process_time() - processor,
                sum(n for _, n in taken), [loss for loss, _ in taken])


def figures(turns, peak, before):
    rates = sorted((tokens / seconds for seconds, _, tokens, _ in turns), reverse=True)
    return {"tokens_per_second": rates[0], "spread": rates[0] / rates[len(rates) // 2],
            "tokens_per_processor_second": max(t / processor for _, processor, t, _ in turns),
            "peak_mb": peak, "own_mb": peak - before,
            "losses": [loss for *_, losses in turns for loss in losses]}


def race(ours, make_theirs, rounds, steps, warm=0):
    """Rounds of `steps` of each in turn, behind `warm` steps that do not count."""
    before = peak_megabytes()
    theirs = make_theirs()
    if warm:
        ours.turn(warm), theirs.turn(warm)
    pairs = [(ours.turn(steps), theirs.turn(steps)) for _ in range(rounds)]
    ours.close()
    a = figures([a for a, _ in pairs], ours.peak, ours.before)
    b = figures([b for _, b in pairs], peak_megabytes(), before)
    apart = [abs(x - y) / y for x, y in zip(a["losses"], b["losses"])]
    ratios = sorted(y[0] / x[0] for x, y in pairs)
    return {"fovea": a, "pytorch": b,
            "ratio": a["tokens_per_second"] / b["tokens_per_second"],
            "ratio_median": ratios[len(ratios) // 2],
            "ratio_processor": a["tokens_per_processor_second"] / b["tokens_per_processor_second"],
            "memory": a["peak_mb"] / b["peak_mb"], "memory_own": a["own_mb"] / b["own_mb"],
            "first_loss_apart": abs(a["losses"][0] - b["losses"][0]),
            "losses_apart": max(apart)}


def show(title, result):
    print(f"{title}, 2 threads each; load {os.getloadavg()[0]:.1f}")
    for name in ("fovea", "pytorch"):
        r = result[name]
        print(f"{name:8} {r['tokens_per_second']:8.0f} tokens/s (best over median "
              f"{r['spread']:.2f}) {r['tokens_per_processor_second']:6.0f} / processor s"
              f"  peak {r['peak_mb']:6.0f} MB, own {r['own_mb']:6.0f} MB"
              f"  loss {r['losses'][0]:.5f} -> {r['losses'][-1]:.5f}")
    print(f"speed {result['ratio']:.2f} x (median of rounds {result['ratio_median']:.2f} x, "
          f"processor time {result['ratio_processor']:.2f} x)")
    print(f"peak memory {result['memory']:.2f} x (own {result['memory_own']:.2f} x)")
    print(f"losses apart: the first {result['first_loss_apart']:.1e}, "
          f"any at most {100 * result['losses_apart']:.4f} %", flush=True)
