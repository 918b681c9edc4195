// SPDX-License-Identifier: Apache-2.0
#include "harness/front/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "harness/values/join.hpp"

namespace tpc {

namespace {

constexpr Tier all_tiers[] = {Tier::exact, Tier::f64, Tier::f32, Tier::bf16, Tier::statistics};
constexpr std::string_view passed_on =
    "--gtest_filter, --gtest_list_tests, --gtest_repeat, --gtest_shuffle, --gtest_random_seed, "
    "--gtest_fail_fast and --gtest_brief";

constexpr const char* exit_codes =
    "Exit codes:\n"
    "  0    every case that was compared passed\n"
    "  1    a case failed; a verdict only if the records end with the summary of the run\n"
    "  2    usage or configuration; also where nothing was compared\n"
    "  3    environment: MPI, memory, files\n"
    "  5    a deadline passed, or ranks threw or parted in a case\n"
    "  6    a rank was lost (under a bare mpirun: 128 + its signal)\n"
    "  130  interrupted (under a bare mpirun: 1)\n"
    "\n"
    "Ranks are started by mpirun, or by --ranks. Rank 0's command line rules all ranks. Of GoogleTest's "
    "flags\n"
    "the ones listed are passed on; its environment variables are ignored.";

// What the parser fills and what is still to be checked.
struct Raw {
  std::string diagnose;
  std::string tiers;
  std::string tp;
  int layers = 0;
};

std::vector<std::string> comma_separated(const std::string& text) {
  std::vector<std::string> items;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t comma = text.find(',', begin);
    items.push_back(text.substr(begin, comma - begin));
    if (comma == std::string::npos) return items;
    begin = comma + 1;
  }
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
  return numbers;
}

int failures_to_diagnose(const std::string& text) {
  if (text == "all") return -1;
  if (text == "off") return 0;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0)
    throw UsageError(fmt::format("--diagnose {}: give a number of failures, all or off", text));
  return number;
}

std::vector<Tier> tiers_named(const std::string& text) {
  std::vector<Tier> tiers;
  for (const std::string& item : comma_separated(text)) {
    const auto found = std::find_if(std::begin(all_tiers), std::end(all_tiers),
                                    [&](Tier tier) { return name(tier) == item; });
    if (found == std::end(all_tiers)) {
      std::vector<std::string> names;
      for (const Tier tier : all_tiers) names.emplace_back(name(tier));
      throw UsageError(
          fmt::format("--tier {}: unknown tier '{}'; there are {}", text, item, joined(names, ", ")));
    }
    if (std::find(tiers.begin(), tiers.end(), *found) == tiers.end()) tiers.push_back(*found);
  }
  return tiers;
}

// "  --seed N    Seed of all inputs [1]"
class PlainHelp : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_items_expected_max() == 0 ? "" : " " + option->get_type_name();
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    const std::string standard = option->get_default_str();
    return option->get_description() + (standard.empty() ? "" : " [" + standard + "]");
  }
};

// Unnamed, so that the help shows the type alone.
CLI::Validator between(double low, double high) {
  return CLI::Validator(
      [low, high](std::string& text) {
        double value = 0;
        const bool number = CLI::detail::lexical_cast(text, value);
        if (number && value >= low && value <= high) return std::string();
        return fmt::format("'{}' is no number from {} to {}", text, low, high);
      },
      "", "");
}

void add_choice_options(CLI::App& app, Options& options, Raw& raw) {
  SuiteOptions& suites = options.suites;
  app.add_option("--implementation", options.implementation, "What is judged: reference, or exec:COMMAND")
      ->capture_default_str()
      ->type_name("NAME");
  app.add_option("--tier", raw.tiers, "Tiers to run: exact,f64,f32,bf16,statistics [all]")->type_name("LIST");
  app.add_option("--tp", raw.tp, "Degrees of tensor parallelism [1,2,3,4,6,8]")->type_name("LIST");
  app.add_option("--model", options.model_file, "Run a GPT-2, Llama or Qwen2 model alone: its config.json")
      ->type_name("FILE");
  app.add_option("--layers", raw.layers, "Layers of the model [all]")->type_name("N")->check(between(1, 1e6));
  app.add_option("--batch", suites.batch, "Sequences in a batch [the suite's choice]")
      ->type_name("N")
      ->check(between(1, 1e6));
  app.add_option("--seq", suites.sequence, "Tokens in a sequence [the suite's choice]")
      ->type_name("N")
      ->check(between(1, 1e8));
  app.add_option("--text", suites.text, "Its words become the tokens [a text that comes along]")
      ->type_name("FILE");
  app.add_option("--random", suites.random, "Run N configurations drawn at random, and nothing else")
      ->type_name("N")
      ->check(between(1, 1e6));
  app.add_option("--case", suites.configuration,
                 "Run the one case that OPTIONS spell, as a failure of --random prints them")
      ->type_name("OPTIONS");
  app.add_option("--seed", suites.seed, "Seed of all inputs")
      ->capture_default_str()
      ->type_name("N")
      ->check(between(0, 0x1p64));
}

