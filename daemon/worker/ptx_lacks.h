// What code surely does not use, by its PTX, so that nobody looks for its misuse.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cupilot::worker {

// Of "shared_memory" and "synchronisation" (barriers of blocks, warps and memory, and operations of
// a warp, all of whose names have one of a few parts: PTX ISA 9.0, 9.7.13) what no part of the text
// speaks of, comments and what is not called included: it says too little rather than too much.
// Nothing is known of an empty text. Pure; any text may come.
std::vector<std::string> LacksOf(std::string_view ptx);

}  // namespace cupilot::worker
