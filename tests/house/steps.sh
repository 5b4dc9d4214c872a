#!/usr/bin/env bash
# steps.sh DOCUMENT: the cpp blocks of a document as one program, in their order; errors of the compiler
# point into the document.
set -euo pipefail
awk -v document="$1" '
  /^```/ { inside = $0 == "```cpp"; if (inside) print "#line " NR + 1 " \"" document "\""; next }
  inside { print }' "$1"
