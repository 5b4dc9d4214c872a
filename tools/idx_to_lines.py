#!/usr/bin/env python3
"""IDX files of pictures and labels (as MNIST has them) as lines "label<TAB>pixels", one letter a pixel from '.'
(nothing) over 1 to f, for `fovea train classify --preset arena-image`.

    tools/idx_to_lines.py IMAGES LABELS > lines.tsv
"""
import gzip
import sys


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        data = file.read()
    if data[:2] != b"\0\0" or data[2] != 8:
        sys.exit(f"{path}: is not an IDX file of bytes")
    axes = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(data[3])]
    return axes, data[4 + 4 * data[3]:]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    (count, *sides), pixels = read(sys.argv[1])
    (labelled,), labels = read(sys.argv[2])
    if count != labelled:
        sys.exit(f"{count} pictures, but {labelled} labels")
    size = 1
    for side in sides:
        size *= side
    greys = ".123456789abcdef"
    letters = bytes(ord(greys[i >> 4]) for i in range(256))
    for i in range(count):
        print(f"{labels[i]}\t{pixels[i * size:(i + 1) * size].translate(letters).decode()}")


main()
