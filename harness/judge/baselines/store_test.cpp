// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/baselines/store.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "harness/judge/compare/tiers.hpp"
#include "harness/judge/inputs/inputs.hpp"
#include "harness/judge/inputs/problem_inputs.hpp"
#include "reference/baseline/baseline.hpp"
#include "reference/comm/local/local.hpp"

namespace tpc {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t plenty = 1ULL << 30U;

Case case_of(Operation operation, Tier tier, DType dtype, std::uint64_t seed = 1) {
  Case c;
  c.suite = "test";
  c.name = fmt::format("{}_{}_{}", name(operation), name(tier), seed);
  c.tier = tier;
  c.request.mesh = {{4}, {"tp"}};
  Problem& problem = c.request.problem;
  problem.asked = operation;
  problem.dtype = dtype;
  problem.seed = seed;
  problem.batch = 2;
  problem.sequence = 8;
  problem.model.hidden = 16;
  problem.model.ffn = 32;
  problem.model.heads = problem.model.kv_heads = 4;
  problem.model.head_dim = 4;
  problem.model.vocab = 40;
  problem.model.positions = 8;
  problem.inputs = inputs_for(problem, tier == Tier::exact ? InputRecipe::exact : InputRecipe::gaussian);
  return c;
}

// Answers with the baseline itself, every element off by `error` relative to the tensor's largest.
class OffBy : public Implementation {
 public:
  explicit OffBy(double error) : error_(error) {}
  std::string name() const override { return "off"; }
  Response run(const Request& request, const CommunicatorPtr& ranks) override {
    ++runs;
    ranks_seen = std::max({ranks_seen.load(), ranks->size(), request.mesh.ranks()});
    if (throws) throw std::runtime_error("no");
    baseline::Inputs inputs;
    for (const InputSpec& input : request.problem.inputs)
      inputs[input.name] = {input.shape, draw_rounded(request.problem, input)};
    Response response;
    response.status = Response::Status::result;
    for (const auto& [tensor, answer] :
         baseline::solve(request.problem.operation(), request.problem.model, inputs).answers) {
      LocalTensor local = {tensor, host_tensor(DType::f64, answer.value.shape),
                           replicate(answer.value.shape)};
      for (std::size_t i = 0; i < answer.value.values.size(); ++i)
        local.data.data<double>()[i] = answer.value.values[i] * (1 + error_);
      response.tensors.push_back(std::move(local));
    }
    return response;
  }
  std::atomic<int> runs = 0;
  std::atomic<int> ranks_seen = 0;
  bool throws = false;

