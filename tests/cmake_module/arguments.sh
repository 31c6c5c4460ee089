# Wrong arguments say what is wrong; right ones are written to project.json. Compiles nothing.
. "$CASE_DIR/support.sh"

project() { # TEXT
  rm -rf "$SOURCE" "$BUILD"
  mkdir -p "$SOURCE/sub"
  echo 'int main() {}' >"$SOURCE/main.cpp"
  {
    echo 'cmake_minimum_required(VERSION 3.25)'
    echo 'project(user LANGUAGES NONE)'
    echo 'find_package(CuPilot QUIET REQUIRED)'
    echo 'add_library(interface INTERFACE)'
    echo 'add_library(shared_name ALIAS interface)'
    printf '%s\n' "$1"
  } >"$SOURCE/CMakeLists.txt"
  printf '%s\n' "${2:-}" >"$SOURCE/sub/CMakeLists.txt"
}
run_cmake() { cmake -S "$SOURCE" -B "$BUILD" -G "$GENERATOR" -DCMAKE_PREFIX_PATH="$PREFIX" >"$LOG" 2>&1; }
expect_error() { # CALL TEXT
  project "add_library(app OBJECT main.cpp)
set_target_properties(app PROPERTIES LINKER_LANGUAGE CXX)
$1"
  if run_cmake; then fail "'$1' was accepted"; fi
  grep -qF "$2" <<<"$(tr '\n' ' ' <"$LOG" | tr -s ' ')" || fail "'$1' should say: $2"
}

expect_error 'cupilot_tune(nothing)' "there is no target 'nothing'"
expect_error 'cupilot_tune(shared_name)' "is an alias; name the target itself: interface"
expect_error 'cupilot_tune(interface)' "compiles nothing (INTERFACE_LIBRARY)"
expect_error 'cupilot_tune(app KERNEL blur)' "unknown argument 'KERNEL blur' for app"
expect_error 'cupilot_tune(app APPLY always)' "APPLY is 'always' for app; it must be auto or manual"
expect_error 'cupilot_tune(app NUMERICS exact)' "it must be close or bitwise"
expect_error 'cupilot_tune(app GRAPHS all)' "GRAPHS is 'all' for app; it must be original or tuned"
expect_error 'cupilot_tune(app LOCK)' "LOCK has no value for app"
expect_error 'cupilot_tune(app)
cupilot_tune(app)' "'app' is tuned twice"
expect_error 'cupilot_tune(app APPLY always)' "usage: cupilot_tune(TARGET"
expect_error 'cupilot_capture_test()' "NAME and COMMAND are missing"
expect_error 'cupilot_capture_test(COMMAND app)' "NAME is missing"
expect_error 'cupilot_capture_test(NAME run)' "COMMAND is missing for 'run'"
expect_error 'cupilot_capture_test(NAME run COMMAND)' "COMMAND is missing for 'run'"
expect_error 'cupilot_capture_test(NAME run COMMANDS app)' "unknown argument 'COMMANDS'"
expect_error 'cupilot_capture_test(NAME run NAME again COMMAND app)' "NAME is given twice"
expect_error 'cupilot_capture_test(NAME "a;b" COMMAND app)' "must have no semicolon"
expect_error 'cupilot_capture_test(NAME run COMMAND app "a
b")' "a word of the command of 'run' has a line break"
expect_error 'cupilot_capture_test(NAME run COMMAND app)
cupilot_capture_test(NAME run COMMAND app)' "'run' is given twice"
expect_error 'cupilot_capture_test(NAME run TARGETS app COMMAND app)' "'app' is not tuned; call cupilot_tune(app)"
expect_error 'cupilot_tune(app CAPTURE_TEST one)
cupilot_capture_test(NAME two TARGETS app COMMAND app)' "'app' is captured by 'one' already"
expect_error 'cupilot_capture_test()' "usage: cupilot_capture_test(NAME name"
expect_error 'cupilot_enable_cuda(host)' "takes no arguments, found 'host'"
CUPILOT_DEVICE=gpu expect_error 'cupilot_enable_cuda()' "CUPILOT_DEVICE is 'gpu'; it must be cuda or host"

say "the compiler is nvcc where that is asked for or there is a GPU, else the host device's"
mkdir -p "$WORK/toolkit/bin" "$WORK/host/bin"
printf '#!/bin/sh\n' | tee "$WORK/toolkit/bin/nvcc" >"$WORK/host/bin/nvcc"
chmod +x "$WORK/toolkit/bin/nvcc" "$WORK/host/bin/nvcc"
chosen() { # DEVICE: what is chosen with both there
  project '_cupilot_choose_compiler()
message(STATUS "chosen: ${CMAKE_CUDA_COMPILER}")'
  CUDACXX='' CUDA_PATH=$WORK/toolkit CUPILOT_HOST_TOOLKIT=$WORK/host CUPILOT_DEVICE=$1 run_cmake || fail "CUPILOT_DEVICE=$1"
  sed -n 's/^-- chosen: //p' "$LOG"
}
[ "$(chosen cuda)" = "$WORK/toolkit/bin/nvcc" ] || fail "CUPILOT_DEVICE=cuda: $(chosen cuda)"
[ "$(chosen host)" = "$WORK/host/bin/nvcc" ] || fail "CUPILOT_DEVICE=host: $(chosen host)"
expected=$WORK/host/bin/nvcc
if [ -e /dev/nvidiactl ] || [ -e /dev/dxg ]; then expected=$WORK/toolkit/bin/nvcc; fi
[ "$(chosen '')" = "$expected" ] || fail "without CUPILOT_DEVICE: $(chosen '')"

