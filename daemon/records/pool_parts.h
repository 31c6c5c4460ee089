// Reading of the strategy pool's structures, for reader.h's containers and for messages and records
// of other folders that hold them.
#pragma once

#include "records/kernel_features.h"
#include "records/pool_entry.h"
#include "records/read_parts.h"
#include "records/reader.h"

namespace cupilot::records {

void Read(const Json& json, const std::string& path, KernelFeatures& out, Reading& reading);
void Read(const Json& json, const std::string& path, PoolDevice& out, Reading& reading);
void Read(const Json& json, const std::string& path, PoolSource& out, Reading& reading);
void Read(const Json& json, const std::string& path, PoolGain& out, Reading& reading);
void Read(const Json& json, const std::string& path, PoolEntry& out, Reading& reading);
void Read(const Json& json, const std::string& path, PoolFile& out, Reading& reading);
Json ToJson(const PoolDevice& device);
Json ToJson(const PoolSource& source);
Json ToJson(const PoolGain& gain);

}  // namespace cupilot::records
