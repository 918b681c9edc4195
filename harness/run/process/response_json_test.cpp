// SPDX-License-Identifier: Apache-2.0
#include "harness/run/process/response_json.hpp"

#include <gtest/gtest.h>

namespace tpc {
namespace {

const MeshPlace second_of_two{1, 2};

NamedTensors file() { return {{"a", host_tensor(DType::f64, {2, 3})}}; }

ChildAnswer understood(const std::string& fields) {
  return answer_of(R"({"id":7,)" + fields + "}", 7, second_of_two, file);
}

std::string complaint(const std::string& line) {
  try {
    answer_of(line, 7, second_of_two, file);
  } catch (const MalformedAnswer& error) {
    return error.what();
  }
  return "none";
}

TEST(ResponseJson, LayoutsInShortBecomePlacements) {
  const ChildAnswer answer = understood(
      R"("status":"result","tensors":[{"name":"y","key":"a","layout":"replicate"},{"name":"a","layout":{"shard":0}}])");
  ASSERT_EQ(answer.response.tensors.size(), 2U);
  EXPECT_EQ(answer.response.tensors[0].name, "y");
  EXPECT_EQ(answer.response.tensors[0].placement, replicate({2, 3}));
  EXPECT_EQ(answer.response.tensors[1].placement, shard({4, 3}, 0, 1, 2));
  EXPECT_EQ(answer.response.tensors[0].data.raw(), answer.response.tensors[1].data.raw());
  EXPECT_FALSE(answer.response.reports_calls);
}

TEST(ResponseJson, PlacementsComeInFull) {
  const ChildAnswer answer = understood(
      R"("status":"result","tensors":[{"name":"a","layout":{"global_shape":[4,3],"blocks":[{"global_offset":[2,0],)"
      R"("extent":[2,3],"local_offset":[0,0]}],"partial_over":["tp"],"padding":null}}])");
  const Placement& placement = answer.response.tensors.at(0).placement;
  EXPECT_EQ(placement.blocks, shard({4, 3}, 0, 1, 2).blocks);
  EXPECT_EQ(placement.partial_over, std::vector<std::string>{"tp"});
  EXPECT_EQ(placement.padding, std::nullopt);
}

TEST(ResponseJson, CallsGetTheirBytes) {
  const ChildAnswer answer = understood(
      R"("status":"result","trace":[{"kind":"all_reduce","axis":"tp","ranks":4,"count":10,"dtype":"f64","phase":"forward"},)"
      R"({"kind":"all_gather","axis":"tp","ranks":4,"count":10,"dtype":"f32","phase":"backward"}])");
  const Trace& trace = answer.response.trace;
  EXPECT_TRUE(answer.response.reports_calls);
  EXPECT_EQ(trace.at(0).payload, 80);
  EXPECT_EQ(trace.at(0).ring_wire, 120);
  EXPECT_EQ(trace.at(1).payload, 160);
  EXPECT_EQ(trace.at(1).ring_wire, 120);
}

TEST(ResponseJson, OtherStatusesNeedReasons) {
  EXPECT_EQ(understood(R"("status":"refused","reason":"7 heads, 2 ranks")").response.status,
            Response::Status::refused);
  EXPECT_TRUE(understood(R"("status":"idle")").idle);
  EXPECT_NE(complaint(R"({"id":7,"status":"unsupported"})").find("without a reason"), std::string::npos);
}

TEST(ResponseJson, NonsenseIsNamed) {
  const std::pair<const char*, const char*> nonsense[] = {
      {"hello", "no JSON object: hello"},
      {"[7]", "no JSON object"},
      {R"({"status":"result"})", "lacks the number 'id'"},
      {R"({"id":6,"status":"result"})", "answers request 6, and was asked 7"},
      {R"({"id":"7","status":"result"})", "'id' is no number"},
      {R"({"id":7})", "lacks the text 'status'"},
      {R"({"id":7,"status":"fine"})", "the status is 'fine'"},
      {R"({"id":7,"status":"result","tensors":{}})", "'tensors' is no list"},
      {R"({"id":7,"status":"result","tensors":[1]})", "no object"},
      {R"({"id":7,"status":"result","tensors":[{"name":"b","layout":"replicate"}]})", "has no 'b'"},
      {R"({"id":7,"status":"result","tensors":[{"name":"a"}]})", "without a layout"},
      {R"({"id":7,"status":"result","tensors":[{"name":"a","layout":"anyhow"}]})",
       "the layout of 'a' is neither"},
      {R"({"id":7,"status":"result","tensors":[{"name":"a","layout":{"shard":2}}]})",
       "has 2 dims and cannot be cut"},
      {R"({"id":7,"status":"result","tensors":[{"name":"a","layout":{"shard":-1}}]})", "no number from 0"},
      {R"({"id":7,"status":"result","tensors":[{"name":"a","layout":{"global_shape":[6],"blocks":[]}}]})",
       "placement of 1 dims"},
      {R"({"id":7,"status":"result","tensors":[{"name":"a","layout":{"global_shape":[2,3],"blocks":[{}]}}]})",
       "lacks the list 'global_offset'"},
      {R"({"id":7,"status":"result","trace":[{"kind":"gossip"}]})", "'kind' of a call is 'gossip'"},
  };
  for (const auto& [line, words] : nonsense)
    EXPECT_NE(complaint(line).find(words), std::string::npos) << line << "\n" << complaint(line);
}

TEST(ResponseJson, OtherVersionsAreNotSpoken) {
  EXPECT_EQ(identity_of(R"({"protocol":1,"name":"a","version":"2"})").version, "2");
  EXPECT_THROW(identity_of(R"({"protocol":2,"name":"a","version":"2"})"), MalformedAnswer);
  EXPECT_THROW(identity_of(R"({"name":"a","version":"2"})"), MalformedAnswer);
}

}  // namespace
}  // namespace tpc
