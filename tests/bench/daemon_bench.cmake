# daemon_bench: start of the daemon, requests, the store, memory and processor time while idle.
cupilot_program(daemon_bench SOURCES daemon_bench.cc
  LINK cupilot::client cupilot::cache cupilot::test_project cupilot::test_support)
target_compile_definitions(daemon_bench PRIVATE
  CUPILOT_BENCH_DAEMON="$<TARGET_FILE:cupilotd>" CUPILOT_BENCH_NVCC="$<TARGET_FILE:cupilot-nvcc>"
  CUPILOT_BENCH_KERNEL="${PROJECT_SOURCE_DIR}/tests/integration/retune/project/main.cu")
add_dependencies(daemon_bench cupilotd cupilot-worker cupilot-nvcc)
