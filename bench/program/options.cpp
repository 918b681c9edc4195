// SPDX-License-Identifier: Apache-2.0
#include "bench/program/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>

namespace tpc::bench {

namespace {

constexpr const char* exit_codes =
    "Exit codes:\n"
    "  0    measured, correct, and not slower than the baseline where one was given\n"
    "  1    a result was wrong, or a published figure is not reproduced\n"
    "  2    usage or configuration; also a baseline that is missing or cannot be used\n"
    "  3    environment: MPI, memory, files\n"
    "  4    slower than the baseline\n"
    "  5    a deadline passed\n"
    "  6    a rank was lost\n"
    "  130  interrupted";

// What the parser fills and what is still to be read.
struct Raw {
  std::string tp;
  std::string dtype = "f32";
  std::string pass = "step";
  std::string sequence_parallel = "both";
  std::string interconnects;
};

std::vector<std::string> comma_separated(const std::string& text) {
  std::vector<std::string> items(1);
  for (const char c : text) {
    if (c == ',')
      items.emplace_back();
    else
      items.back() += c;
  }
  return items;
}

std::vector<int> degrees(const std::string& text) {
  std::vector<int> numbers;
  for (const std::string& item : comma_separated(text)) {
    int number = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), number);
    if (error != std::errc{} || end != item.data() + item.size() || number < 1)
      throw UsageError(fmt::format(
          "--tp {}: '{}' is no number of ranks; give numbers from 1, as in --tp 2,4,8", text, item));
    if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

template <class Value, std::size_t n>
Value chosen(const char* option, const std::string& text,
             const std::array<std::pair<const char*, Value>, n>& choices) {
  std::string known;
  for (const auto& [name, value] : choices) {
    if (text == name) return value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
  }
  throw UsageError(fmt::format("{} {}: choose one of {}", option, text, known));
}

std::vector<SequenceParallel> sequence_parallels(const std::string& text) {
  if (text == "both") return {SequenceParallel::off, SequenceParallel::kept};
  constexpr std::array choices = {
      std::pair{"off", SequenceParallel::off}, std::pair{"on", SequenceParallel::kept},
      std::pair{"kept", SequenceParallel::kept}, std::pair{"regathered", SequenceParallel::regathered},
      std::pair{"both", SequenceParallel::off}};
  return {chosen("--sequence-parallel", text, choices)};
}

void add_problem(CLI::App& app, BenchOptions& o, Raw& raw) {
  app.add_option("--model", o.model,
                 "A shipped model (gpt2, gpt2-medium, llama-3.2-1b, ...) or a config.json")
      ->capture_default_str();
  app.add_option("--hidden", o.hidden, "H, instead of the model's");
  app.add_option("--heads", o.heads, "A");
  app.add_option("--kv-heads", o.kv_heads, "K");
  app.add_option("--ffn", o.ffn, "F");
  app.add_option("--vocab", o.vocab, "V");
  app.add_option("--layers", o.layers, "Layers that are measured [1] or predicted [the model's]");
  app.add_option("--batch", o.batch, "B [1; predict: 8]");
  app.add_option("--seq", o.sequence, "S [256; predict: 2048]");
  app.add_option("--dtype", raw.dtype, "f32 or bf16")->capture_default_str();
  app.add_option("--pass", raw.pass, "forward, backward or step (both, and gradient sums)")
      ->capture_default_str();
}

void add_cut(CLI::App& app, BenchOptions& o, Raw& raw) {
  app.add_option("--tp", raw.tp, "Tensor-parallel degrees; T = 1 is always measured [2,4,8]");
  app.add_option("--sequence-parallel", raw.sequence_parallel,
                 "off, on (kept), regathered, or both (off and on)")
      ->capture_default_str();
  app.add_option(
         "--overlap-chunks", o.overlap_chunks,
         "Measure steps with sequence parallelism once more, their collectives in so many chunks that "
         "overlap with products; 1: do not")
      ->capture_default_str();
  app.add_option(
      "--interconnect", raw.interconnects,
      "Links to predict for: measured, nvlink4, nvlink5, pcie5, ib-hdr, ib-ndr, document, or a JSON "
      "file [all]");
  app.add_option("--implementation", o.implementation,
                 "What is measured; exec:COMMAND times one of your own beside the reference "
                 "(harness/adapters/README.md)")
      ->capture_default_str();
  app.add_option("--transport", o.transport, "auto, shm or tcp: which of Open MPI's transports ranks use")
      ->capture_default_str();
  app.add_option("--device", o.device, "Of predict: v100, a100, h100, h200 or b200")->capture_default_str();
  app.add_option("--calibration", o.calibration,
                 "Of predict: a bench.json measured on the machine in question");
}

void add_run(CLI::App& app, BenchOptions& o) {
  app.add_option(
      "--launches", o.launches,
      "Starts of the ranks, which share --seconds: launches of one and the same thing differ by more "
      "than its samples [1; with --compare 5]");
  app.add_option("--samples", o.samples, "Per row [as many as --seconds allows]");
  app.add_option("--seconds", o.seconds, "That all measurements may take together")->capture_default_str();
  app.add_option("--largest", o.largest, "Of collectives: payload in bytes")->capture_default_str();
  app.add_option("--link-gbit", o.link_gbit_per_s, "Rate of the link in Gbit/s: what exceeds it is refused");
  app.add_option("--peak-gflops", o.peak_gflop_per_s, "Peak of a rank's device: what exceeds it is refused");
  app.add_option("--out", o.out, "Folder for bench.json, CSV, charts and report");
  app.add_option("--compare", o.compare, "A baseline, or a folder of baselines: slower ends with 4");
  app.add_flag("--update-baseline", o.update_baseline, "Write the baseline that --compare names");
  app.add_flag("--part", o.part)->group("");
  app.add_flag("--metrics", o.metrics,
               "Print a line METRIC name=value s per row, for tools that read patterns");
  app.add_flag("--all", o.every_row, "Of validate: print every row");
}

void check_sizes(const CLI::App& app, const BenchOptions& o) {
  if (app.count("--samples") > 0 && o.samples < 1)
    throw UsageError(fmt::format("--samples {}: nothing would be measured; give at least 1", o.samples));
  if (o.seconds <= 0) throw UsageError(fmt::format("--seconds {}: give a time above 0", o.seconds));
  if (o.overlap_chunks < 1)
    throw UsageError(fmt::format("--overlap-chunks {}: give 1 or more", o.overlap_chunks));
  if (o.largest < 8) throw UsageError(fmt::format("--largest {}: give at least 8 bytes", o.largest));
  const std::array sizes = {std::pair{"--hidden", o.hidden},     std::pair{"--heads", o.heads},
                            std::pair{"--kv-heads", o.kv_heads}, std::pair{"--ffn", o.ffn},
                            std::pair{"--vocab", o.vocab},       std::pair{"--layers", o.layers},
                            std::pair{"--batch", o.batch},       std::pair{"--seq", o.sequence}};
  for (const auto& [option, value] : sizes)
    if (app.count(option) > 0 && value < 1)
      throw UsageError(fmt::format("{} {}: give at least 1", option, value));
}

void check_rating(const CLI::App& app, BenchOptions& o) {
  constexpr int launches_of_a_rating = 5;
  if (o.update_baseline && o.compare.empty())
    throw UsageError("--update-baseline needs --compare FILE, the baseline to write");
  if (o.command == Command::rate && o.compare.empty())
    throw UsageError("rate needs --compare BASELINE, what the runs are held against");
  if (app.count("--launches") == 0 && !o.compare.empty()) o.launches = launches_of_a_rating;
  if (o.launches < 1) throw UsageError(fmt::format("--launches {}: give at least 1", o.launches));
  if (!o.compare.empty() && o.command != Command::rate && o.launches < 2)
    throw UsageError(
        "--launches 1 with --compare: what differs between launches would look like a change; give at least "
        "2");
}

void read_raw(BenchOptions& o, const Raw& raw) {
  if (!raw.tp.empty()) o.tp = degrees(raw.tp);
  o.dtype =
      chosen("--dtype", raw.dtype, std::array{std::pair{"f32", DType::f32}, std::pair{"bf16", DType::bf16}});
  o.pass = chosen("--pass", raw.pass,
                  std::array{std::pair{"forward", Pass::forward}, std::pair{"backward", Pass::backward},
                             std::pair{"step", Pass::step}});
  o.sequence_parallel = sequence_parallels(raw.sequence_parallel);
  if (!raw.interconnects.empty()) o.interconnects = comma_separated(raw.interconnects);
  chosen("--transport", o.transport,
         std::array{std::pair{"auto", 0}, std::pair{"shm", 0}, std::pair{"tcp", 0}});
}

struct Parser {
  CLI::App app{"Measures, predicts and charts how tensor parallelism scales on this interconnect."};
  BenchOptions options;
  Raw raw;

