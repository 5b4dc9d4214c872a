#!/usr/bin/env bash
# temporaries.sh ROOT: nothing is read from a value that is gone. Before C++23 the loop in
# `for (float x : f().read())` lets go of f() when it begins, and `auto x = f().read();` does so in
# any. memory() and value() give what somebody else holds.
set -euo pipefail
cd "$1"
find src tests examples bench -name '*.h' -o -name '*.cpp' | sort | xargs perl -0ne '
  while (/\bfor\s*(?<loop>\((?:[^()]++|(?&loop))*\))/g) {
    my ($loop, $line) = ($+{loop}, 1 + (substr($_, 0, $-[0]) =~ tr/\n//));
    next if $loop =~ /;/ || $loop !~ /\)\s*\.(?:read|write|bytes)\s*(?:<[^<>]*>)?\(\)\s*\)$/;
    print "$ARGV:$line: the loop outlives what it goes over; give that a name\n";
    $bad = 1;
  }
  while (/[=,]\s*(?<call>[^=;,{}]*\)\s*\.(?:read|write|bytes)\s*(?:<[^<>]*>)?\(\))\s*[;,]/g) {
    my ($call, $line) = ($+{call}, 1 + (substr($_, 0, $-[0]) =~ tr/\n//));
    my $begun = substr($_, 0, $-[0]);
    next unless $begun =~ /(?:auto|span<[^;<>]*>)[^;(){}]*$/ || $begun =~ /(?:auto|span<[^;<>]*>)\s+[^;{}]*=[^;{}]*$/;
    next if $call =~ /(?:memory|value)\(\)\s*\.\w+\s*(?:<[^<>]*>)?\(\)$/;
    print "$ARGV:$line: what is read from is gone; give it a name\n";
    $bad = 1;
  }
  END { exit($bad // 0) }'
