# numerics_bench: the table of the gate's rule on emulated kernels, with all seeds and sizes; a short form of it is a test.
cupilot_program(numerics_bench SOURCES numerics_bench.cc LINK cupilot::numerics_table)
add_test(NAME numerics_table COMMAND numerics_bench 4 20)
set_tests_properties(numerics_table PROPERTIES LABELS long TIMEOUT 1800)
