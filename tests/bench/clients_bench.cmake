# clients_bench: what many clients at once wait for a reply, alone and beside clients that behave badly.
cupilot_program(clients_bench SOURCES clients_bench.cc LINK cupilot::client cupilot::test_support)
target_compile_definitions(clients_bench PRIVATE CUPILOT_BENCH_DAEMON="$<TARGET_FILE:cupilotd>")
add_dependencies(clients_bench cupilotd)
