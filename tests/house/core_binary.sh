#!/usr/bin/env bash
# core_binary.sh BINARY [LIMIT]: a program of fovea::core is small once stripped, and needs no library
# but Highway and what every C++ program needs.
set -euo pipefail
binary=$1 limit=${2:-2000000}
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
strip -o "$stripped" "$binary"
size=$(stat -c %s "$stripped")
((size <= limit)) || { echo "$binary: $size bytes stripped, more than $limit"; exit 1; }
readelf -d "$binary" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' |
  { ! grep -vE '^(libhwy|libstdc\+\+|libm|libgcc_s|libc|ld-linux[-a-z0-9_]*)\.so'; } ||
  { echo "$binary: needs the libraries above, beside Highway and C++'s own"; exit 1; }
echo "$size bytes"
