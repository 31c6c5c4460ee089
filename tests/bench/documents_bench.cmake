# documents_bench: what the daemon's loop spends on each kind of question about a kernel.
cupilot_program(documents_bench SOURCES documents_bench.cc
  LINK cupilot::service cupilot::test_project cupilot::test_support GTest::gmock)
