#include "agents/redact.h"

#include <gtest/gtest.h>

#include <string>

namespace cupilot::agents {
namespace {

std::string Clean(const std::string& text) { return Redactor()(text); }

TEST(Redact, TakesOutKeysOfServices) {
  const std::string tail = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6";
  for (const std::string prefix :
       {"sk-ant-api03-", "sk-proj-", "sk-or-v1-", "sk-", "ghp_", "github_pat_11", "glpat-", "hf_",
        "xoxb-1234567890-", "AKIA", "AIza", "npm_", "nvapi-", "gsk_", "sk_live_"}) {
    EXPECT_EQ(Clean("// " + prefix + tail + ", remove"), "// <secret>, remove") << prefix;
    EXPECT_EQ(Clean("\"" + prefix + tail + "\""), "\"<secret>\"") << prefix;
  }
  EXPECT_EQ(Clean("eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJ-_x y"), "<secret> y");
  EXPECT_EQ(Clean("Authorization: Bearer abcdefghijklmnop.qr-st\n"),
            "Authorization: Bearer <secret>\n");
  EXPECT_EQ(Clean("https://me:hunter2@example.com/x"), "https://<secret>@example.com/x");
}

TEST(Redact, TakesOutPrivateKeys) {
  EXPECT_EQ(
      Clean("a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nxyz\n-----END RSA PRIVATE KEY-----\nb"),
      "a\n<private key>\nb");
  EXPECT_EQ(Clean("-----BEGIN OPENSSH PRIVATE KEY-----\nMIIE and no end"), "<private key>");
  const std::string certificate = "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----";
  EXPECT_EQ(Clean(certificate), certificate);
}

TEST(Redact, TakesOutWhatIsAssignedToASecretsName) {
  EXPECT_EQ(Clean("const char* api_key = \"not-known-form\";"),
            "const char* api_key = \"<secret>\";");
  EXPECT_EQ(Clean("{\"password\": \"hunter22\"}"), "{\"password\": \"<secret>\"}");
  EXPECT_EQ(Clean("MY_SERVICE_TOKEN=abc123def456 run"), "MY_SERVICE_TOKEN=<secret> run");
  EXPECT_EQ(Clean("DB_PASSWORD='p@ss word!'"), "DB_PASSWORD='<secret>'");
}

TEST(Redact, LeavesCodeAlone) {
  for (const std::string code : {
           "const int key = threadIdx.x + blockIdx.x * blockDim.x;",
           "token_count = other_token_count_of_the_row_12345;",
           "if (key == 0xdeadbeefdeadbeef) key_index = key_table[key & 31];",
           "#define HASH_KEY 0x9e3779b97f4a7c15",
           "asm volatile(\"@%p1 bra DONE;\" ::: \"memory\");",
           "template <class Key, class Token = int> struct sk_buff {};",
           "a->b.c@d",
           "float x = a / home / b;  // src/home/page.cu",
           "kernel<<<grid, block, 0, stream>>>(in, out);",
           "sk-learn-something-long-and-boring",
           "https://example.com/a:b@c/",
           "double password_strength = 1.0;",
           "4f1c0e8a9b7d6c5e4f3a2b1c0d9e8f7a6b5c4d3e",
       }) {
    EXPECT_EQ(Clean(code), code);
  }
}

TEST(Redact, TakesOutMailAddresses) {
  EXPECT_EQ(Clean("// Author: Jane Doe <jane.doe+x@mail.example.org>."),
            "// Author: Jane Doe <<e-mail>>.");
  EXPECT_EQ(Clean("me@example.com"), "<e-mail>");
}

TEST(Redact, TakesOutHomesAndFolders) {
  EXPECT_EQ(Clean("#include \"/home/jane/code/a.h\""), "#include \"<home>/code/a.h\"");
  EXPECT_EQ(Clean("/Users/jane.doe/x:/root/y /root"), "<home>/x:<home>/y <home>");
  EXPECT_EQ(Clean("C:\\Users\\jane\\x"), "<home>\\x");
  EXPECT_EQ(Clean(R"(C:\\Users\\jane\\x /home//jane/y /home/)"), R"(<home>\\x <home>/y /home/)");
  EXPECT_EQ(Clean("/rooted /homes/x /homepage"), "/rooted /homes/x /homepage");
  Redactor::Rules rules;
  rules.folders = {{"/data/jane", "<data>"}, {"/data/jane/project/", "<project>"}};
  const Redactor redact(std::move(rules));
  EXPECT_EQ(redact("-I/data/jane/project/include /data/jane/x.cu /data/janet/y"),
            "-I/data/jane/project/include <data>/x.cu /data/janet/y");
  EXPECT_EQ(redact("\"/data/jane/project/a.cu\":7"), "\"<project>/a.cu\":7");
}

TEST(Redact, TakesOutKnownSecretsWhereverTheyStand) {
  Redactor::Rules rules;
  rules.secrets = {base::Secret("open sesame"), base::Secret("x")};
  EXPECT_EQ(Redactor(std::move(rules))("aopen sesameb x"), "a<secret>b x");
}

TEST(Redact, LeavesWhatItMadeAndTakesAnything) {
  std::string text = "/home/jane/x me@example.com sk-proj-a1B2c3D4e5F6g7H8i9J0 PASSWORD=abc123def";
  EXPECT_EQ(Clean(Clean(text)), Clean(text));
  EXPECT_EQ(Clean(""), "");
  for (const char c : {'@', ':', '-', '/', '\\', 'e', '"', '='}) {
    EXPECT_EQ(Clean(std::string(300000, c)).size(), 300000u) << c;
  }
  std::string bytes;
  for (int i = 0; i < 100000; ++i) bytes += static_cast<char>((i * 7919 + i / 13) % 256);
  (void)Clean(bytes);
}

}  // namespace
}  // namespace cupilot::agents
