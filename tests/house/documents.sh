#!/usr/bin/env bash
# documents.sh ROOT OUT [CMAKE-OPTION...]: the C++ programs shown in README.md and docs/ compile against
# the installed library, and run.
set -euo pipefail
root=$1 out=$2 here=$(cd "$(dirname "$0")" && pwd)
shift 2

rm -rf "$out/src" && mkdir -p "$out/src"
for document in "$root"/README.md "$root"/docs/*.md; do
  [[ -f $document ]] || continue
  [[ $document != */adding.md ]] || continue  # one program in steps, with a test of its own
  # A block is an example when it is a whole program; #line makes errors point into the document.
  awk -v stem="$out/src/$(basename "$document" .md)" -v document="$document" '
    /^```/ && inside { inside = 0; if (text ~ /int main/) printf "%s", text > (stem "_" start ".cpp") }
    inside { text = text $0 "\n" }
    /^```cpp/ { inside = 1; start = NR; text = "#line " NR + 1 " \"" document "\"\n" }' "$document"
done
compgen -G "$out/src/*.cpp" >/dev/null ||
  { echo "$root: README.md and docs/ show no program (a cpp block with int main)"; exit 1; }

cmake -S "$here/documents" -B "$out/build" -G Ninja -DEXAMPLES="$out/src" "$@" >/dev/null
cmake --build "$out/build"
ctest --test-dir "$out/build" --output-on-failure --no-tests=error