void add_run_options(CLI::App& app, Options& options, Raw& raw) {
  app.add_option("--records", options.records, "Append one JSON line per case")->type_name("FILE");
  app.add_option("--junit", options.junit, "Write JUnit XML at the end")->type_name("FILE");
  app.add_option("--dump", options.dump, "Keep expected, got and inputs of failing cases as .npy files")
      ->type_name("DIR");
  app.add_option("--diagnose", raw.diagnose, "Failures to explain: a number, all or off [3]")->type_name("N");
  app.add_option("--deadline", options.deadline, "That a case may take")
      ->capture_default_str()
      ->type_name("SECONDS")
      ->check(between(0.01, 1e6));
  app.add_option("--expectations", options.expectations,
                 "What the implementation must pass, and what is explained")
      ->type_name("FILE");
  app.add_option("--start-deadline", options.start_deadline, "That the processes of exec: may take to start")
      ->capture_default_str()
      ->type_name("SECONDS")
      ->check(between(0.01, 1e6));
  app.add_option("--ranks", options.ranks, "Start N ranks under mpirun, and clean up behind them")
      ->type_name("N")
      ->check(between(1, 1e5));
  app.add_flag("--list", options.list, "List the cases, a line each, and why some cannot run here");
  app.add_flag("--coverage", options.coverage,
               "Print how many cases each cell of the coverage table has, or why "
               "none");
  app.add_option("--explain", options.explain, "Print what a case states: formula, shapes, mesh, tolerance")
      ->type_name("CASE");
  app.add_option("--list-saved", options.list_saved, "Print what a case keeps between forward and backward")
      ->type_name("CASE");
  app.add_flag(
      "--dry-run", options.dry_run,
      "Print what the --model sends and keeps at each degree of --tp, of any size, without running it");
  app.add_flag("--version", options.version, "Print version and commit");
  app.add_flag("-h,--help", options.help, "Print this help");
}

void add_fault_options(CLI::App& app, Options& options) {
  const std::string group = "Faults";
  app.add_flag("--list-faults", options.list_faults,
               "Print the defects that can be planted, their public sources, and which ones are not and why")
      ->group(group);
  app.add_flag("--faults", options.faults,
               "Plant one fault after the other and see which case rejects it; records go to faults.jsonl or "
               "--records")
      ->group(group);
  app.add_flag("--diagnose-faults", options.diagnose_faults,
               "Plant one fault after the other, and 20 pairs, and see whether the diagnosis names them")
      ->group(group);
  app.add_option("--fault-filter", options.fault_filter, "Only faults with such ids, as 'TP-0?,COMM-*'")
      ->capture_default_str()
      ->type_name("PATTERNS")
      ->group(group);
  app.add_flag("--all", options.all, "Run every case that could see a fault, not up to the first that does")
      ->group(group);
  app.add_option("--table", options.table, "Write the matrix as markdown")->type_name("FILE")->group(group);
}

