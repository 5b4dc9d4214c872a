# Makes Doxygen's comments of ours: a `//` comment stands for the declarations that follow it up to
# the next comment or empty line, but for those that have one of their own at the end of their line;
# the one at the head of a file for the file, and for its first type when that has none of its own.
# Constructors, destructors and operators need none: what they do is known. Every line stays where it
# is, so that Doxygen's warnings point at ours.
function escaped(text) {
  gsub(/[\\@<>&$#%]/, "\\\\&", text)
  gsub(/^\\\\</, "\\<", text)
  return text
}
function plain(line) {  # without strings, letters and comments, for counting brackets
  gsub(/"([^"\\]|\\.)*"/, "", line)
  gsub(/'([^'\\]|\\.)'/, "", line)
  sub(/\/\/.*/, "", line)
  return line
}
function count(line, set) { return gsub(set, "", line) }
# `int a, b = 1;` as one declaration for each name, since Doxygen gives a comment to one alone.
function each(line, text,    type, part, parts, i, all) {
  sub(/;[ \t]*$/, "", line)
  parts = split(line, part, /, /)
  type = part[1]
  sub(/( = |\{\}).*/, "", type)
  sub(/[&*]?[A-Za-z_0-9]+$/, "", type)
  for (i = 1; i <= parts; ++i) all = all "/** " text " */ " (i > 1 ? type : "") part[i] "; "
  return all
}
function flush_as_is(    i) {
  for (i = 1; i <= held; ++i) print lines[i]
  held = 0
}

BEGIN {
  head = 1
  fresh = 1
  one = "[&*]?[A-Za-z_0-9]+( = [^,(){}]*(\\(\\))?|\\{\\})?"
  several = "^[ \\t]*[A-Za-z_:0-9 ]+(<[A-Za-z_:0-9 ]*>)? " one "(, " one ")+;[ \\t]*$"
}
# The comment at the head belongs to the file.
head && /^\/\// {
  print "///" (FNR == 1 ? " \\file" : last)
  last = escaped(substr($0, 3))
  idea = idea last
  next
}
head {  # instead of #pragma once
  head = 0
  print "///" last
  next
}
# The second line of a comment that began at the end of a line.
/^[ \t]*\/\// && tail_at && index($0, "//") == tail_at {
  print "  ///<" escaped(substr($0, tail_at + 2))
  next
}
# A comment of its own is held until what follows it is known.
/^[ \t]*\/\// {
  tail_at = 0
  said = ""  # a new comment ends what the last one stood for
  lines[++held] = $0
  next
}
/^[ \t]*$/ {
  flush_as_is()
  tail_at = 0
  said = ""
  print
  next
}
{
  code = plain($0)
  tail = ""
  tail_at = 0
  if (held) {  # this line is what the comment is for
    said = ""
    for (i = 1; i <= held; ++i) {
      text = lines[i]
      sub(/^[ \t]*\/\//, "", text)
      print "///" escaped(text)
      said = said escaped(text)
    }
    held = 0
    printed = 1
    fresh = 1
    level = depth
  }
  type = match(code, /^[ \t]*(class|struct) [A-Za-z_]+/) && code !~ /(class|struct) [A-Za-z_]+;/
  if (type) {
    name = substr(code, RSTART, RLENGTH)
    sub(/.* /, "", name)
    owners = owners "|" name
    if (idea && !said) {
      said = idea
      fresh = 1
      level = depth
    }
    idea = ""
  }
  starts = fresh && depth == level && code !~ /^[ \t]*[})]/ && code !~ /^[ \t]*(public|private|protected):/ &&
           code !~ /^[ \t]*#/ && code ~ /[^ \t]/
  if (match($0, /[;,{})] +\/\/ /) && !/NOLINT|\/\/ namespace/) {
    tail = substr($0, RSTART + RLENGTH)
    tail_at = RSTART + RLENGTH - 3
    $0 = substr($0, 1, RSTART)
    if (!said || !starts || !printed) {
      if (code ~ several) $0 = each($0, escaped(tail))
      else $0 = $0 "  ///< " escaped(tail)
    }
  }
  special = "^[ \\t]*(explicit |constexpr |friend |inline )*~?(-" owners ")\\("
  if (!said && (code ~ special || code ~ /operator[^a-z]/) && fresh) {
    printf "/** As its kind says. */"
  }
  if (starts && said && code !~ several && (printed ? tail : !tail)) {
    printf "/** %s */ ", printed ? escaped(tail) : said
  }
  if (starts && said && code ~ several && (printed || !tail)) $0 = each($0, said " " escaped(tail))
  printed = 0
  if (type) said = ""
  print
  depth += count(code, "[{(]") - count(code, "[})]")
  fresh = code ~ /[;}{:][ \t]*$/ && code !~ /^[ \t]*template/
}
