#!/usr/bin/env bash
# tour.sh ROOT FOVEA [DOCUMENTS [NAME]]: the commands of every docs/tour*.md, or of the documents of that
# pattern (their sh blocks), run one after the other in an empty folder, with the program FOVEA as `fovea`
# or NAME; none may fail.
set -euo pipefail
root=$1 fovea=$(readlink -f "$2") documents=${3:-tour*.md} name=${4:-fovea}
scratch=$(mktemp -d "$PWD/tour.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
ln -s "$fovea" "$scratch/bin/$name"

cat >"$scratch/start" <<'EOS'
set -euo pipefail
trap 'echo "${BASH_SOURCE[0]}:$LINENO: failed: $BASH_COMMAND" >&2' ERR
EOS

for document in "$root"/docs/$documents; do
  name=docs/$(basename "$document")
  # Every other line becomes an empty one: bash then counts lines as the document does.
  awk '/^```/ { inside = $0 == "```sh"; print ""; next } { print inside ? $0 : "" }' \
    "$document" >"$scratch/commands"
  grep -q . "$scratch/commands" || { echo "$name: shows no command (an sh block)"; exit 1; }
  rm -rf "$scratch/work" && mkdir "$scratch/work"
  (
    cd "$scratch/work"
    PATH=$scratch/bin:$PATH BASH_ENV=$scratch/start bash "$scratch/commands" </dev/null
  ) >"$scratch/said" 2>&1 || {
    code=$?
    tail -n 40 "$scratch/said" | sed "s|$scratch/commands|$name|"
    exit "$code"
  }
done
