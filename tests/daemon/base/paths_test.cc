#include "base/paths.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>

#include "base/file.h"
#include "base/install_layout.h"

namespace cupilot::base {
namespace {

// Sets variables for one test and puts the old values back.
class Environment {
 public:
  void Set(const std::string& name, const std::optional<std::string>& value) {
    const char* old = std::getenv(name.c_str());
    saved_.try_emplace(name, old == nullptr ? std::nullopt : std::optional<std::string>(old));
    Put(name, value);
  }
  ~Environment() {
    for (const auto& [name, value] : saved_) Put(name, value);
  }

 private:
  static void Put(const std::string& name, const std::optional<std::string>& value) {
    if (value) {
      setenv(name.c_str(), value->c_str(), 1);
    } else {
      unsetenv(name.c_str());
    }
  }
  std::map<std::string, std::optional<std::string>> saved_;
};

TEST(UserFolders, FollowTheSpecification) {
  Environment environment;
  environment.Set("HOME", "/home/u");
  for (const char* name : {"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"}) {
    environment.Set(name, std::nullopt);
  }
  environment.Set("XDG_RUNTIME_DIR", "relative/is/ignored");
  const auto folders = FindUserFolders();
  ASSERT_TRUE(folders.has_value());
  EXPECT_EQ(folders->config, "/home/u/.config/cupilot");
  EXPECT_EQ(folders->state, "/home/u/.local/state/cupilot");
  EXPECT_EQ(folders->cache, "/home/u/.cache/cupilot");
  EXPECT_EQ(folders->runtime, "/tmp/cupilot-" + std::to_string(getuid()));
}

TEST(UserFolders, ShortenARuntimeFolderThatNoSocketFitsIn) {
  Environment environment;
  environment.Set("HOME", "/home/u");
  environment.Set("XDG_RUNTIME_DIR", "/" + std::string(120, 'r'));
  environment.Set("XDG_STATE_HOME", "/one");
  const std::string one = FindUserFolders()->runtime;
  environment.Set("XDG_STATE_HOME", "/two");
  const std::string two = FindUserFolders()->runtime;
  EXPECT_LT(one.size() + 12, 108U);
  EXPECT_NE(one, two);
  environment.Set("HOME", std::nullopt);
  environment.Set("XDG_CONFIG_HOME", std::nullopt);
  EXPECT_EQ(FindUserFolders().error().code, ErrorCode::kUnavailable);
}

TEST(PrivateFolder, RefusesWhatOthersCanOpen) {
  const std::string folder =
      std::filesystem::temp_directory_path() / ("cupilot-private-" + std::to_string(getpid()));
  EXPECT_TRUE(MakePrivateFolder(folder).has_value());
  EXPECT_TRUE(MakePrivateFolder(folder).has_value());
  chmod(folder.c_str(), 0755);
  EXPECT_EQ(MakePrivateFolder(folder).error().code, ErrorCode::kUnavailable);
  ASSERT_TRUE(RemoveTree(folder).has_value());
  ASSERT_EQ(symlink("/tmp", folder.c_str()), 0);
  EXPECT_FALSE(MakePrivateFolder(folder).has_value());
  unlink(folder.c_str());
}

TEST(InstallLayout, IsFoundFromTheExecutableOrTheEnvironment) {
  Environment environment;
  environment.Set("CUPILOT_LIBEXEC", "/elsewhere");
  EXPECT_EQ(LibexecFolder(), "/elsewhere");
  const std::string prefix =
      std::filesystem::temp_directory_path() / ("cupilot-prefix-" + std::to_string(getpid()));
  ASSERT_TRUE(MakeFolders(prefix + "/libexec/cupilot").has_value());
  ASSERT_TRUE(MakeFolders(prefix + "/bin").has_value());
  EXPECT_EQ(PrefixWith(prefix + "/bin", "libexec/cupilot"), prefix);
  EXPECT_EQ(PrefixWith(prefix + "/libexec/cupilot", "bin"), prefix);
  EXPECT_EQ(PrefixWith(prefix + "/bin", "no/such/folder"), "");
  ASSERT_TRUE(RemoveTree(prefix).has_value());
}

}  // namespace
}  // namespace cupilot::base
