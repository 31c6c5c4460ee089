# spaces_record: the kernels of spaces/ at points of their spaces; spaces/run leads it on a machine with a GPU. The parser of
# tags by itself: its library links clang.
add_executable(spaces_record spaces/record.cc spaces/benchmark.cc spaces/builder.cc spaces/open_device.cc
  spaces/references.cc "${PROJECT_SOURCE_DIR}/daemon/source/tag_parser.cc")
target_link_libraries(spaces_record PRIVATE cupilot_settings cupilot_warnings cupilot::search cupilot::device
  dep_cli11 -Wl,--whole-archive cupilot_host_runtime -Wl,--no-whole-archive)
target_compile_definitions(spaces_record PRIVATE CUPILOT_BENCH_SPACES="${CMAKE_CURRENT_SOURCE_DIR}/spaces")
set_target_properties(spaces_record PROPERTIES ENABLE_EXPORTS ON UNITY_BUILD OFF)
cupilot_optimise(spaces_record)
add_dependencies(spaces_record cupilot-nvcc cupilot_host_toolkit)

# What they compute, at a few points of each space, on the host device; and, where there is an nvcc, whether they compile for
# GPUs.
set(host_nvcc "${PROJECT_BINARY_DIR}/${CUPILOT_HOST_TOOLKIT_DIR}/bin/nvcc")
find_program(CUPILOT_NVCC_FOR_SPACES nvcc PATHS /usr/local/cuda/bin)
foreach(kernel IN ITEMS convolution pnpoly gemm dedispersion hotspot nbody reduction transpose)
  set(options --check --processes 2 --work "${CMAKE_CURRENT_BINARY_DIR}/spaces/${kernel}")
  if(NOT CUPILOT_SANITIZE)  # what it loads is not built with the sanitizer's runtime
    add_test(NAME spaces_${kernel} COMMAND spaces_record ${kernel} --small --device host --compiler "${host_nvcc}"
      --sample 4 ${options}/host)
    set_tests_properties(spaces_${kernel} PROPERTIES LABELS integration TIMEOUT 600)
  endif()
  if(CUPILOT_NVCC_FOR_SPACES)
    foreach(architecture IN ITEMS sm_80 sm_90)
      add_test(NAME spaces_${kernel}_${architecture} COMMAND spaces_record ${kernel} --device none
        --compiler "${CUPILOT_NVCC_FOR_SPACES}" --architecture ${architecture} --sample 12
        ${options}/${architecture})
      set_tests_properties(spaces_${kernel}_${architecture} PROPERTIES LABELS long TIMEOUT 900)
    endforeach()
  endif()
endforeach()
if(NOT CUPILOT_SANITIZE)
  add_test(NAME spaces_run COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/spaces/run" --prefix "${PROJECT_BINARY_DIR}"
    --record "$<TARGET_FILE:spaces_record>" --device host --kernels transpose --record-for 2 --serial-for 2 --tune-for 0
    --out "${CMAKE_CURRENT_BINARY_DIR}/spaces/run")
  set_tests_properties(spaces_run PROPERTIES LABELS integration TIMEOUT 600
    PASS_REGULAR_EXPRESSION "transpose serial .* 0 failed.*transpose best known [0-9.]+ us")
endif()
