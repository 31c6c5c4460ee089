# search_bench: ways of searching (numbers, mechanical, with models) compared from their recordings in tests/data/search, or live.
cupilot_library(search_arms SOURCES search/arms.cc search/curves.cc search/options.cc search/recorded.cc search/recording.cc search/run_arm.cc
  LINK cupilot::service cupilot::agents_roles cupilot::cache cupilot::evaluate cupilot::search cupilot::loop cupilot::records PRIVATE_LINK dep_zstd)
cupilot_program(search_bench SOURCES search/search_bench.cc search/compare.cc search/live.cc "${PROJECT_SOURCE_DIR}/daemon/model_providers.cc"
  "${PROJECT_SOURCE_DIR}/daemon/parts.cc" LINK cupilot::search_arms cupilot::agents_http cupilot::log)
target_compile_definitions(search_bench PRIVATE CUPILOT_BENCH_ROOT="${PROJECT_SOURCE_DIR}")
add_dependencies(search_bench cupilot-worker cupilot_host_toolkit)
cupilot_unit_test(search_bench_test FOLDER "${CMAKE_CURRENT_SOURCE_DIR}/search"
  LINK cupilot::search_arms cupilot::test_project cupilot::test_support)
target_compile_definitions(search_bench_test PRIVATE CUPILOT_BENCH_RECORDINGS="${PROJECT_SOURCE_DIR}/tests/data/search")
