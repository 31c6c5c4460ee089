# report_bench: how long a browser takes to open a report of 5,000 variants, and the part of their kernel.
if(CUPILOT_PYTHON)
  add_custom_target(report_bench
    COMMAND "${CUPILOT_PYTHON}" "${CMAKE_CURRENT_LIST_DIR}/report_bench.py" "$<TARGET_FILE:report_page>"
    DEPENDS report_page USES_TERMINAL VERBATIM)
endif()
