// A stand-in for nvcc that only lists its preprocessing, as `nvcc -dryrun` does: the folders,
// macros and forced headers of its command, run by g++. For tests of what is asked of a compiler.
#pragma once

#include <sys/stat.h>

#include <fstream>
#include <string>

namespace cupilot::test {

// Writes the program. With `more`: further words of the host's preprocessing; `device`: of a second
// one, for __CUDA_ARCH__ 900.
inline void WriteFakeNvcc(const std::string& path, const std::string& more = "",
                          bool device = false) {
  std::ofstream out(path);
  out << R"x(#!/bin/sh
quoted() { printf ' "%s"' "$(printf %s "$1" | sed 's/["\\$`]/\\&/g')"; }
words="" take="" input=""
for word; do
  if [ -n "$take" ]; then
    [ "$take" = drop ] || words="$words$(quoted "$word")"
    take=""
    continue
  fi
  case "$word" in
    -I | -D | -U | -isystem | -iquote | -include | -imacros) words="$words $word" take=keep ;;
    -o | -MF | -MT) take=drop ;;
    -I* | -D* | -U* | -std=*) words="$words$(quoted "$word")" ;;
    -isystem=*) words="$words -isystem$(quoted "${word#-isystem=}")" ;;
    *.cu) input="$word" ;;
  esac
done
)x";
  const std::string line = "echo \"#\\$ g++ -E -x c++ " + more + " $words \\\"$input\\\" -o \\\"x";
  if (device) {
    out << "echo \"#\\$ g++ -D__CUDA_ARCH__=900 -E -x c++ " << more
        << " $words \\\"$input\\\" -o \\\"x.cpp1.ii\\\"\" >&2\n";
  }
  out << line << ".cpp4.ii\\\"\" >&2\n";
  out.close();
  ::chmod(path.c_str(), 0755);
}

}  // namespace cupilot::test