  Parser() {
    app.name("tp_bench");
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    app.set_help_flag();
    app.add_flag("-h,--help", options.help, "Print this");
    app.add_flag("--version", options.version, "Print version and commit");
    add_problem(app, options, raw);
    add_cut(app, options, raw);
    add_run(app, options);
    const std::array commands = {
        std::tuple{"collectives", "Time all_reduce, all_gather and reduce_scatter, beside a bare MPI loop",
                   Command::collectives},
        std::tuple{"gemm", "Time the products of the sharded layers", Command::gemm},
        std::tuple{"predict", "Step time and efficiency for any T, model and link, without ranks",
                   Command::predict},
        std::tuple{"validate", "Reproduce published figures; ends with 1 where one is not",
                   Command::validate}};
    for (const auto& [name, text, command] : commands) {
      CLI::App* subcommand = app.add_subcommand(name, text)->fallthrough();
      subcommand->set_help_flag();
      subcommand->callback([this, command = command] { options.command = command; });
    }
    CLI::App* rate =
        app.add_subcommand("rate", "Hold runs that are measured already against --compare")->fallthrough();
    rate->set_help_flag();
    rate->add_option("runs", options.runs, "Folders given as --out, one of each launch")->required();
    rate->callback([this] { options.command = Command::rate; });
    app.footer(exit_codes);
  }
};

}  // namespace

BenchOptions parse_options(const Arguments& arguments) {
  Parser parser;
  try {
    parser.app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{} (tp_bench --help lists the options)", error.what()));
  }
  check_sizes(parser.app, parser.options);
  check_rating(parser.app, parser.options);
  read_raw(parser.options, parser.raw);
  return parser.options;
}

std::string help_text() { return Parser().app.help(); }

}  // namespace tpc::bench