say "GRAPHS tuned is for the CUDA sources of its target"
project 'foreach(graphs IN ITEMS original tuned)
  add_library(${graphs} OBJECT main.cpp)
  set_target_properties(${graphs} PROPERTIES LINKER_LANGUAGE CXX)
  cupilot_tune(${graphs} GRAPHS ${graphs})
  get_target_property(definitions ${graphs} COMPILE_DEFINITIONS)
  message(STATUS "${graphs}: ${definitions}")
endforeach()'
run_cmake || fail "GRAPHS"
grep -qxF -- '-- original: definitions-NOTFOUND' "$LOG" || fail "GRAPHS original: $(cat "$LOG")"
grep -qxF -- '-- tuned: $<$<COMPILE_LANGUAGE:CUDA>:CUPILOT_TUNED_GRAPHS>' "$LOG" || fail "GRAPHS tuned: $(cat "$LOG")"

say "all calls of a project are in one file, and the tree is registered"
two='add_library(first OBJECT main.cpp)
cupilot_tune(first KERNELS image::blur edge LOCK cupilot.lock NUMERICS bitwise CAPTURE_TEST run)
add_subdirectory(sub)'
sub='add_library(second OBJECT ../main.cpp)
cupilot_tune(second)'
language='set_property(GLOBAL PROPERTY unused 1)'
project "$two
$language" "$sub"
sed -i 's/LANGUAGES NONE/LANGUAGES CXX/' "$SOURCE/CMakeLists.txt"
run_cmake || fail "two targets"
json=$BUILD/cupilot/project.json
has() { grep -qF "$1" "$json" || fail "project.json lacks $1: $(cat "$json")"; }
has '"schema": "cupilot.project/1"'
has "\"source_folder\": \"$SOURCE\""
has "\"build_folder\": \"$BUILD\""
has '{"name": "first", "kernels": ["image::blur", "edge"], "apply": "auto", "numerics": "bitwise", "lock": "'"$SOURCE"'/cupilot.lock", "capture_test": "run"}'
has '{"name": "second", "kernels": [], "apply": "auto", "numerics": "close", "capture_test": ""}'
grep -qF "\"build_folder\":\"$BUILD\"" "$XDG_STATE_HOME"/cupilot/projects/*.json || fail "not registered"
[ "$(stat -c %a "$XDG_STATE_HOME/cupilot")" = 700 ] || fail "the state folder is open to others"
before=$(stat -c %Y.%i "$json")
run_cmake || fail "again"
[ "$before" = "$(stat -c %Y.%i "$json")" ] || fail "project.json was written again"
CI=1 run_cmake || fail "CI"
has '"name": "second", "kernels": [], "apply": "manual"'

say "a CTest test is run by the ctest of this CMake, if there are tests"
has '"ctest": ""'
has '"capture_tests": []'
grep -qF "first is not captured: testing is not enabled, so there is no test 'run'" "$LOG" || fail "nothing said of tests"
printf 'enable_testing()\n' >>"$SOURCE/CMakeLists.txt"
touch -d '1 minute ago' "$BUILD/cupilot/configured"
configured=$(stat -c %y "$BUILD/cupilot/configured")
run_cmake || fail "with tests"
has "\"ctest\": \"$(readlink -f "$(command -v cmake)" | sed 's,cmake$,ctest,')\""
if grep -qF "is not captured" "$LOG"; then fail "there are tests: $(cat "$LOG")"; fi
[ "$configured" != "$(stat -c %y "$BUILD/cupilot/configured")" ] || fail "when it was configured is not known"

say "a capture test is a command of any words, and an executable's name is its program"
words() { # NAME: the file with its command
  cat "$(sed -n 's/.*"name": "'"$1"'", "command_file": "\([^"]*\)".*/\1/p' "$json")"
}
project 'set(separator unused)
add_executable(tool main.cpp)
cupilot_tune(tool CAPTURE_TEST shown)
add_library(other OBJECT main.cpp)
cupilot_tune(other)
add_subdirectory(sub)
cupilot_capture_test(NAME shown COMMAND tool "a;b" "q\"u\\o" "" NAME $<CONFIG> "$<1:x,y>" [[${CMAKE_VERSION}]])' \
  'cupilot_capture_test(NAME "its own (1)" TARGETS other WORKING_DIRECTORY data COMMAND sh run.sh $<TARGET_FILE:tool>)'
