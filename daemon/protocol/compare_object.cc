#include "protocol/compare_object.h"

#include <utility>

#include "records/reader.h"

namespace cupilot::protocol {

using records::Json;
using records::ObjectReader;
using records::Reading;
using records::Strictness;

// What the sandbox looks for (command, cache_folder) stands where it does in a build's request.
Json ToJson(const CompareObjectRequest& request) {
  Json json = ToJson(request.original);
  json["object"] = request.object;
  json["kernel"] = request.kernel;
  json["signature"] = request.signature;
  json["instance"] = request.instance;
  return json;
}

base::Result<CompareObjectRequest> ParseCompareObjectRequest(const Json& json) {
  CompareObjectRequest request;
  TRY_ASSIGN(request.original, ParseBuildRequest(json));
  Reading reading(Strictness::kLenient);
  ObjectReader object(json, "", reading);
  object.Optional("object", request.object)
      .Optional("kernel", request.kernel)
      .Optional("signature", request.signature)
      .Optional("instance", request.instance);
  if (!reading.ok()) return base::Fail(*reading.error());
  return request;
}

Json ToJson(const CompareObjectReply& reply) {
  return {{"difference", reply.difference},
          {"not_compared", reply.not_compared},
          {"image", reply.image},
          {"entry", reply.entry},
          {"not_loadable", reply.not_loadable}};
}

base::Result<CompareObjectReply> ParseCompareObjectReply(const Json& json) {
  CompareObjectReply reply;
  Reading reading(Strictness::kLenient);
  ObjectReader object(json, "", reading);
  object.Optional("difference", reply.difference)
      .Optional("not_compared", reply.not_compared)
      .Optional("image", reply.image)
      .Optional("entry", reply.entry)
      .Optional("not_loadable", reply.not_loadable);
  if (!reading.ok()) return base::Fail(*reading.error());
  return reply;
}

}  // namespace cupilot::protocol
