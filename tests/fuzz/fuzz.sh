#!/usr/bin/env bash
# fuzz.sh PROGRAM: fuzzes for a minute, or FOVEA_FUZZ_SECONDS, with NAME.dict, if there is one, from a
# scratch copy of corpus/NAME (PROGRAM is .../NAME_fuzz), as libFuzzer adds what it finds to the folder
# it reads.
set -euo pipefail
program=$1 seconds=${FOVEA_FUZZ_SECONDS:-60}
name=$(basename "${program%_fuzz}")
here=$(cd "$(dirname "$0")" && pwd)
options=(-max_total_time="$seconds" -timeout=10 -print_final_stats=1)
# A hostile count must be refused before memory is asked for, hence the limit on one allocation.
options+=(-malloc_limit_mb=256 -rss_limit_mb=2048)
[[ ! -f $here/$name.dict ]] || options+=(-dict="$here/$name.dict")

cd "$(dirname "$program")"
rm -rf "$name.corpus" && mkdir "$name.corpus"
[[ ! -d $here/corpus/$name ]] || cp "$here/corpus/$name"/* "$name.corpus"
exec "$program" "${options[@]}" -artifact_prefix="$PWD/$name." "$name.corpus"
