# cupilot-nvcc is the compiler of the host toolkit: bin/nvcc there is this program.
cupilot_library(nvcc
  SOURCES nvcc/architecture.cc nvcc/architecture_branches.cc nvcc/command_line.cc nvcc/driver.cc nvcc/missing.cc nvcc/variant_object.cc nvcc/variant_words.cc
  LINK cupilot::base cupilot::source_analysis cupilot::source_lower cupilot::source_syntax)
set_source_files_properties(nvcc/driver.cc PROPERTIES COMPILE_DEFINITIONS
  "CUPILOT_VERSION=\"${PROJECT_VERSION}\"")
cupilot_program(cupilot-nvcc SOURCES nvcc.cc LINK cupilot::nvcc)
set_target_properties(cupilot-nvcc PROPERTIES OUTPUT_NAME nvcc
  RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${CUPILOT_HOST_TOOLKIT_DIR}/bin")
install(TARGETS cupilot-nvcc DESTINATION "${CUPILOT_HOST_TOOLKIT_DIR}/bin")
