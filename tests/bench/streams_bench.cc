// streams_bench [STREAMS]: how late the loop is while that many slow answers of a model come in at
// once (design: 20 ms at the 99th percentile with 1,000). The server is of its own thread.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "agents/http_provider.h"
#include "agents/openai_format.h"
#include "loop/timer.h"
#include "tests/support/mock_http_server.h"

namespace cupilot {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kPieces = 10;  // of each answer, one a second

std::string Piece() {
  return R"(data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":")" +
         std::string(40, 'x') + R"("},"finish_reason":null}]})" + "\n\n";
}

// Each stream gets a piece a second; a tenth of them at a time.
class Server {
 public:
  Server() : thread_([this] { Run(); }) {
    while (!ready_) std::this_thread::yield();
  }
  ~Server() {
    loop_->Stop();
    thread_.join();
  }
  std::string url;

 private:
  void Run() {
    loop::Loop loop;
    loop_ = &loop;
    std::vector<test::MockHttpServer::Peer*> peers;
    test::MockHttpServer server(loop, [&peers](const auto&, auto& peer) {
      peer.Send(test::HttpStreamHead());
      peers.push_back(&peer);
    });
    url = server.url();
    loop::Timer timer(loop);
    std::vector<int> sent;
    std::size_t turn = 0;
    timer.StartRepeating(milliseconds(100), [&] {
      sent.resize(peers.size(), 0);
      for (std::size_t i = turn++ % 10; i < peers.size(); i += 10) {
        if (++sent[i] <= kPieces) peers[i]->Send(Piece());
        if (sent[i] == kPieces) peers[i]->Send("data: [DONE]\n\n");
      }
    });
    ready_ = true;
    loop.Run();
  }

  std::atomic<bool> ready_{false};
  loop::Loop* loop_ = nullptr;
  std::thread thread_;
};

int Main(int argc, char** argv) {
  const std::size_t streams = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);

  const Server server;
  loop::Loop loop;
  loop::HttpClient client(loop);
  agents::LoopAlarms alarms(loop);
  const base::SystemClock clock;
  base::UniqueFunction<double()> random = [] { return 0.5; };
  agents::HttpProvider::Settings settings;
  settings.kind = "openai";
  settings.address = server.url;
  auto provider = agents::HttpProvider::Create({client, alarms, clock, random},
                                               std::make_unique<agents::OpenAiFormat>(), settings);
  if (!provider) return 1;
  std::size_t answered = 0, failed = 0, pieces = 0;
  std::vector<std::unique_ptr<agents::ModelCall>> calls;
  agents::ModelRequest request;
  request.model = "m";
  request.prompt = std::string(8000, 'p');
  for (std::size_t i = 0; i < streams; ++i) {
    calls.push_back((*provider)->Send(
        request, [&pieces](std::string_view) { ++pieces; },
        [&](const agents::ModelResult& result) {
          ++(result ? answered : failed);
          if (answered + failed == streams) loop.Stop();
        }));
  }
  std::vector<double> late;
  loop::Timer timer(loop);
  auto last = Clock::now();
  constexpr milliseconds kPeriod{2};
  timer.StartRepeating(kPeriod, [&] {
    const auto now = Clock::now();
    late.push_back(std::chrono::duration<double, std::milli>(now - last - kPeriod).count());
    last = now;
  });
  loop.Run();
  std::sort(late.begin(), late.end());
  const auto at = [&late](double part) {
    return late.empty()
               ? 0.0
               : late[static_cast<std::size_t>(part * static_cast<double>(late.size() - 1))];
  };
  std::printf("%zu streams: %zu answered, %zu failed, %zu pieces\n", streams, answered, failed,
              pieces);
  std::printf(
      "the loop is late by %.2f ms (median), %.2f ms (99 %%), %.2f ms (at most); limit 20 ms\n",
      at(0.5), at(0.99), at(1));
  return failed == 0 && at(0.99) < 20 ? 0 : 1;
}

}  // namespace
}  // namespace cupilot

int main(int argc, char** argv) { return cupilot::Main(argc, argv); }
