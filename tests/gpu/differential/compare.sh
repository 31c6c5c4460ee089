# compare NAME COUNT SEED: runs ./NAME with and without its variants, and compares what both wrote. Prints a line; in
# NAME.statistics what ran. Returns 0 where nothing differs.
compare() {
  local name=$1 count=$2 seed=$3
  CUPILOT_DISABLE=1 "./$name" "$name.original" "$count" "$seed" || return 2
  CUPILOT_STATS=1 "./$name" "$name.tuned" "$count" "$seed" 2>"$name.statistics" || return 2
  "./$name" --compare "$name.original" "$name.tuned"
}

# Whether every kernel of the program that has variants was launched inside their guards and outside.
all_kernels() {
  grep -q '^cupilot: diff::' "$1.statistics" &&
    ! grep -v '^cupilot: diff::.*: [1-9][0-9]* launches tuned, [1-9][0-9]* outside the guard$' "$1.statistics"
}
launches_tuned() { sed -n 's/^cupilot: .*: \([0-9]*\) launches tuned.*/\1/p' "$1.statistics" | paste -sd+ | sed 's/^$/0/'; }
