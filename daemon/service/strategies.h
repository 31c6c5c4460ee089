// The strategy pool as the daemon's documents show it (the verbs "strategies_...",
// protocol/PROTOCOL.md).
#pragma once

#include <string>

#include "records/json.h"

namespace cupilot::service {

class Service;

// cupilot.strategies_list/1.
base::Result<records::Json> StrategiesDocument(Service& service);
// cupilot.pool_entry/1: the entry of this id, or of the only one that begins so. kNotFound, and
// kInvalidArgument where several do.
base::Result<records::Json> StrategyDocument(Service& service, const std::string& id);
// cupilot.strategies_exported/1: what is in the store, in a file of `reply_folder`, without names
// of kernels if not `names`.
base::Result<records::Json> ExportStrategies(Service& service, bool names,
                                             const std::string& reply_folder);
// cupilot.strategies_imported/1: takes the entries of a file (cupilot.strategies/1) as proposals.
// Errors name the file and the key.
base::Result<records::Json> ImportStrategies(Service& service, const std::string& path);

}  // namespace cupilot::service
