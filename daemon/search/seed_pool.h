// The entries that cuPilot ships: what is published about optimising kernels, in our words, each
// with its source (seed_pool.json, built into the program). Gains are those that the source states.
#pragma once

#include <vector>

#include "records/pool_entry.h"

namespace cupilot::search {

// Read once; any thread.
const std::vector<records::PoolEntry>& SeedPool();

}  // namespace cupilot::search
