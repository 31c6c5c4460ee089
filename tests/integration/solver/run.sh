#!/usr/bin/env bash
# run.sh NVCC TOOLKIT SOURCE_FOLDER FOLDER
set -euo pipefail
nvcc=$1 toolkit=$2 source_folder=$3 folder=$4
fail() { echo "FAILED: $*" >&2; exit 1; }

rm -rf "$folder"
mkdir -p "$folder"
# CMake alone does not find the libraries of a toolkit whose folder has a blank in its name (and no package mends that here).
if [[ $toolkit == *" "* ]]; then
  links=$(mktemp -d)
  trap 'rm -r "$links"' EXIT
  ln -s "$toolkit" "$links/toolkit"
  export CUPILOT_HOST_TOOLKIT=$links/toolkit
fi
env -u CUDAARCHS -u CUDAFLAGS CUDACXX="$nvcc" cmake -S "$source_folder" -B "$folder/build" \
  -DCMAKE_DISABLE_FIND_PACKAGE_CuPilot=ON > "$folder/configure.log" 2>&1 ||
  { cat "$folder/configure.log"; fail "configuring"; }
cmake --build "$folder/build" -j2 > "$folder/build.log" 2>&1 || { cat "$folder/build.log"; fail "build"; }
! grep -i "warning:" "$folder/build.log" || fail "building warns"
solver="$folder/build/solver"

# ends CODE TEXT ARGUMENTS...: it ends so and says so.
ends() {
  local code=0 output
  output=$("$solver" "${@:3}" 2>&1) || code=$?
  [ "$code" = "$1" ] || fail "solver ${*:3} ended with $code, not $1: $output"
  grep -qF -- "$2" <<<"$output" || fail "solver ${*:3} does not say '$2': $output"
}

# Second order, and a residual that each cycle shrinks.
ends 0 "check: ok" --check

# The same simulation gives the same bits; another one differs by more than the tolerance, and by less
# than a larger one.
small=(--size 32 --steps 4)
ends 0 "checksum" "${small[@]}" --output "$folder/four.raw"
[ "$(stat -c %s "$folder/four.raw")" = $((3 * 32 * 32 * 4)) ] || fail "the size of four.raw"
ends 0 "u        differs by 0.000e+00" "${small[@]}" --compare "$folder/four.raw" --tolerance 0
ends 1 "more than the tolerance" --size 32 --steps 5 --compare "$folder/four.raw"
ends 1 "more than the tolerance" "${small[@]}" --cycles 3 --compare "$folder/four.raw" --tolerance 1e-9
ends 0 "differs by" "${small[@]}" --cycles 3 --compare "$folder/four.raw" --tolerance 0.1
ends 0 "norm" "${small[@]}" --precision double --output "$folder/double.raw"
ends 3 "another size or precision wrote" "${small[@]}" --compare "$folder/double.raw"
ends 3 "cannot read" "${small[@]}" --compare "$folder/missing.raw"
ends 3 "cannot write" "${small[@]}" --output "$folder/missing/four.raw"

# What is wrong with a command line.
ends 0 "usage: solver" --help
ends 2 "there is no option '--sise'" --sise 32
ends 2 "--size needs a value" --size
ends 2 "--size takes a power of two, not '48'" --size 48
ends 2 "--size takes a number from 32 to 8192, not '16'" --size 16
ends 2 "--steps takes a whole number, not '1.5'" --steps 1.5
ends 2 "--steps takes a number from 1 to 1e+06, not '4x'" --steps 4x
ends 2 "--tolerance takes a number from 0 to 1, not 'nan'" --tolerance nan
ends 2 "--precision takes float or double, not 'half'" --precision half
ends 2 "--check takes no other options" --check --size 32
echo "ok"
