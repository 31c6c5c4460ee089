// A user's project on the simulated machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/fake_project.h"

namespace cupilot::service {

// A user's project: kernels of which each has one of a few bodies, with an older one now and then.
struct UsersProject {
  UsersProject(const std::string& root, std::string the_name, bool on_host)
      : project(root), name(std::move(the_name)) {
    if (on_host) return;
    // The compiler of this one is the toolkit's.
    std::filesystem::remove(root + "/toolkit/include/cupilot_host_abi.h");
    project.command().arguments.insert(project.command().arguments.begin() + 1, "-arch=sm_90");
  }
  std::string Text() const {
    std::string text = around + "\n";
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      text += "kernel " + name + std::to_string(i) + " body" + std::to_string(bodies[i]) +
              " weight=" + std::to_string(i + 1) + (i == 0 ? " tunable=T" : "") + "\n";
    }
    return text;
  }

  test::FakeProject project;
  std::string name;
  std::vector<std::int64_t> bodies = {0, 0};
  std::string around = "something";
  std::int64_t newest = 0;
  bool there = true;
};

}  // namespace cupilot::service
