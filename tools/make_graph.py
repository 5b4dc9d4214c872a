#!/usr/bin/env python3
"""A large graph in the folder form that `fovea train graph` reads: nodes in groups, edges that
mostly stay within a group, words that mostly do.

    tools/make_graph.py NODES EDGES DIR
"""
import os
import random
import sys


def main():
    nodes, edges, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    groups, words = 10, 30
    rng = random.Random(1)
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/features.txt", "w") as features, open(f"{folder}/labels.txt", "w") as labels:
        for node in range(nodes):
            group = node % groups
            own = {(group if rng.random() < 0.35 else rng.randrange(groups)) * words + rng.randrange(words)
                   for _ in range(6)}
            features.write(" ".join(map(str, sorted(own))) + "\n")
            labels.write(f"{group}\n")
    with open(f"{folder}/edges.txt", "w") as file:
        for _ in range(edges):
            one = rng.randrange(nodes)
            other = rng.randrange(nodes)
            if rng.random() < 0.8:
                other = other // groups * groups + one % groups
                other = min(other, nodes - 1)
            file.write(f"{one} {other}\n")


main()
