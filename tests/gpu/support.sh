# What the tests of tests/gpu share. A test is a folder with an executable `test` and, where it compiles, an
# executable `prepare`; one of the first lines of each may be "# seconds: N", its time limit (60 without it).
#
# A script finds: NVCC (may be empty), GPU_ARCH (90), GPU_NAME, CUPILOT_PREFIX and CUPILOT_TOOLS (may be empty),
# CUPILOT_WORK (its own folder, also the current one, shared by prepare and test), CUPILOT_OUT (comes back), ROOT
# (the checkout), SECONDS_LIMIT, and XDG and TMPDIR folders of its own. Exit 0: passed. 77: skipped, and the last line
# printed says why. Else failed; the last line printed is the detail.
#
#   row NAME passed|failed|skipped [DETAIL] [FIGURES]   adds a row to the report, with the seconds since the last one;
#                                                       FIGURES is a JSON object
#   PROGRAM | rows                                      adds the rows that a program prints (report_row.h), as they come
#   at_most COUNT                                       waits until fewer background jobs of this script run

json_string() {
  local text=$1
  text=${text//\\/\\\\}
  text=${text//\"/\\\"}
  text=${text//$'\n'/\\n}
  text=${text//$'\t'/ }
  printf '"%s"' "$(printf '%s' "$text" | LC_ALL=C tr -d '\000-\037')"
}

ROW_BEGAN=$SECONDS
row() {
  printf '{"name": %s, "result": "%s", "seconds": %d, "detail": %s%s}\n' "$(json_string "$1")" "$2" \
    $((SECONDS - ROW_BEGAN)) "$(json_string "${3:-}")" "${4:+, \"figures\": $4}" >>"$CUPILOT_RESULTS"
  ROW_BEGAN=$SECONDS
  printf '%-8s %s  %s %s\n' "$2" "$1" "${3:-}" "${4:-}"
}

rows() {
  local name result figures detail
  while IFS=$'\t' read -r name result figures detail; do row "$name" "$result" "$detail" "$figures"; done
}

at_most() { while [ "$(jobs -rp | wc -l)" -ge "$1" ]; do wait -n; done; }

skip() {
  echo "$*"
  exit 77
}

fail() {
  echo "$*"
  exit 1
}