 private:
  double error_;
};

using OnRank = std::function<void(BaselineStore& store, int rank)>;

// Rethrows what a rank threw.
void on_ranks(int size, std::uint64_t budget, const OnRank& run) {
  const std::vector<CommunicatorPtr> world = make_local_world(size);
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r)
    threads.emplace_back([&, r, i = static_cast<std::size_t>(r)] {
      try {
        BaselineStore store(world[i], budget);
        run(store, r);
      } catch (...) {
        thrown[i] = std::current_exception();
        world[i]->abort();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& exception : thrown)
    if (exception) std::rethrow_exception(exception);
}

std::vector<fs::path> own_folders() {
  std::vector<fs::path> folders;
  const std::string prefix = fmt::format("tp_conformance.{}.", ::getuid());
  for (const auto& entry : fs::directory_iterator("/dev/shm"))
    if (entry.path().filename().string().starts_with(fmt::format("{}{}.", prefix, ::getpid())))
      folders.push_back(entry);
  return folders;
}

TEST(BaselineStore, EveryRankSeesTheSameAnswers) {
  const Case linear = case_of(Operation::column_linear, Tier::f64, DType::f64);
  const Case mlp = case_of(Operation::mlp, Tier::f64, DType::f64);
  const std::vector<const Case*> wanted = {&linear, &mlp, &linear};
  OffBy implementation(0);
  on_ranks(3, plenty, [&](BaselineStore& store, int) {
    store.prepare(wanted, implementation);
    for (const Case* c : wanted) {
      ASSERT_TRUE(store.has(*c));
      EXPECT_EQ(store.defect(*c), "");
      const Expected& y = store.expected(*c).at("y");
      EXPECT_EQ(y.shape, (Shape{8, 2, c == &linear ? 32 : 16}));
      EXPECT_GE(y.scale_norm, y.norm * 0.99);
      EXPECT_GT(y.scale_max, 0);
      double squares = 0;
      for (std::int64_t i = 0; i < element_count(y.shape); ++i) squares += y.values[i] * y.values[i];
      EXPECT_DOUBLE_EQ(std::sqrt(squares), y.norm);
    }
    EXPECT_TRUE(store.expected(linear).contains("grad.bias"));
  });
  EXPECT_EQ(implementation.runs, 0) << "nobody asks for e_1 in the f64 tier";
  EXPECT_TRUE(own_folders().empty());
}

TEST(BaselineStore, AnswersAreThoseOfTheRoundedInputs) {
  const Case c = case_of(Operation::column_linear, Tier::bf16, DType::bf16);
  const Problem& problem = c.request.problem;
  const std::vector<double> x = draw_rounded(problem, input_named(problem, "x"));
  const std::vector<double> weight = draw_rounded(problem, input_named(problem, "weight"));
  const std::vector<double> bias = draw_rounded(problem, input_named(problem, "bias"));
  double y0 = bias[0];
  for (std::size_t i = 0; i < 16; ++i) y0 += x[i] * weight[i];
  OffBy implementation(0);
  const std::vector<const Case*> wanted = {&c};
  on_ranks(1, plenty, [&](BaselineStore& store, int) {
    store.prepare(wanted, implementation);
    EXPECT_NEAR(store.expected(c).at("y").values[0], y0, 1e-12);
  });
}

TEST(BaselineStore, RoundingTiersComeWithBothErrors) {
  const Case f32 = case_of(Operation::mlp, Tier::f32, DType::f32);
  const Case bf16 = case_of(Operation::mlp, Tier::bf16, DType::bf16);
  OffBy implementation(0x1p-10);
  const std::vector<const Case*> wanted = {&f32, &bf16};
  on_ranks(2, plenty, [&](BaselineStore& store, int) {
    store.prepare(wanted, implementation);
    for (const Case* c : wanted)
      for (const auto& [tensor, expected] : store.expected(*c)) {
        const double u = unit_roundoff(c->request.problem.dtype);
        EXPECT_GT(expected.perturbed, u / 50) << tensor;
        EXPECT_LT(expected.perturbed, u * 5) << tensor;
        EXPECT_NEAR(expected.single, 0x1p-10 * expected.norm / std::max(expected.norm, expected.scale_norm),
                    1e-12);
      }
  });
  EXPECT_EQ(implementation.runs, 2) << "once per problem";
  EXPECT_EQ(implementation.ranks_seen, 1);
}

TEST(BaselineStore, NoAnswerOnOneRankIsNoDefect) {
  const Case c = case_of(Operation::mlp, Tier::f32, DType::f32);
  OffBy implementation(0);
  implementation.throws = true;
  const std::vector<const Case*> wanted = {&c};
  on_ranks(2, plenty, [&](BaselineStore& store, int) {
    store.prepare(wanted, implementation);
    EXPECT_EQ(store.defect(c), "");
    EXPECT_EQ(store.expected(c).at("y").single, -1);
  });
}

TEST(BaselineStore, OnlyWhatIsWantedStays) {
  const Case one = case_of(Operation::mlp, Tier::f64, DType::f64, 1);
  const Case two = case_of(Operation::mlp, Tier::f64, DType::f64, 2);
  OffBy implementation(0);
  const std::vector<const Case*> first = {&one};
  const std::vector<const Case*> second = {&two};
  on_ranks(2, plenty, [&](BaselineStore& store, int) {
    store.prepare(first, implementation);
    EXPECT_TRUE(store.has(one));
    EXPECT_FALSE(store.has(two));
    store.prepare(second, implementation);
    EXPECT_FALSE(store.has(one));
    EXPECT_TRUE(store.has(two));
    EXPECT_THROW(store.expected(one), ContractError);
  });
}

TEST(BaselineStore, FurtherNeedsAreMetLater) {
  Case plain = case_of(Operation::mlp, Tier::f64, DType::f32);
  Case rounded = plain;
  rounded.tier = Tier::f32;
  OffBy implementation(0);
  const std::vector<const Case*> first = {&plain};
  const std::vector<const Case*> second = {&plain, &rounded};
  on_ranks(2, plenty, [&](BaselineStore& store, int) {
    store.prepare(first, implementation);
    EXPECT_FALSE(store.has(rounded));
    store.prepare(second, implementation);
    EXPECT_TRUE(store.has(rounded));
    EXPECT_GT(store.expected(rounded).at("y").perturbed, 0);
  });
}

TEST(BaselineStore, TheBudgetBoundsHowMany) {
  const Case one = case_of(Operation::mlp, Tier::f64, DType::f64, 1);
  const Case two = case_of(Operation::mlp, Tier::f64, DType::f64, 2);
  OffBy implementation(0);
  const std::vector<const Case*> wanted = {&one, &two};
  const std::vector<const Case*> reversed = {&two, &one};
  const std::uint64_t each = BaselineStore::bytes_needed(one.request.problem);
  on_ranks(2, each + each / 8, [&](BaselineStore& store, int) {
    store.prepare(wanted, implementation);
    EXPECT_TRUE(store.has(one));
    EXPECT_FALSE(store.has(two));
    store.prepare(reversed, implementation);
    EXPECT_TRUE(store.has(two)) << "the first, whatever else is there";
  });
}

TEST(BaselineStore, WhatDoesNotFitIsSaidWithBothNumbers) {
  const Case c = case_of(Operation::mlp, Tier::f64, DType::f64);
  OffBy implementation(0);
  const std::vector<const Case*> wanted = {&c};
  try {
    on_ranks(2, 1ULL << 14U, [&](BaselineStore& store, int) { store.prepare(wanted, implementation); });
    FAIL() << "fitted";
  } catch (const EnvironmentError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("the baseline of mlp needs 0.1 MiB"), std::string::npos) << text;
    EXPECT_NE(text.find("0.0 MiB are allowed"), std::string::npos) << text;
    EXPECT_NE(text.find("--layers"), std::string::npos) << text;
  }
  EXPECT_TRUE(own_folders().empty());
}

TEST(BaselineStore, AProblemThatCannotBeSolvedIsADefectForAll) {
  Case broken = case_of(Operation::mlp, Tier::f64, DType::f64);
  broken.request.problem.inputs.pop_back();
  Case unread = case_of(Operation::model, Tier::f64, DType::f64);
  unread.request.problem.inputs =
      inputs_for(unread.request.problem, InputRecipe::gaussian, {0, 4, 0.1, "/no/such/text"});
  const Case fine = case_of(Operation::mlp, Tier::f64, DType::f64);
  OffBy implementation(0);
  const std::vector<const Case*> wanted = {&broken, &fine, &unread};
  on_ranks(3, plenty, [&](BaselineStore& store, int) {
    store.prepare(wanted, implementation);
    EXPECT_NE(store.defect(broken).find("fc2.bias"), std::string::npos) << store.defect(broken);
    EXPECT_NE(store.defect(unread).find("/no/such/text"), std::string::npos) << store.defect(unread);
    EXPECT_EQ(store.defect(fine), "");
    EXPECT_TRUE(store.has(broken));
    EXPECT_TRUE(store.expected(broken).empty());
  });
}

TEST(BaselineStore, InexactInputsAreADefectOfTheExactTierAlone) {
  Case exact = case_of(Operation::column_linear, Tier::exact, DType::f32);
  for (InputSpec& input : exact.request.problem.inputs)
    input.generator = {Generator::Kind::integers, -4000, 4000};
  Case tolerant = exact;
  tolerant.tier = Tier::f32;
  const Case fine = case_of(Operation::column_linear, Tier::exact, DType::f32);
  OffBy implementation(0);
  const std::vector<const Case*> wanted = {&exact, &tolerant, &fine};
  on_ranks(2, plenty, [&](BaselineStore& store, int) {
    store.prepare(wanted, implementation);
    EXPECT_NE(store.defect(exact).find("f32 counts to 16777216"), std::string::npos) << store.defect(exact);
    EXPECT_EQ(store.defect(tolerant), "");
    EXPECT_EQ(store.defect(fine), "");
  });
}

TEST(BaselineStore, ShortTextsAreADefect) {
  const fs::path text = fs::temp_directory_path() / fmt::format("tpc_store_{}.txt", ::getpid());
  std::ofstream(text) << "a few words";
  Case c = case_of(Operation::model, Tier::f64, DType::f64);
  c.request.problem.sequence = 2;
  c.request.problem.inputs =
      inputs_for(c.request.problem, InputRecipe::gaussian, {0, 4, 0.25, text.string()});
  OffBy implementation(0);
  const std::vector<const Case*> wanted = {&c};
  on_ranks(1, plenty, [&](BaselineStore& store, int) {
    store.prepare(wanted, implementation);
    EXPECT_NE(store.defect(c).find("do not hold the ids"), std::string::npos) << store.defect(c);
  });
  fs::remove(text);
}

// What should be refused may be answered, if the answer is right.
TEST(BaselineStore, WhatIsToBeRefusedHasAnAnswer) {
  Case refusal = case_of(Operation::mlp, Tier::f64, DType::f64);
  refusal.expectation = Expectation::refusal;
  OffBy implementation(0);
  const std::vector<const Case*> wanted = {&refusal};
  on_ranks(2, plenty, [&](BaselineStore& store, int) {
    EXPECT_FALSE(store.has(refusal));
    store.prepare(wanted, implementation);
    EXPECT_TRUE(store.has(refusal));
    EXPECT_EQ(store.defect(refusal), "");
    EXPECT_TRUE(store.expected(refusal).contains("y"));
  });
}

}  // namespace
}  // namespace tpc
