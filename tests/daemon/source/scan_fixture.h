// Sources in a folder of their own, scanned with the commands that a build would record.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "source/scan.h"

namespace cupilot::source {

class ScanFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    namespace fs = std::filesystem;
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = (fs::temp_directory_path() /
               ("cupilot-scan-" + std::to_string(getpid()) + "-" + info->name()))
                  .string();
    fs::create_directories(folder_ + "/toolkit/bin");
    fs::create_directory_symlink(
        std::string(CUPILOT_TEST_SOURCE_DIR) + "/daemon/host_runtime/include",
        folder_ + "/toolkit/include");
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  void Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder_ + "/" + name).parent_path());
    std::ofstream(folder_ + "/" + name) << text;
  }

  records::CompileCommand Command(std::vector<std::string> flags = {"-O3", "-std=c++17"}) const {
    records::CompileCommand command;
    command.directory = folder_;
    command.source = folder_ + "/main.cu";
    command.object = folder_ + "/main.o";
    command.arguments = {folder_ + "/toolkit/bin/nvcc"};
    command.arguments.insert(command.arguments.end(), flags.begin(), flags.end());
    for (const char* more : {"-c", "main.cu", "-o", "main.o"}) command.arguments.emplace_back(more);
    return command;
  }

  protocol::ScanReply ScanText(const std::string& text,
                               std::vector<std::string> flags = {"-O3", "-std=c++17"}) const {
    Write("main.cu", text);
    protocol::ScanRequest request;
    request.command = Command(std::move(flags));
    auto reply = Scan(request);
    EXPECT_TRUE(reply.has_value()) << (reply ? "" : reply.error().message);
    return reply ? std::move(*reply) : protocol::ScanReply{};
  }

  // The only tagged kernel of a text.
  records::Kernel OneKernel(const std::string& text,
                            std::vector<std::string> flags = {"-O3", "-std=c++17"}) const {
    protocol::ScanReply reply = ScanText(text, std::move(flags));
    EXPECT_EQ(reply.kernels.size(), 1u);
    return reply.kernels.empty() ? records::Kernel{} : reply.kernels.front();
  }

  std::string folder_;
};

}  // namespace cupilot::source
