#include <elf.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "capture/gate.h"
#include "capture/image_symbols.h"
#include "capture/names.h"
#include "capture/rest.h"

namespace cupilot::capture {
namespace {

TEST(Names, SayWhatPeopleWrite) {
  EXPECT_EQ(QualifiedName("_ZN5image4blurEPfi"), "image::blur");
  EXPECT_EQ(QualifiedName("_ZN1a1b1tIiEEvPT_"), "a::b::t");
  EXPECT_EQ(QualifiedName("_ZN32_GLOBAL__N__04e8ccb7_4_k_cu_main4anonEPf"), "anon");
  EXPECT_EQ(QualifiedName("_ZN30_INTERNAL_04e8ccb7_4_k_cu_main1a1b2c4E"), "a::b::c4");
  EXPECT_EQ(QualifiedName("_ZN30_INTERNAL_04e8ccb7_4_k_cu_main32_GLOBAL__N__04e8ccb7_4_k_cu_main"
                          "2c1E"),
            "c1");
  EXPECT_EQ(QualifiedName("plain"), "plain");
  EXPECT_EQ(QualifiedName("f"), "f");
  EXPECT_EQ(MangledVariable("c"), "c");
  EXPECT_EQ(MangledVariable("a::b::d2"), "_ZN1a1b2d2E");
}

TEST(Names, ThePlansKernelIsFoundBehindWhatCompilersAdd) {
  std::vector<PlannedKernel> kernels(4);
  kernels[0].signature = "_ZN12_GLOBAL__N_14anonEPf";
  kernels[1].signature = "_ZL4statPf";
  kernels[2].signature = "_Z4openPf";
  kernels[3].signature = "_ZN12_GLOBAL__N_14openEPd";
  EXPECT_EQ(FindPlanned(kernels, "_ZN32_GLOBAL__N__04e8ccb7_4_k_cu_main4anonEPf"), &kernels[0]);
  EXPECT_EQ(FindPlanned(kernels, "_Z4statPf"), &kernels[1]);
  EXPECT_EQ(FindPlanned(kernels, "_Z4openPf"), &kernels[2]);
  // Other parameters: another kernel.
  EXPECT_EQ(FindPlanned(kernels, "_Z4openPi"), nullptr);
  kernels[3].signature = "_ZL4statPf";
  EXPECT_EQ(FindPlanned(kernels, "_Z4statPf"), nullptr) << "it could be either";
}

TEST(Images, HaveTheSymbolsOfStaticVariables) {
  const std::string names = std::string("\0", 1) + "_ZN30_INTERNAL_04e8ccb7_4_k_cu_main1a2c4E" +
                            std::string("\0", 1) + "other" + std::string("\0", 1);
  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_shentsize = sizeof(Elf64_Shdr);
  head.e_shnum = 2;
  head.e_shoff = sizeof head;
  Elf64_Sym symbols[2] = {};
  for (Elf64_Sym& symbol : symbols) symbol.st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT);
  symbols[0].st_name = 1;
  symbols[1].st_name = static_cast<Elf64_Word>(names.size() - 6);
  Elf64_Shdr sections[2] = {};
  sections[0].sh_type = SHT_SYMTAB;
  sections[0].sh_link = 1;
  sections[0].sh_offset = sizeof head + sizeof sections;
  sections[0].sh_size = sizeof symbols;
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = sections[0].sh_offset + sizeof symbols;
  sections[1].sh_size = names.size();
  std::string image(reinterpret_cast<const char*>(&head), sizeof head);
  image.append(reinterpret_cast<const char*>(sections), sizeof sections);
  image.append(reinterpret_cast<const char*>(symbols), sizeof symbols);
  image += names;

  Plan plan;
  plan.kernels.emplace_back().globals = {{"a::c4", true, 4}};
  ImageSymbols read(plan);
  EXPECT_TRUE(read.wanted());
  for (std::size_t bytes = 0; bytes < image.size(); ++bytes) read.Read(image.data(), bytes);
  EXPECT_TRUE(read.Find("a::c4").empty()) << "a part of an image is none";
  read.Read(image.data(), image.size());
  ASSERT_EQ(read.Find("a::c4").size(), 1u);
  EXPECT_EQ(read.Find("a::c4")[0], "_ZN30_INTERNAL_04e8ccb7_4_k_cu_main1a2c4E");
  EXPECT_TRUE(read.Find("other").empty());
}

TEST(Gate, IsNotClosedWhileSomebodyIsInside) {
  Gate gate;
  gate.Enter();
  EXPECT_FALSE(gate.Close(std::chrono::milliseconds(1)));
  gate.Leave();
  EXPECT_TRUE(gate.Close(std::chrono::milliseconds(1)));
  EXPECT_FALSE(gate.Close(std::chrono::milliseconds(1))) << "somebody has it";
  std::thread other([&] {
    gate.Enter();
    gate.Leave();
  });
  gate.Open();
  other.join();
}

// The program ends while a launch is recorded: nobody is told of that launch's end any more.
TEST(Gate, IsOpenForGoodOnceItIsAbandoned) {
  Gate gate;
  ASSERT_TRUE(gate.Close(std::chrono::milliseconds(1)));
  std::thread other([&] {
    gate.Enter();
    gate.Leave();
  });
  gate.Abandon();
  other.join();
  EXPECT_FALSE(gate.Close(std::chrono::milliseconds(1)));
}

std::atomic<bool> g_busy{false};

TEST(Rest, IsNotWaitedForForEver) {
  static Driver driver{};
  driver.cuCtxSetCurrent = [](void*) { return 0; };
  driver.cuCtxSynchronize = [] {
    g_busy.wait(true);
    return 0;
  };
  static Rest& rest = *new Rest(driver);
  int context = 0;
  rest.Add(&context);
  EXPECT_TRUE(rest.Wait(std::chrono::seconds(60)));
  g_busy = true;
  EXPECT_FALSE(rest.Wait(std::chrono::milliseconds(1)));
  EXPECT_FALSE(rest.Wait(std::chrono::milliseconds(1))) << "the wait before it has not ended";
  g_busy = false;
  g_busy.notify_all();
  while (!rest.Wait(std::chrono::seconds(60))) std::this_thread::yield();
  driver.cuCtxSynchronize = [] { return 700; };
  EXPECT_FALSE(rest.Wait(std::chrono::seconds(60))) << "the device reports an error";
}

}  // namespace
}  // namespace cupilot::capture
