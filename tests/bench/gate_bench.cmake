# gate_bench: the red team's candidates with several seeds, on the host device or a GPU; gate/run leads it on a machine that
# has an unpacked archive and nothing else.
cupilot_program(gate_bench SOURCES gate/gate_bench.cc gate/gate_results.cc LINK cupilot::gate_runner dep_cli11)
target_compile_definitions(gate_bench PRIVATE CUPILOT_BENCH_GATE_DATA="${PROJECT_SOURCE_DIR}/tests/data/gate")
add_dependencies(gate_bench cupilot-worker cupilot-nvcc)
