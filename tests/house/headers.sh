#!/usr/bin/env bash
# headers.sh ROOT COMPILER...: every header that is installed compiles alone; and all of them together with
# each compiler, with sanitizers and the warnings that a careful project turns on, and included with -I, not
# as a system header.
set -euo pipefail
root=$1
shift

warnings=(-Wall -Wextra -Wconversion -Wshadow -Wsign-conversion -Werror)
flags=(-std=c++20 -I"$root/include")
cd "$root/include"
headers=$(find -L fovea -name '*.h' ! -name '*-inl.h' ! -path 'fovea/app/*' | sort)

check() {  # check COMPILER HEADER FLAG...
  printf '#include "%s"\n' "$2" | "$1" -x c++ "${@:3}" -fsyntax-only - ||
    { echo "$2: does not compile alone with $1"; return 1; }
}
export -f check
all() { for header in $headers; do printf '#include "%s"\n' "$header"; done; }

bad=0
# Alone once: what one compiler finds missing, the other does too. A header that its own source includes first
# was compiled alone by the build.
alone=$(for header in $headers; do
  source=${header%.h}.cpp
  [[ -e $source && $(grep -m1 '^#include "' "$source") == "#include \"$header\"" ]] || echo "$header"
done)
xargs -P "$(nproc)" -I{} bash -c 'check "$@"' _ "$1" {} "${flags[@]}" "${warnings[@]}" \
  <<<"$alone" || bad=1
for compiler; do
  command -v "$compiler" >/dev/null || { echo "skipped: there is no $compiler"; continue; }
  all | "$compiler" -x c++ "${flags[@]}" "${warnings[@]}" -O1 -fsanitize=address,undefined \
    -c -o /dev/null - || bad=1
done
exit $bad