void add_front_options(CLI::App& app, FrontOptions& front) {
  const std::string group = "GoogleTest";
  app.add_option("--gtest_filter", front.filter, "Run the cases that match, as 'mesh.*:*tp4*-*bf16*'")
      ->capture_default_str()
      ->type_name("PATTERNS")
      ->group(group);
  app.add_flag("--gtest_list_tests", front.list_tests, "List the cases as GoogleTest does")->group(group);
  app.add_option("--gtest_repeat", front.repeat, "Run all that many times")
      ->capture_default_str()
      ->type_name("N")
      ->check(between(1, 1e6))
      ->group(group);
  app.add_flag("--gtest_shuffle", front.shuffle, "Run in random order, the same on all ranks")->group(group);
  app.add_option("--gtest_random_seed", front.random_seed, "Of the order, up to 99999; 0: by the clock")
      ->capture_default_str()
      ->type_name("N")
      ->check(between(0, 99'999))
      ->group(group);
  app.add_flag("--gtest_fail_fast", front.fail_fast, "Run no further case after a failure")->group(group);
  app.add_flag("--gtest_brief", front.brief, "Print failures and the summary alone")->group(group);
}

void add_all_options(CLI::App& app, Options& options, Raw& raw) {
  app.set_help_flag();
  app.formatter(std::make_shared<PlainHelp>());
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  add_choice_options(app, options, raw);
  add_run_options(app, options, raw);
  add_fault_options(app, options);
  add_front_options(app, options.front);
  app.footer(exit_codes);
}

CLI::App make_app() {
  return CLI::App("Proves that tensor-parallel transformer layers compute what one device would compute.",
                  "tp_conformance");
}

// GoogleTest swallows what it does not know; here nothing is ignored.
void refuse_other_gtest_flags(const Arguments& arguments) {
  for (const std::string& argument : arguments) {
    if (argument.starts_with("--gtest_output"))
      throw UsageError("--gtest_output would be written by every rank; use --junit FILE");
    const std::string flag = argument.substr(0, argument.find('='));
    if (flag.starts_with("--gtest_") && passed_on.find(flag) == std::string_view::npos)
      throw UsageError(fmt::format("{} is not passed on to GoogleTest; these are: {}", flag, passed_on));
  }
}

void check_fault_options(const CLI::App& app, Options& options) {
  const bool plants = options.faults || options.diagnose_faults;
  if (options.faults && options.diagnose_faults)
    throw UsageError("--faults and --diagnose-faults exclude each other: leave out one of the two");
  if (!plants)
    for (const char* own : {"--fault-filter", "--table"})
      if (app.count(own) > 0)
        throw UsageError(fmt::format("{} belongs to --faults or --diagnose-faults, which are missing", own));
  if (!options.faults && app.count("--all") > 0)
    throw UsageError("--all belongs to --faults, which is missing");
  if (plants && app.count("--implementation") > 0)
    throw UsageError(
        "--faults and --diagnose-faults plant the faults themselves; leave out --implementation");
  constexpr double deadline_of_a_planted_hang = 5;
  if (plants && app.count("--deadline") == 0) options.deadline = deadline_of_a_planted_hang;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

Options parse_options(const Arguments& arguments) {
  refuse_other_gtest_flags(arguments);
  Options options;
  Raw raw;
  CLI::App app = make_app();
  add_all_options(app, options, raw);
  try {
    app.parse(Arguments(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ExtrasError&) {
    throw UsageError(fmt::format("unknown: {}; see --help", joined(app.remaining(), " ")));
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}; see --help", one_line(error.what())));
  }
  SuiteOptions& suites = options.suites;
  suites.tiers_given = app.count("--tier") > 0;
  suites.tiers = suites.tiers_given ? tiers_named(raw.tiers)
                                    : std::vector<Tier>(std::begin(all_tiers), std::end(all_tiers));
  if (options.dry_run && options.model_file.empty())
    throw UsageError("--dry-run needs a --model: the path of a config.json");
  if (suites.random > 0 && !suites.configuration.empty())
    throw UsageError("--case and --random exclude each other: leave out one of the two");
  check_fault_options(app, options);
  if (app.count("--diagnose") > 0) options.diagnose = failures_to_diagnose(raw.diagnose);
  suites.tp_given = app.count("--tp") > 0;
  if (suites.tp_given) suites.tp = degrees(raw.tp);
  if (app.count("--layers") > 0) suites.layers = raw.layers;
  return options;
}

std::string help_text() {
  Options options;
  Raw raw;
  CLI::App app = make_app();
  add_all_options(app, options, raw);
  return app.help();
}

std::chrono::milliseconds deadline_of(const Options& options) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(options.deadline * 1000));
}

std::chrono::milliseconds start_deadline_of(const Options& options) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(options.start_deadline * 1000));
}

}  // namespace tpc
