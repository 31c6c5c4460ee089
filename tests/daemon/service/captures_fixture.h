// A service whose kernels are tuned on what was captured of them.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "blobs/blob_store.h"
#include "service/capture_requests.h"
#include "tests/daemon/service/service_fixture.h"

namespace cupilot::service {

class CapturesTest : public ServiceTest {
 protected:
  CapturesTest() {
    judge_ = [this](const evaluate::EvaluateRequest& request) {
      std::string names;
      for (const records::Case& one : request.workload.cases) names += one.name + ";";
      tuned_on_.push_back(request.kernel.name + ": " + names);
      return test::MakeEvaluation(request, 1.5);
    };
  }

  // As a capture of kernel `name` of the fake project makes it, from a case of its own.
  workloads::Captured MakeCaptured(const std::string& name, const std::string& case_name = "seen") {
    const auto place = FindKernel(*service_, name, "");
    EXPECT_TRUE(place) << name;
    const records::Kernel& kernel = *place->kernel;
    workloads::Captured captured;
    captured.kernel = records::LabelOf(kernel);
    captured.file = kernel.file;
    for (const records::Parameter& parameter : kernel.parameters) {
      captured.parameters.push_back(parameter.canonical);
    }
    captured.program = "app";
    captured.device = "host";
    captured.replaces_tag = true;
    records::Case one = kernel.cases.at(0);
    one.name = case_name;
    one.weight = 500;
    captured.cases = {one};
    captured.launches.resize(1);
    captured.launches[0].calls = 5;
    captured.launches[0].microseconds = 500;
    captured.launches[0].cases = {case_name};
    return captured;
  }

  void Add(const std::vector<workloads::Captured>& all, const records::Json& untagged = nullptr) {
    records::Json list = records::Json::array();
    for (const workloads::Captured& captured : all) list.push_back(workloads::ToJson(captured));
    const std::string file = folder_ / "captures.json";
    ASSERT_TRUE(base::WriteFileAtomically(
        file, records::CompactJson(
                  {{"schema", "cupilot.captures/1"}, {"captures", list}, {"untagged", untagged}})));
    const auto added =
        AddCaptures(*service_, {{"file", file}, {"folder", project_.build_folder()}});
    ASSERT_TRUE(added) << added.error().message;
    reply_ = *added;
  }

  workloads::CapturedReplay ReplayOf(const std::string& kernel, const std::string& name) {
    const auto place = FindKernel(*service_, kernel, "");
    if (!place) return {};
    const workloads::Captured* captured = service_->captured().Find(*place->kernel);
    const auto* replay =
        captured == nullptr ? nullptr : captured->FindReplay(place->kernel->key, name);
    return replay == nullptr ? workloads::CapturedReplay() : *replay;
  }

  records::Json Here(const records::Json& more = records::Json::object()) {
    records::Json params = {{"folder", project_.build_folder()}};
    params.update(more);
    return params;
  }

  std::vector<std::string> tuned_on_;
  records::Json reply_;  // to the last Add
};

}  // namespace cupilot::service
