# daemon_bench: start of the daemon, requests, the store, memory and processor time while idle.
cupilot_program(daemon_bench SOURCES daemon_bench.cc
  LINK cupilot::client cupilot::cache cupilot::test_support)
target_compile_definitions(daemon_bench PRIVATE CUPILOT_BENCH_DAEMON="$<TARGET_FILE:cupilotd>")
add_dependencies(daemon_bench cupilotd)
