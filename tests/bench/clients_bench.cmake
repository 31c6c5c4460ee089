# clients_bench: what many clients at once wait for a reply, also while kernels are tuned, and beside clients that behave badly.
cupilot_program(clients_bench SOURCES clients_bench.cc
  LINK cupilot::client cupilot::test_project cupilot::test_support)
target_compile_definitions(clients_bench PRIVATE
  CUPILOT_BENCH_DAEMON="$<TARGET_FILE:cupilotd>" CUPILOT_BENCH_NVCC="$<TARGET_FILE:cupilot-nvcc>")
add_dependencies(clients_bench cupilotd cupilot-worker cupilot-nvcc)
