// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/google.hpp"

#include <benchmark/benchmark.h>

namespace tpc::bench {

namespace {

class Silent : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      if (run.error_occurred) error_ = run.error_message;
  }
  const std::string& error() const { return error_; }

 private:
  std::string error_;
};

}  // namespace

Loop google_loop() {
  return [](const std::string& name, int iterations, const std::function<double()>& iteration) {
    benchmark::ClearRegisteredBenchmarks();
    benchmark::RegisterBenchmark(name.c_str(),
                                 [&iteration](benchmark::State& state) {
                                   for ([[maybe_unused]] const auto turn : state)
                                     state.SetIterationTime(iteration());
                                 })
        ->Iterations(iterations)
        ->UseManualTime();
    Silent reporter;
    const std::size_t ran = benchmark::RunSpecifiedBenchmarks(&reporter, ".*");
    benchmark::ClearRegisteredBenchmarks();
    TPC_EXPECT(ran == 1 && reporter.error().empty(), "Google Benchmark ran {} of 1 for {}: {}", ran, name,
               reporter.error());
  };
}

}  // namespace tpc::bench
