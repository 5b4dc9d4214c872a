#!/usr/bin/env bash
# includes.sh ROOT: includes between the folders of src point one way, only kernel/ knows Highway, and
# nobody oneDNN; and kernels call through FOVEA_DISPATCH.
set -euo pipefail
cd "$1"

# A folder may include itself and folders of a lower number; src/core.h and src/fovea.h offer all but
# the program.
order='base=0 tensor=1 kernel=1 mpi=1 op=2 nn=3 attention=4 memory=5 check=5 model=6 data=6 train=6 report=7
  task=8 core.h=8 fovea.h=9 check.h=9 app=10'

find src -name '*.h' -o -name '*.cpp' | sort | xargs awk -v order="$order" '
  BEGIN {
    for (n = split(order, pair); n > 0; --n) { split(pair[n], part, "="); rank[part[1]] = part[2] }
  }
  function report(why) { printf "%s:%d: %s\n", FILENAME, FNR, why; bad = 1 }
  FNR == 1 {
    split(FILENAME, path, "/"); from = path[2]
    installed = FILENAME ~ /\.h$/ && FILENAME !~ /-inl\.h$/ && from != "app"
    if (!(from in rank)) report("src/" from " has no place in the order of folders")
  }
  /^[ \t]*#[ \t]*include/ {
    target = $0
    sub(/^[^<"]*[<"]/, "", target); sub(/[>"].*/, "", target)
    vendor = target ~ /^(hwy|oneapi|dnnl)/
    if (target ~ /^fovea\//) {
      split(target, path, "/"); to = path[2]
      if (!(to in rank)) report("no such folder: " target)
      else if (to != from && rank[to] >= rank[from]) report(from " may not include " target)
    } else if (/"/ && !vendor) report("write the include as \"fovea/folder/" target "\"")
    if (target ~ /^(oneapi|dnnl)/) report("the program loads oneDNN when it runs; see app/bench/sgemm.h")
    else if (vendor && from != "kernel") report("only src/kernel may include " target)
    if (installed && (vendor || target ~ /-inl\.h$/))
      report("an installed header may not include " target ", which users may not have")
  }
  /HWY_DYNAMIC_DISPATCH/ && FILENAME != "src/kernel/dispatch-inl.h" {
    report("write FOVEA_DISPATCH, which reads FOVEA_TARGET")
  }
  END { exit bad }'
