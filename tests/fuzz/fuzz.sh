#!/usr/bin/env bash
# fuzz.sh PROGRAM SECONDS: fuzzes from a scratch copy of corpus/NAME (PROGRAM is .../NAME_fuzz), as
# libFuzzer adds what it finds to the folder it reads.
set -euo pipefail
program=$1 seconds=$2
name=$(basename "${program%_fuzz}")
corpus=$(dirname "$0")/corpus/$name

cd "$(dirname "$program")"
rm -rf "$name.corpus" && mkdir "$name.corpus"
[[ ! -d $corpus ]] || cp "$corpus"/* "$name.corpus"
# A hostile count must be refused before memory is asked for, hence the limit on one allocation.
exec "$program" -max_total_time="$seconds" -timeout=10 -malloc_limit_mb=256 -rss_limit_mb=2048 \
  -print_final_stats=1 -verbosity=1 -artifact_prefix="$PWD/$name." "$name.corpus"
