// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/configuration/fields.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "harness/explain/configuration/relevance.hpp"

namespace tpc {

namespace {

using C = Configuration;
using Matters = bool (*)(const C&);

// A reference to the same member of a constant or a changeable configuration.
template <class At>
auto& read(const At& at, const C& c) {
  return at(const_cast<C&>(c));  // NOLINT(cppcoreguidelines-pro-type-const-cast): `at` only names a member
}

template <class T>
bool parse_all(const std::string& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

template <class At>
Field whole(const char* key, std::int64_t least, At at, Matters matters) {
  using T = std::remove_reference_t<std::invoke_result_t<At, C&>>;
  return {key,
          Field::Kind::whole,
          fmt::format("a whole number from {}", least),
          [at](const C& c) { return fmt::format("{}", read(at, c)); },
          [at, least](C& c, const std::string& text) {
            T value{};
            if (!parse_all(text, value) || value < least) return false;
            at(c) = value;
            return true;
          },
          matters};
}

template <class At>
Field real(const char* key, double least, double below, At at, Matters matters) {
  return {key,
          Field::Kind::real,
          std::isinf(below) ? fmt::format("a number from {}", least)
                            : fmt::format("a number from {} and below {}", least, below),
          [at](const C& c) { return fmt::format("{}", read(at, c)); },
          [=](C& c, const std::string& text) {
            double value = 0;
            const bool infinite = text == "inf" && std::isinf(below);
            if (!infinite && (!parse_all(text, value) || !(value >= least && value < below))) return false;
            at(c) = infinite ? below : value;
            return true;
          },
          matters};
}

// The names of an enumeration, in the order of its values.
template <class At>
Field choice(const char* key, const std::vector<std::string>& names, At at, Matters matters) {
  using T = std::remove_reference_t<std::invoke_result_t<At, C&>>;
  return {key,
          Field::Kind::choice,
          either(names),
          [at, names](const C& c) { return names.at(static_cast<std::size_t>(read(at, c))); },
          [at, names](C& c, const std::string& text) {
            for (std::size_t i = 0; i < names.size(); ++i)
              if (names[i] == text) {
                at(c) = static_cast<T>(i);
                return true;
              }
            return false;
          },
          matters};
}

// An enumeration as it is spelt everywhere.
template <class At>
Field choice(const char* key, At at, Matters matters) {
  using T = std::remove_reference_t<std::invoke_result_t<At, C&>>;
  std::vector<std::string> names;
  for (const std::string_view word : words(T{})) names.emplace_back(word);
  return choice(key, names, at, matters);
}

template <class At>
Field flag(const char* key, At at, Matters matters) {
  return choice(key, {"0", "1"}, at, matters);
}

Field operation_field() {
  std::vector<std::string> names;
  for (const Operation operation : configurable_operations()) names.emplace_back(name(operation));
  return {"op",
          Field::Kind::choice,
          either(names),
          [](const C& c) { return std::string(name(c.problem.operation())); },
          [names](C& c, const std::string& text) {
            for (const std::string& known : names)
              if (known == text) {
                c.problem.asked = operation_named(text);
                return true;
              }
            return false;
          },
          [](const C&) { return true; }};
}

// The dtype of every tier but the exact one is its own.
void follow_tier(C& c) {
  c.problem.dtype = c.tier == Tier::f32 ? DType::f32 : c.tier == Tier::bf16 ? DType::bf16 : DType::f64;
}

std::vector<Field> size_fields() {
  const Matters tier_and_dtype = [](const C&) { return true; };
  Field tier = choice(
      "tier", {"exact", "f64", "f32", "bf16"}, [](C& c) -> Tier& { return c.tier; }, tier_and_dtype);
  tier.set = [set = tier.set](C& c, const std::string& text) {
    const bool known = set(c, text);
    follow_tier(c);
    return known;
  };
  Field dtype = choice(
      "dtype", {"f64", "f32", "bf16"}, [](C& c) -> DType& { return c.problem.dtype; },
      [](const C& c) { return c.tier == Tier::exact; });
  dtype.set = [set = dtype.set](C& c, const std::string& text) {
    const bool known = set(c, text);
    if (c.tier != Tier::exact) follow_tier(c);
    return known;
  };
  return {
      operation_field(),
      tier,
      dtype,
      whole(
          "tp", 1, [](C& c) -> int& { return c.tp; }, tier_and_dtype),
      choice(
          "sp", [](C& c) -> SequenceParallel& { return c.sharding.sequence_parallel; },
          [](const C& c) { return !c.problem.asks(Operation::vocab_cross_entropy); }),
      whole(
          "layers", 1, [](C & c) -> auto& { return c.problem.model.layers; }, relevance::is_whole),
      whole(
          "batch", 1, [](C & c) -> auto& { return c.problem.batch; }, tier_and_dtype),
      whole(
          "seq", 1, [](C & c) -> auto& { return c.problem.sequence; }, tier_and_dtype),
      whole(
          "hidden", 1, [](C & c) -> auto& { return c.problem.model.hidden; },
          [](const C& c) { return !c.problem.asks(Operation::vocab_cross_entropy); }),
      whole(
          "heads", 1, [](C & c) -> auto& { return c.problem.model.heads; }, relevance::has_attention),
      whole(
          "kv_heads", 1, [](C & c) -> auto& { return c.problem.model.kv_heads; }, relevance::has_attention),
      whole(
          "head_dim", 1, [](C & c) -> auto& { return c.problem.model.head_dim; }, relevance::has_attention),
      whole(
          "ffn", 1, [](C & c) -> auto& { return c.problem.model.ffn; },
          [](const C& c) { return relevance::has_mlp(c) || relevance::is_linear(c); }),
      whole(
          "vocab", 1, [](C & c) -> auto& { return c.problem.model.vocab; }, relevance::has_vocab),
      whole(
          "padded_vocab", 0, [](C & c) -> auto& { return c.sharding.padded_vocab; }, relevance::has_vocab)};
}

std::vector<Field> definition_fields() {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  using namespace relevance;
  const Matters has_gelu = [](const C& c) { return has_mlp(c) && c.problem.model.mlp == MlpKind::gelu; };
  const Matters block_norm = has_blocks;
  return {
      choice(
          "norm", [](C & c) -> auto& { return c.problem.model.norm; }, block_norm),
      real(
          "eps", 0, infinite, [](C & c) -> auto& { return c.problem.model.norm_eps; }, has_norm),
      choice(
          "mlp", [](C & c) -> auto& { return c.problem.model.mlp; }, has_mlp),
      choice(
          "gelu", [](C & c) -> auto& { return c.problem.model.gelu; }, has_gelu),
      choice(
          "position", [](C & c) -> auto& { return c.problem.model.position; },
          [](const C& c) { return has_attention(c) || has_embedding(c); }),
      whole(
          "positions", 0, [](C & c) -> auto& { return c.problem.model.positions; },
          [](const C& c) { return has_embedding(c) && c.problem.model.position == PositionKind::learned; }),
      choice(
          "rotary", [](C & c) -> auto& { return c.problem.model.rotary; }, is_rotary),
      real(
          "theta", 1, infinite, [](C & c) -> auto& { return c.problem.model.rotary_theta; }, is_rotary),
      flag(
          "causal", [](C& c) -> bool& { return c.problem.model.causal; }, has_attention),
      flag(
          "qkv_bias", [](C& c) -> bool& { return c.problem.model.qkv_bias; }, has_attention),
      flag(
          "out_bias", [](C& c) -> bool& { return c.problem.model.out_bias; }, has_attention),
      flag(
          "mlp_bias", [](C& c) -> bool& { return c.problem.model.mlp_bias; },
          [](const C& c) { return has_mlp(c) || is_linear(c); }),
      flag(
          "tied", [](C& c) -> bool& { return c.problem.model.tied_head; }, is_whole),
      real(
          "smoothing", 0, 1, [](C & c) -> auto& { return c.problem.model.loss.label_smoothing; }, has_loss),
      choice(
          "smoothing_over", {"all", "other"},
          [](C & c) -> auto& { return c.problem.model.loss.smoothing_over; },
          [](const C& c) { return has_loss(c) && c.problem.model.loss.label_smoothing > 0; }),
      real(
          "z_loss", 0, infinite, [](C & c) -> auto& { return c.problem.model.loss.z_loss; }, has_loss),
      choice(
          "mean_over", {"valid", "all"}, [](C & c) -> auto& { return c.problem.model.loss.mean_over; },
          has_loss),
      real(
          "ignored", 0, 1, [](C& c) -> double& { return c.ignored; }, has_loss),
      whole(
          "ignore_index", -1000000, [](C & c) -> auto& { return c.problem.model.loss.ignore_index; },
          [](const C& c) { return has_loss(c) && c.ignored > 0; }),
  };
}

// Members that may be absent: an empty word for that.
std::vector<Field> optional_fields() {
  Field scale = {"scale",
                 Field::Kind::real,
                 "a positive number, or default",
                 [](const C& c) {
                   const auto& given = c.problem.model.attention_scale;
                   return given ? fmt::format("{}", *given) : std::string("default");
                 },
                 [](C& c, const std::string& text) {
                   double value = 0;
                   const bool number = parse_all(text, value) && value > 0;
                   if (number) c.problem.model.attention_scale = value;
                   if (text == "default") c.problem.model.attention_scale.reset();
                   return number || text == "default";
                 },
                 relevance::has_attention};
  Field stretch = {"stretch",
                   Field::Kind::real,
                   "0, or the factor above 1 of Llama 3 for 64 original positions",
                   [](const C& c) {
                     const auto& given = c.problem.model.rotary_scaling;
                     return fmt::format("{}", given ? given->factor : 0);
                   },
                   [](C& c, const std::string& text) {
                     double value = 0;
                     if (!parse_all(text, value) || (value != 0 && !(value > 1))) return false;
                     auto& scaling = c.problem.model.rotary_scaling;
                     scaling.reset();
                     if (value != 0) scaling = RotaryScaling{value, 1, 4, 64};
                     return true;
                   },
                   relevance::is_rotary};
  return {scale, stretch};
}

std::vector<Field> cut_fields() {
  using namespace relevance;
  const Matters fuses = [](const C& c) {
    return has_attention(c) || (has_mlp(c) && c.problem.model.mlp == MlpKind::swiglu);
  };
  const Matters off = [](const C& c) {
    return c.sharding.sequence_parallel == SequenceParallel::off && (has_attention(c) || has_mlp(c));
  };
  return {
      flag(
          "fused", [](C& c) -> bool& { return c.sharding.fused; }, fuses),
      flag(
          "own_entries", [](C& c) -> bool& { return c.sharding.own_entries; }, off),
      choice(
          "order", [](C & c) -> auto& { return c.sharding.mlp_order; },
          [](const C& c) { return c.problem.asks(Operation::mlp); }),
      flag(
          "gather_output", [](C& c) -> bool& { return c.sharding.gather_output; },
          [](const C& c) { return c.problem.asks(Operation::column_linear); }),
      flag(
          "input_is_split", [](C& c) -> bool& { return c.sharding.input_is_split; },
          [](const C& c) { return c.problem.asks(Operation::row_linear); }),
      choice(
          "recompute", [](C & c) -> auto& { return c.sharding.recompute; }, has_attention),
      whole(
          "overlap", 1, [](C& c) -> int& { return c.sharding.overlap_chunks; },
          [](const C& c) {
            return c.sharding.sequence_parallel != SequenceParallel::off &&
                   (has_attention(c) || has_mlp(c) || is_linear(c));
          }),
  };
}

std::vector<Field> random_fields() {
  using namespace relevance;
  const std::vector<std::string> profiles = {"invariant", "megatron", "dtensor"};
  const Field profile = {"profile",
                         Field::Kind::choice,
                         either(profiles),
                         [](const C& c) { return c.problem.random.profile; },
                         [profiles](C& c, const std::string& text) {
                           for (const std::string& known : profiles)
                             if (known == text) {
                               c.problem.random.profile = text;
                               return true;
                             }
                           return false;
                         },
                         drops};
  return {
      real(
          "drop_embedding", 0, 1, [](C & c) -> auto& { return c.problem.model.dropout.embedding; },
          has_embedding),
      real(
          "drop_attention", 0, 1, [](C & c) -> auto& { return c.problem.model.dropout.attention; },
          has_attention),
      real(
          "drop_hidden", 0, 1, [](C & c) -> auto& { return c.problem.model.dropout.hidden; }, has_blocks),
      flag(
          "training", [](C& c) -> bool& { return c.problem.random.training; }, drops),
      profile,
  };
}

std::vector<Field> training_fields() {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  using relevance::is_training;
  const Field steps = {"steps",
                       Field::Kind::whole,
                       "a whole number from 1",
                       [](const C& c) { return fmt::format("{}", c.problem.train.steps()); },
                       [](C& c, const std::string& text) {
                         std::int64_t value = 0;
                         if (!parse_all(text, value) || value < 1) return false;
                         c.problem.train.reports = {value};
                         return true;
                       },
                       is_training};
  return {
      steps,
      choice(
          "optimizer", [](C & c) -> auto& { return c.problem.train.optimizer; }, is_training),
      real(
          "lr", 0, infinite, [](C & c) -> auto& { return c.problem.train.lr; }, is_training),
      real(
          "max_norm", 0, infinite, [](C & c) -> auto& { return c.problem.train.max_norm; }, is_training),
      real(
          "norm_p", 1, infinite, [](C & c) -> auto& { return c.problem.train.norm; },
          [](const C& c) { return is_training(c) && c.problem.train.max_norm > 0; }),
  };
}

std::vector<Field> all_fields() {
  std::vector<Field> all;
  for (const auto& list : {size_fields(), definition_fields(), optional_fields(), cut_fields(),
                           random_fields(), training_fields()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace

std::string either(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

const std::vector<Field>& configuration_fields() {
  static const std::vector<Field> fields = all_fields();
  return fields;
}

}  // namespace tpc
