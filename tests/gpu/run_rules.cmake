# What `run` makes of tests that pass, fail, skip, hang and cannot be prepared, on a machine whose nvidia-smi is a
# script. -DRUN= the program, -DWORK= a folder that is ours.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE "${WORK}")

function(script path)
  string(JOIN "\n" text "#!/usr/bin/env bash" ${ARGN} "")
  file(WRITE "${WORK}/${path}" "${text}")
  file(CHMOD "${WORK}/${path}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

function(expect what found expected)
  if(NOT "${found}" STREQUAL "${expected}")
    message(SEND_ERROR "${what}: '${expected}' expected, found '${found}'")
  endif()
endfunction()

# The report's row of this name.
function(row_of report name out)
  string(JSON count LENGTH "${report}" tests)
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    string(JSON found GET "${report}" tests ${i} name)
    if(found STREQUAL name)
      string(JSON row GET "${report}" tests ${i})
      set(${out} "${row}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(SEND_ERROR "there is no row '${name}' in ${report}")
  set(${out} "{}" PARENT_SCOPE)
endfunction()

function(expect_row report name result detail)
  row_of("${report}" "${name}" row)
  string(JSON found ERROR_VARIABLE error GET "${row}" result)
  expect("${name}" "${found}" "${result}")
  string(JSON found ERROR_VARIABLE error GET "${row}" detail)
  if(NOT "${found}" MATCHES "${detail}")
    message(SEND_ERROR "${name}: the detail '${found}' does not match '${detail}'")
  endif()
endfunction()

function(run_all out_status out_report)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env "PATH=${WORK}/bin:/usr/bin:/bin" ${ARGN}
      "${RUN}" --tests "${WORK}/tests" --out "${WORK}/out"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  file(READ "${WORK}/out/report.json" report)
  string(JSON schema GET "${report}" schema)
  expect("schema" "${schema}" "cupilot.gpu_tests/1")
  set(${out_status} "${status}" PARENT_SCOPE)
  set(${out_report} "${report}" PARENT_SCOPE)
endfunction()

# Without a GPU: exit 0 and the reason.
script(tests/passes/test "exit 0")
script(bin/nvidia-smi "echo 'No devices were found'" "exit 6")
run_all(status report)
expect("no GPU: exit" "${status}" 0)
string(JSON result GET "${report}" result)
string(JSON reason GET "${report}" reason)
expect("no GPU: result" "${result}" "skipped")
expect("no GPU: reason" "${reason}" "no GPU here: nvidia-smi says: No devices were found")

# With one.
script(bin/nvidia-smi "echo 'NVIDIA Fake, 9.0, 580.1'" "echo 'NVIDIA Other, 8.0, 580.1'")
script(tests/passes/prepare "echo made > made")
script(tests/passes/test ". \"$CUPILOT_GPU_SUPPORT\"" "[ \"$(cat made)\" = made ] || fail 'not prepared'"
  "[ \"$GPU_ARCH $GPU_NAME\" = '90 NVIDIA Fake' ] || fail \"$GPU_ARCH $GPU_NAME\""
  "row 'a \"figure\"' passed 'one\\two' '{\"ns\": 3.5}'")
run_all(status report)
expect("one that passes: exit" "${status}" 0)
expect_row("${report}" passes passed "^$")
row_of("${report}" "a \"figure\"" row)
string(JSON found GET "${row}" figures ns)
expect("figures" "${found}" "3.5")
string(JSON found GET "${row}" detail)
expect("detail" "${found}" "one\\two")
string(JSON found GET "${report}" architecture)
expect("architecture" "${found}" "sm_90")

script(tests/fails/test "echo 'line 1'" "echo 'it is \"wrong\"'" "exit 3")
script(tests/skips/test ". \"$CUPILOT_GPU_SUPPORT\"" "skip 'nothing to see'")
script(tests/hangs/test "# seconds: 1" "echo begun" "exec tail -f /dev/null")
script(tests/unprepared/prepare "echo 'does not compile'" "exit 1")
script(tests/unprepared/test "exit 0")
script(tests/unready/prepare "echo 'no compiler'" "exit 77")
script(tests/unready/test "exit 1")
script(tests/rows/test ". \"$CUPILOT_GPU_SUPPORT\"" "row one failed 'off by one'" "row two skipped later")
file(WRITE "${WORK}/tests/no_test/readme" "not a test")
run_all(status report)
expect("some fail: exit" "${status}" 1)
string(JSON result GET "${report}" result)
expect("some fail: result" "${result}" "failed")
expect_row("${report}" passes passed "^$")
expect_row("${report}" fails failed "^it is \"wrong\"$")
expect_row("${report}" skips skipped "^nothing to see$")
expect_row("${report}" hangs failed "^stopped after 1 s; last line: begun$")
expect_row("${report}" unprepared.prepare failed "^does not compile$")
expect_row("${report}" unprepared passed "^$")
expect_row("${report}" unready skipped "^no compiler$")
expect_row("${report}" one failed "^off by one$")
expect_row("${report}" two skipped "^later$")
expect_row("${report}" rows failed "^see its rows$")
string(JSON count LENGTH "${report}" tests)
expect("rows" "${count}" 11)

# Rows are in the report while their test still runs, and a test that takes what is left comes last.
file(REMOVE_RECURSE "${WORK}/tests")
script(tests/early/test "# seconds: rest" ". \"$CUPILOT_GPU_SUPPORT\""
  "[ -e \"$CUPILOT_OUT/was_there\" ] || fail 'it does not come last'"
  "[ \"$SECONDS_LIMIT\" -gt 60 ] || fail \"$SECONDS_LIMIT s are not what is left\"")
script(tests/shows/test ". \"$CUPILOT_GPU_SUPPORT\"" "printf 'said\tpassed\t{\"ns\": 2}\tand more\\n' | rows"
  "until grep -q '\"said\"' \"$CUPILOT_OUT/report.json\"; do sleep 0.1; done"
  "grep -q \"cut off while 'shows' ran\" \"$CUPILOT_OUT/report.json\" || fail 'it seems to be complete'"
  "touch \"$CUPILOT_OUT/was_there\"")
run_all(status report)
expect("rows as they come: exit" "${status}" 0)
expect_row("${report}" said passed "^and more$")
expect_row("${report}" shows passed "^$")
expect_row("${report}" early passed "^$")
string(JSON reason GET "${report}" reason)
expect("a complete report" "${reason}" "")

# The whole has a limit, too.
script(tests/passes/test "exit 0")
run_all(status report CUPILOT_GPU_SECONDS=4)
expect_row("${report}" passes failed "^not run: the whole may take 4 s$")
