#!/usr/bin/env bash
# temporaries.sh ROOT: no loop goes over what a value holds that is gone by its first step. Before
# C++23 `for (float x : f().read())` lets go of f() when the loop begins.
set -euo pipefail
cd "$1"
find src tests examples bench -name '*.h' -o -name '*.cpp' | sort | xargs perl -0ne '
  while (/\bfor\s*(?<loop>\((?:[^()]++|(?&loop))*\))/g) {
    my ($loop, $line) = ($+{loop}, 1 + (substr($_, 0, $-[0]) =~ tr/\n//));
    next if $loop =~ /;/ || $loop !~ /\)\s*\.(?:read|write|bytes)\s*(?:<[^<>]*>)?\(\)\s*\)$/;
    print "$ARGV:$line: the loop outlives what it goes over; give that a name\n";
    $bad = 1;
  }
  END { exit($bad // 0) }'
