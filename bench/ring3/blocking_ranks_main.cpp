// SPDX-License-Identifier: Apache-2.0
// The laws of a communicator over MPI's blocking calls, and that ranks which come early rest. A broken law on
// any rank ends all of them.
#include <fmt/format.h>

#include <exception>

#include "bench/measure/collectives.hpp"
#include "reference/comm/laws/laws.hpp"
#include "reference/comm/mpi/blocking.hpp"
#include "reference/comm/mpi/session.hpp"

namespace {

using namespace std::chrono_literals;

void check_laws(const tpc::CommunicatorPtr& world) {
  for (const auto& laws : {tpc::collective_laws(), tpc::group_laws()})
    for (const tpc::CommunicatorLaw& law : laws) {
      if (world->rank() == 0) fmt::print("{}\n", law.name);
      law.check(world);
    }
}

// The bare loop computes what the communicator computes.
void check_bare(const tpc::CommunicatorPtr& world) {
  const tpc::BareMpi bare(world->size());
  for (const tpc::CollectiveKind kind : tpc::bench::timed_collectives) {
    const auto timed = tpc::bench::timed_collective(*world, kind, tpc::DType::f32, 4 * world->size());
    timed.subject.prepare(0);
    const double seconds = bare.seconds({.kind = kind, .in = timed.in, .out = timed.out, .calls = 2});
    TPC_EXPECT(seconds > 0, "{} s", seconds);
    const std::string wrong = timed.subject.check(0);
    TPC_EXPECT(wrong.empty(), "bare {}: {}", tpc::name(kind), wrong);
  }
}

}  // namespace

int main(int argc, char** argv) {
  tpc::MpiSession session(argc, argv);
  const tpc::CommunicatorPtr world = tpc::make_blocking_mpi_world("world");
  try {
    check_laws(world);
    check_laws(tpc::make_blocking_mpi_world("overlapping", tpc::OverAt::wait));
    check_bare(world);
    tpc::rest_until_all_arrive(1ms);
  } catch (const std::exception& error) {
    fmt::print(stderr, "rank {}: {}\n", world->rank(), error.what());
    world->abort();
  }
  session.finish(0);
}
