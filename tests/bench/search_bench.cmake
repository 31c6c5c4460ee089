# search_bench: ways of searching (numbers, mechanical, with models) compared from their recordings.
cupilot_library(search_curves SOURCES search/arms.cc search/curves.cc LINK cupilot::search cupilot::records)
cupilot_program(search_bench SOURCES search/search_bench.cc LINK cupilot::search_curves cupilot::base)
cupilot_unit_test(search_bench_test FOLDER "${CMAKE_CURRENT_SOURCE_DIR}/search" LINK cupilot::search_curves)
