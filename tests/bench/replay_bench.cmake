# replay_bench: strategies against random search and those of the literature, on measured spaces.
cupilot_program(replay_bench SOURCES replay_bench.cc LINK cupilot::made_up cupilot::rival_strategies dep_eigen cupilot::search cupilot::base)
