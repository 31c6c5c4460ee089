# swap_bench [--nvcc COMPILER]: launcher, its check after an edit, no-op build, swapped compile, launches of tuned kernels.
cupilot_program(swap_bench SOURCES swap_bench.cc LINK cupilot::swap)
target_compile_definitions(swap_bench PRIVATE
  CUPILOT_BENCH_LAUNCHER="$<TARGET_FILE:cupilot-launcher>" CUPILOT_BENCH_NVCC="$<TARGET_FILE:cupilot-nvcc>"
  CUPILOT_BENCH_MODULE="${PROJECT_SOURCE_DIR}/cmake_module/CuPilot.cmake"
  CUPILOT_BENCH_LAUNCHES="${PROJECT_SOURCE_DIR}/tests/gpu/launches/launches.cu")
add_dependencies(swap_bench cupilot-launcher cupilot-nvcc cupilot_host_toolkit)