sed -i 's/LANGUAGES NONE/LANGUAGES CXX/' "$SOURCE/CMakeLists.txt"
cmake -S "$SOURCE" -B "$BUILD" -G "$GENERATOR" -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_BUILD_TYPE=Release >"$LOG" 2>&1 ||
  fail "capture tests"
has '{"name": "tool", "kernels": [], "apply": "auto", "numerics": "close", "capture_test": "shown"}'
has '{"name": "other", "kernels": [], "apply": "auto", "numerics": "close", "capture_test": "its own (1)"}'
has '"configuration": "Release"'
printf '%s\n' "$BUILD" "$BUILD/tool" 'a;b' 'q"u\o' '' NAME Release x,y '${CMAKE_VERSION}' >"$WORK/expected"
words shown | cmp - "$WORK/expected" || fail "the command is $(words shown)"
printf '%s\n' "$BUILD/sub/data" sh run.sh "$BUILD/tool" >"$WORK/expected"
words 'its own (1)' | cmp - "$WORK/expected" || fail "the command is $(words 'its own (1)')"
if grep -qF "is not captured" "$LOG"; then fail "no test of CTest's is named: $(cat "$LOG")"; fi
if [ "$GENERATOR" = Ninja ]; then  # of several configurations the file has the first one's command
  rm -rf "$BUILD"
  cmake -S "$SOURCE" -B "$BUILD" -G "Ninja Multi-Config" -DCMAKE_PREFIX_PATH="$PREFIX" >"$LOG" 2>&1 || fail "several configurations"
  has '"configuration": "Debug"'
  words shown | grep -qxF "$BUILD/Debug/tool" || fail "the command is $(words shown)"
  rm -rf "$BUILD"
fi

say "a project that asks for an older CMake, whose policies are older"
older="2.8.12 3.1"
[[ "$(cmake --version)" == "cmake version 3."* ]] || older="" # later ones refuse these
for version in $older 3.10; do
  project 'add_library(first OBJECT main.cpp)
cupilot_tune(first KERNELS blur LOCK cupilot.lock CAPTURE_TEST shown)
add_library(second OBJECT main.cpp)
cupilot_tune(second GRAPHS tuned)
set_target_properties(first second PROPERTIES LINKER_LANGUAGE CXX)
cupilot_capture_test(NAME shown TARGETS second COMMAND sh -c "exit 0")'
  sed -i "s/VERSION 3.25/VERSION $version/" "$SOURCE/CMakeLists.txt"
  run_cmake || fail "cmake_minimum_required(VERSION $version)"
  has '"name": "first", "kernels": ["blur"]'
  if grep -q 'Policy CMP' "$LOG"; then fail "with $version CMake warns of policies: $(cat "$LOG")"; fi
done

say "CUPILOT=0 registers nothing"
rm -rf "$XDG_STATE_HOME"
CUPILOT=0 run_cmake || fail "CUPILOT=0"
[ ! -e "$XDG_STATE_HOME" ] || fail "registered with CUPILOT=0"

say "the daemon is started detached, and only where nobody forbids it"
mkdir -p "$PREFIX/bin"
printf '#!/bin/sh\necho $$ >>"%s/started"\nexec sleep 60\n' "$WORK" >"$PREFIX/bin/cupilotd"
chmod +x "$PREFIX/bin/cupilotd"
mkfifo "$WORK/fifo"
CUPILOT=0 CUPILOT_NO_SPAWN= run_cmake
CI=1 CUPILOT_NO_SPAWN= run_cmake
[ ! -e "$WORK/started" ] || fail "started although CI or CUPILOT=0 is set"
printf '#!/bin/sh\nls /proc/$$/fd >"%s/descriptors"\necho $$ >"%s/fifo"\nexec sleep 60\n' "$WORK" "$WORK" >"$PREFIX/bin/cupilotd"
exec 7>"$WORK/held"  # as a build may have one open: a pipe to who waits for its end, say
CUPILOT_NO_SPAWN= run_cmake || fail "with a daemon"
exec 7>&-
read -r pid <"$WORK/fifo"
if grep -qx 7 "$WORK/descriptors"; then fail "the daemon holds a descriptor of the build's"; fi
grep -qx 2 "$WORK/descriptors" || fail "the daemon has no standard error"
# Of /proc/PID/stat, which is there without `ps`: state, parent, process group, session.
process() { sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f"$2"; }
[ "$(process "$pid" 2)" != "$$" ] || fail "the daemon is our child"
[ "$(process "$pid" 4)" != "$(process $$ 4)" ] || fail "same session"
kill "$pid"

say "a daemon that cannot start stops nobody"
echo 'not a program' >"$PREFIX/bin/cupilotd"
CUPILOT_NO_SPAWN= run_cmake || fail "a daemon that cannot start"

say "a state folder that cannot be used stops nobody and is recorded"
rm -rf "$XDG_STATE_HOME"
: >"$XDG_STATE_HOME"
run_cmake || fail "no state folder"
grep -q 'not registered' "$BUILD/cupilot/registration.log" || fail "not recorded"
