"""Asks the module where a query looks; an error of the library is an exception of Python's."""
import threading

import looks

weights = looks.attend([1.0, 0.0], [[0.0, 1.0], [4.0, 0.0], [-4.0, 0.0]])
print(weights)
assert abs(sum(weights) - 1) < 1e-6 and weights[1] > 0.9, weights

try:
    looks.attend([1.0, 0.0], [[1.0]])
    raise SystemExit("keys of another size were taken")
except ValueError as error:
    assert "needs 2 values" in str(error), error

seen = []
threads = [threading.Thread(target=lambda: seen.append(looks.attend([1.0], [[1.0], [2.0]])))
           for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(seen) == 8 and all(one == seen[0] for one in seen), seen
