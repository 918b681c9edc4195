// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/configuration/configuration.hpp"

#include <gtest/gtest.h>

#include "harness/explain/configuration/fields.hpp"
#include "harness/explain/configuration/shrink.hpp"

namespace tpc {
namespace {

std::string refusal_of(const std::string& text) {
  try {
    configuration_of(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "taken";
}

void expect_refusal(const std::string& text, const std::string& words) {
  EXPECT_NE(refusal_of(text).find(words), std::string::npos) << text << ": " << refusal_of(text);
}

constexpr const char* large =
    "op=model,tier=bf16,tp=4,sp=regathered,layers=2,batch=3,seq=8,hidden=16,heads=8,kv_heads=2,head_dim=6,"
    "ffn=12,vocab=37,padded_vocab=40,norm=rms_norm,eps=0.001,mlp=swiglu,position=rotary,rotary=interleaved,"
    "theta=500000,causal=1,qkv_bias=1,tied=1,smoothing=0.1,smoothing_over=other,z_loss=0.0009765625,"
    "mean_over=all,ignored=0.15,ignore_index=-1,scale=0.375,stretch=8,fused=1,recompute=full,"
    "drop_embedding=0.1,drop_attention=0.25,drop_hidden=0.1,training=0";

TEST(Configuration, IsTheLineItWasReadFrom) {
  EXPECT_EQ(to_text(Configuration()), "op=column_linear");
  for (const std::string text :
       {large, "op=train,tp=2,hidden=2,heads=2,kv_heads=2,ffn=2,steps=3,optimizer=adamw,lr=0.25",
        "op=row_linear,tier=exact,dtype=bf16,tp=3,sp=kept,seq=3,ffn=3,mlp_bias=1,input_is_split=0"}) {
    const Configuration configuration = configuration_of(text);
    EXPECT_EQ(configuration_of(to_text(configuration)), configuration) << text;
  }
  EXPECT_EQ(to_text(configuration_of(large)), large);
  EXPECT_EQ(to_text(configuration_of("seq=2,tier=exact,dtype=f32,op=mlp")),
            "op=mlp,tier=exact,dtype=f32,seq=2");
}

TEST(Configuration, RefusesWhatItDoesNotUnderstand) {
  expect_refusal("op=mlp,bath=2", "'bath' is no option of a case; there are op, tier,");
  expect_refusal("op=mlp,batch", "'batch' is not of the form option=value");
  expect_refusal("", "'' is not of the form option=value");
  expect_refusal("op=mlp,batch=2,batch=2", "batch is given twice");
  expect_refusal("op=mlp,batch=0", "batch=0 cannot be: batch is a whole number from 1");
  expect_refusal("op=mlp,batch=2x", "batch=2x cannot be");
  expect_refusal("op=mlp,sp=on", "sp is off, kept or regathered");
  expect_refusal("op=mlp,heads=2", "heads does not matter to 'op=mlp,heads=2'");
  expect_refusal("op=mlp,dtype=f32", "dtype does not matter");
  expect_refusal("op=init", "op is column_linear, row_linear,");
  expect_refusal("op=model,smoothing=1", "a number from 0 and below 1");
  expect_refusal("op=model,smoothing=nan", "a number from 0 and below 1");
}

TEST(Configuration, RefusesWhatCannotBe) {
  expect_refusal("op=mlp,tp=2", "feed-forward size 1 is not divisible by tp 2");
  expect_refusal("op=attention,heads=4,kv_heads=3", "kv_heads 3 do not divide heads 4");
  expect_refusal("op=attention,position=rotary,head_dim=3", "an even head_dim, not 3");
  expect_refusal("op=model,tier=exact", "op=model has no tier=exact");
  expect_refusal("op=attention,drop_attention=0.5,profile=megatron,tier=bf16", "tier=f64 alone");
}

TEST(Configuration, MakesACaseThatCanBeReadBack) {
  for (const std::string text : {large, "op=vocab_cross_entropy,tier=exact,seq=5,ignored=0.25", "op=mlp"}) {
    const Case c = case_of(configuration_of(text), "one");
    const auto back = configuration_of(c);
    ASSERT_TRUE(back.has_value()) << text;
    EXPECT_EQ(case_of(*back, "one").request, c.request);
  }
}

TEST(Configuration, KeepsTheFormatOfItsTier) {
  Configuration c = configuration_of("op=mlp,tier=bf16");
  drop_what_does_not_matter(c);
  EXPECT_EQ(c.problem.dtype, DType::bf16);
  EXPECT_EQ(configuration_of("op=mlp,tier=f32").problem.dtype, DType::f32);
}

TEST(Configuration, DoesNotSpellACaseOfMore) {
  Case c = case_of(configuration_of("op=mlp"), "one");
  c.request.problem.model.rotary_theta = 5;  // does not matter to it
  EXPECT_TRUE(configuration_of(c).has_value());
  Case other_data = c;
  other_data.request.problem.inputs[0].generator.a = 7;
  EXPECT_FALSE(configuration_of(other_data).has_value());
  Case judged_for_more = c;
  judged_for_more.account = Account{};
  EXPECT_FALSE(configuration_of(judged_for_more).has_value());
  Case steps = case_of(configuration_of("op=train,hidden=2,ffn=2"), "one");
  steps.request.problem.train.reports = {1, 2};
  EXPECT_FALSE(configuration_of(steps).has_value());
}

TEST(Shrinking, EndsAtTheSmallestThatStillFails) {
  const auto fails = [](const Configuration& c) {
    return c.tp > 1 && c.problem.model.mlp_bias && c.problem.batch * c.problem.sequence > 2;
  };
  Configuration start = configuration_of(
      "op=model,tier=f32,tp=4,sp=kept,layers=3,batch=3,seq=8,hidden=16,heads=8,kv_heads=4,head_dim=6,ffn=12,"
      "vocab=37,padded_vocab=40,mlp_bias=1,qkv_bias=1,smoothing=0.1,recompute=full,drop_hidden=0.1");
  const Shrunk shrunk = shrink(start, fails, 1000);
  EXPECT_TRUE(shrunk.finished);
  EXPECT_EQ(to_text(shrunk.smallest), "op=column_linear,tp=2,seq=3,ffn=2,mlp_bias=1");
  for (const Configuration& smaller : smaller_configurations(shrunk.smallest)) EXPECT_FALSE(fails(smaller));
}

TEST(Shrinking, StopsWhenTheAttemptsRunOut) {
  const Configuration start =
      configuration_of("op=model,tp=2,layers=3,batch=3,seq=8,hidden=16,heads=2,ffn=4");
  const Shrunk shrunk = shrink(
      start, [](const Configuration&) { return true; }, 2);
  EXPECT_EQ(shrunk.attempts, 2);
  EXPECT_FALSE(shrunk.finished);
}

TEST(Shrinking, NeverProposesWhatIsInvalidOrNotSmaller) {
  const Configuration start = configuration_of(large);
  for (const Configuration& smaller : smaller_configurations(start)) {
    EXPECT_EQ(configuration_defect(smaller), "") << to_text(smaller);
    EXPECT_NE(to_text(smaller), to_text(start));
  }
}

}  // namespace
}  // namespace tpc
