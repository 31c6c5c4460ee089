# For tests that compile swapped sources: swapped NAME OPTIONS CASE... makes the program $CUPILOT_WORK/NAME.
. "$CUPILOT_GPU_SUPPORT"
CASES=${CUPILOT_TOOLS:-}/swap_cases

need_compiler() {
  [ -n "$NVCC" ] || skip "there is no nvcc: set CUDACXX, or put it on PATH"
  [ -x "$CASES" ] || skip "--tools names no folder with swap_cases (cmake --build BUILD --target gpu_tools)"
}

# swapped NAME "NVCC OPTIONS" SOURCE CASE OPTIONS...: e.g. swapped native "-arch=sm_90" a.cu behaviour --target compute_90,sm_90
swapped() {
  local name=$1 options=$2 source=$3 said file
  shift 3
  said=$("$CASES" "$@" --source "$source" --out "$CUPILOT_WORK/$name.sources") || return 1
  file=${said%%$'\n'*}
  # shellcheck disable=SC2086
  "$NVCC" -std=c++17 -O3 $options "$file" ${said:${#file}} -o "$CUPILOT_WORK/$name"
}

# compile NAME COMMAND... starts it; compiled waits for all, and fails with what the compiler said.
JOBS=()
compile() {
  local name=$1
  shift
  at_most "$(nproc)"
  ("$@" >"$CUPILOT_WORK/$name.txt" 2>&1; echo $? >"$CUPILOT_WORK/$name.status") &
  JOBS+=("$name")
}
compiled() {
  local name status=0
  wait
  for name in "${JOBS[@]}"; do
    [ "$(cat "$CUPILOT_WORK/$name.status")" = 0 ] && continue
    echo "$name does not compile:"
    cat "$CUPILOT_WORK/$name.txt"
    status=1
  done
  [ "$status" -eq 0 ] || fail "not all programs compile: $(cd "$CUPILOT_WORK" && grep -Lx 0 ./*.status | tr '\n' ' ')"
}
