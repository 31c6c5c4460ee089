# streams_bench: how late the loop is under many slow streams.
cupilot_program(streams_bench SOURCES streams_bench.cc
  LINK cupilot::agents_http cupilot::mock_http)
