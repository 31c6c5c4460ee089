# source_bench: how long a source takes to be read, and a candidate of its tunables to be made of it.
add_executable(source_bench source_bench.cc)
target_link_libraries(source_bench PRIVATE cupilot_settings cupilot_warnings cupilot::source_analysis)
set_target_properties(source_bench PROPERTIES UNITY_BUILD OFF)
