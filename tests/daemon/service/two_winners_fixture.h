// A service in which two techniques win, the first of them by more.
#pragma once

#include <string>

#include "service/requests.h"
#include "tests/daemon/service/service_fixture.h"

namespace cupilot::service {

class TwoWinnersTest : public ServiceTest {
 protected:
  TwoWinnersTest() {
    judge_ = [](const evaluate::EvaluateRequest& request) {
      const auto& steps = request.variant.strategy->steps;
      return test::MakeEvaluation(request, steps.size() > 1                        ? 0.9
                                           : steps[0].technique == "launch_bounds" ? 1.5
                                                                                   : 1.2);
    };
  }
  // The one variant that builds get; empty: none, or several.
  std::string Published() {
    const auto variants = project_.PublishedVariants();
    return variants.size() == 1 ? variants[0] : "";
  }
  // As the client asks.
  records::Json Ask(const std::string& verb, const records::Json& params) {
    Requests requests(*service_, state(), [] {});
    const records::Json message = {{"id", 1}, {"verb", verb}, {"params", params}};
    return records::ParseJson(requests.Handle("peer", message.dump())).value_or(records::Json());
  }
};

}  // namespace cupilot::service
