// SPDX-License-Identifier: Apache-2.0
#include "bench/program/bench_main.hpp"

int main(int argc, char** argv) { return tpc::bench::bench_main(argc, argv); }
