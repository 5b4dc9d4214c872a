#!/usr/bin/env bash
# temporaries.sh ROOT: nothing is read from a value that is gone. Before C++23 the loop in
# `for (float x : f().read())` lets go of f() when it begins, and `auto x = f().read();` does so in
# any. memory() and value() give what somebody else holds.
set -euo pipefail
cd "$1"
find src tests examples bench -name '*.h' -o -name '*.cpp' | sort | xargs perl -0ne '
  while (/\bfor\s*(?<loop>\((?:[^()]++|(?&loop))*\))/g) {
    my ($loop, $line) = ($+{loop}, 1 + (substr($_, 0, $-[0]) =~ tr/\n//));
    next if $loop =~ /;/ || $loop !~ /\)\s*\.(?:read|write|bytes)\s*(?:<[^<>]*>)?\(\)(?:\s*\.(?:first|last|subspan)\([^()]*\))?\s*\)$/;
    print "$ARGV:$line: the loop outlives what it goes over; give that a name\n";
    $bad = 1;
  }
  while (/\)\s*\.(?:read|write|bytes)\s*(?:<[^<>]*>)?\(\)(?:\s*\.(?:data|first|last|subspan|begin)\([^()]*\))?\s*[;,]/g) {
    my $line = 1 + (substr($_, 0, $-[0]) =~ tr/\n//);
    my $head = substr($_, 0, $-[0] + 1);
    next if $head =~ /(?:memory|value)\(\)$/;
    my ($statement) = $head =~ /([^;]*)$/;
    $statement =~ s/^.*[{}]\s*\n//s;
    $statement =~ s/^\s*for\s*\(//;
    next unless $statement =~ /^\s*(?:static\s+)?(?:const\s+)?(?:auto|(?:std::)?span<[^;()]*>|\w+\s*\*)[\s&*]*\w+\s*[=,]/;
    next if ($statement =~ tr/(//) != ($statement =~ tr/)//);  # of what is called, not what is kept
    print "$ARGV:$line: what is read from is gone; give it a name\n";
    $bad = 1;
  }
  END { exit($bad // 0) }'
