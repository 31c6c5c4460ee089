#include "search/seed_pool.h"

#include "search/seed_pool_text.h"

namespace cupilot::search {

const std::vector<records::PoolEntry>& SeedPool() {
  static const auto& pool = *new std::vector<records::PoolEntry>([] {
    const auto json = records::ParseJson(kSeedPoolText);
    const auto file = json ? records::ParsePoolFile(*json) : base::Fail(json.error());
    // Of what is built in tests say that it can be read.
    return file ? file->entries : std::vector<records::PoolEntry>{};
  }());
  return pool;
}

}  // namespace cupilot::search
