// SPDX-License-Identifier: Apache-2.0
#include "harness/run/process/process_implementation.hpp"

#include <algorithm>

#include "harness/judge/inputs/inputs.hpp"
#include "harness/run/process/child_family.hpp"
#include "harness/run/process/rank_place.hpp"
#include "harness/run/process/request_json.hpp"
#include "harness/run/process/safetensors.hpp"
#include "harness/values/implementation.hpp"

namespace tpc {

namespace {

namespace fs = std::filesystem;

// What an answer may hold: gradients and activations of everything that went in, and room for small problems.
constexpr std::uint64_t answers_per_input = 16;
constexpr std::uint64_t least_answer_limit = std::uint64_t{1} << 30U;

Response response_of(Response::Status status, std::string reason) {
  Response response;
  response.status = status;
  response.reason = std::move(reason);
  return response;
}

class ProcessImplementation : public Implementation {
 public:
  ProcessImplementation(const std::string& command, const RankPlace& place)
      : name_("exec:" + command), family_(command, place) {}

  std::string name() const override { return name_; }
  std::string identity() const override { return family_.identity().name + ' ' + family_.identity().version; }
  void make_ready() override { family_.make_ready(); }

  // `ranks` tells who is in the mesh, and carries nothing: the children talk among themselves.
  Response run(const Request& request, const CommunicatorPtr& ranks) override {
    const int own = family_.place().rank;
    if (ranks->size() == 1) return put(request, {own}, 0);
    return put(request, first(ranks->size()), ranks->rank());
  }

  Response stand_by(const Request& request, int members) override {
    if (members == 1) return Implementation::stand_by(request, members);
    return put(request, first(members), -1);
  }

 private:
  static std::vector<int> first(int members) {
    std::vector<int> ranks;
    for (int rank = 0; rank < members; ++rank) ranks.push_back(rank);
    return ranks;
  }

  fs::path own_file(const char* what) const {
    return family_.place().folder / fmt::format("{}.{}.safetensors", what, family_.place().rank);
  }

  // Whole, so that cutting is the implementation's own work. Problems come several times in a row.
  void write_inputs(const Problem& problem) {
    const std::string wanted = key(problem);
    if (written_ == wanted) return;
    written_.clear();
    NamedTensors inputs;
    input_bytes_ = 0;
    for (const InputSpec& input : problem.inputs) {
      const Shape start(input.shape.size(), 0);
      inputs[input.name] = draw_tensor(problem, input, start, input.shape);
      input_bytes_ += inputs[input.name].bytes();
    }
    write_safetensors(own_file("inputs"), inputs);
    written_ = wanted;
  }

  Response put(const Request& request, const std::vector<int>& members, int rank) {
    if (!family_.given_up().empty()) return response_of(Response::Status::unsupported, family_.given_up());
    const fs::path answer_file = own_file("answer");
    std::error_code ignored;
    fs::remove(answer_file, ignored);
    if (rank >= 0) write_inputs(request.problem);
    const RequestEnvelope envelope{++id_, members, rank, own_file("inputs").string(), answer_file.string()};
    const ChildProcess::Answer answer = family_.ask(to_json(request, envelope), members.size() > 1);
    if (!answer.line) return response_of(Response::Status::error, "its process " + answer.failure);
    Response response = understood(*answer.line, {rank, static_cast<int>(members.size())}, answer_file);
    fs::remove(answer_file, ignored);
    return response;
  }

  Response understood(const std::string& line, const MeshPlace& place, const fs::path& file) {
    const std::uint64_t limit = std::max(least_answer_limit, answers_per_input * input_bytes_);
    try {
      ChildAnswer answer = answer_of(line, id_, place, [&] { return read_safetensors(file, limit); });
      if (answer.idle != (place.rank < 0) && answer.response.status == Response::Status::result)
        throw MalformedAnswer(answer.idle ? "it says idle, and is in the mesh"
                                          : "it answers a result, and is not in the mesh");
      if (answer.response.status == Response::Status::error)
        family_.note_error();
      else
        family_.note_answer();
      return std::move(answer.response);
    } catch (const MalformedAnswer& error) {
      return nonsense(error.what());
    } catch (const MalformedFile& error) {
      return nonsense(error.what());
    }
  }

  Response nonsense(const std::string& what) {
    return response_of(Response::Status::error,
                       "its process " + family_.fail("answered what cannot be used: " + what));
  }

  std::string name_;
  ChildFamily family_;
  int id_ = 0;
  std::string written_;  // the problem whose inputs are in the file
  std::uint64_t input_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Implementation> make_process_implementation(const std::string& command,
                                                            const RankPlace& place) {
  return std::make_unique<ProcessImplementation>(command, place);
}

}  // namespace tpc
