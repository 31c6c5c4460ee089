// The service's fixture with a project of a real nvcc and a machine with GPUs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "records/selection.h"
#include "tests/daemon/service/service_fixture.h"

namespace cupilot::service {

inline records::Json Gpu(const std::string& device, const std::string& name,
                         const std::string& arch = "sm_90", const std::string& driver = "580.1") {
  return {
      {"device", device},        {"name", name},     {"arch", arch},           {"sm_count", 132},
      {"memory_bytes", 1 << 30}, {"driver", driver}, {"uuid", "GPU-" + device}};
}

class GpuTest : public ServiceTest {
 protected:
  GpuTest() {
    // The compiler of these projects is the toolkit's.
    std::filesystem::remove(folder_ / "toolkit/include/cupilot_host_abi.h");
    project_.command().arguments.insert(project_.command().arguments.begin() + 1, "-arch=sm_90");
    judge_ = [this](const evaluate::EvaluateRequest& request) { return Judge(request, 1.5); };
    test::AnswerForFakeProjects(answers_);
    for (const char* op : {"propose", "rewrite"}) RecordKind(op);
    Have({Gpu("cuda:0", "NVIDIA H200")});
  }

  void Have(std::vector<records::Json> gpus, const std::string& reason = "") {
    gpus_ = std::move(gpus);
    workers_.On("list_devices",
                [this, reason](const records::Json&) -> base::Result<records::Json> {
                  return records::Json{{"devices", gpus_}, {"reason", reason}};
                });
  }

  // As the worker would measure on the device that was asked for.
  records::Evaluation Judge(const evaluate::EvaluateRequest& request, double speedup) {
    records::Evaluation evaluation = test::MakeEvaluation(request, speedup);
    devices_.push_back(request.device);
    for (const records::Json& gpu : gpus_) {
      if (gpu["device"] != request.device) continue;
      evaluation.target = "compute_90," + gpu["arch"].get<std::string>();
      evaluation.device = {gpu["name"], gpu["arch"], gpu["sm_count"], gpu["memory_bytes"]};
      evaluation.driver = gpu["driver"];
    }
    return evaluation;
  }

  // What kind of device was named is kept.
  void RecordKind(const std::string& op) {
    workers_.On(op, [this, op](const records::Json& params) -> base::Result<records::Json> {
      kinds_.push_back(params["device"]);
      base::Result<records::Json> answer = records::Json();
      evaluate::WorkerCall call;
      call.op = op;
      call.params = params;
      answers_.Call(std::move(call),
                    [&answer](base::Result<records::Json> reply) { answer = reply; });
      answers_.RunAll();
      return answer;
    });
  }

  records::Selection Selection() {
    const auto text = base::ReadFile(project_.object_folder() + "/selection.json");
    if (!text) return {};
    const auto selection = records::ParseSelection(*records::ParseJson(*text));
    EXPECT_TRUE(selection);
    return selection ? *selection : records::Selection();
  }

  test::FakeWorkers answers_;
  std::vector<records::Json> gpus_;
  std::vector<std::string> devices_;  // of the evaluations
  std::vector<std::string> kinds_;    // of proposals and rewrites
};

}  // namespace cupilot::service
