// SPDX-License-Identifier: Apache-2.0
// A tensor-parallel MLP as an outside implementation: a template to copy. Links nothing of the suite; of its
// protocol (../README.md) it does what this one operation needs. The ranks talk through sockets: a process
// that was started by a rank of an MPI job has no launcher of its own to join it with the others.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

using Json = nlohmann::json;
using Array = std::vector<double>;

// ---- ranks: rank 0 adds up for all, in the order of the ranks, so that all get the same bits
int setting(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) throw std::runtime_error(std::string(name) + " is not set: start it by exec:COMMAND");
  return std::atoi(value);  // NOLINT: the suite writes numbers
}
const int world_rank = setting("RANK");
std::vector<int> peers(static_cast<std::size_t>(setting("WORLD_SIZE")),
                       -1);  // sockets: rank 0's to all, else to 0

void transfer(ssize_t (*move)(int, void*, std::size_t), int fd, void* data, std::size_t bytes) {
  for (auto* at = static_cast<char*>(data); bytes > 0;) {
    const ssize_t moved = move(fd, at, bytes);
    if (moved <= 0) throw std::runtime_error("a rank is gone");
    at += moved;
    bytes -= static_cast<std::size_t>(moved);
  }
}
ssize_t put(int fd, void* data, std::size_t bytes) { return ::write(fd, data, bytes); }
void send_all(int fd, void* data, std::size_t bytes) { transfer(put, fd, data, bytes); }
void receive_all(int fd, void* data, std::size_t bytes) { transfer(::read, fd, data, bytes); }

void connect_ranks() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(setting("MASTER_PORT")));
  inet_pton(AF_INET, std::getenv("MASTER_ADDR"), &address.sin_addr);
  auto* const where = reinterpret_cast<sockaddr*>(&address);
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  if (world_rank == 0) {
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(fd, where, sizeof address) != 0 || ::listen(fd, 64) != 0)
      throw std::runtime_error("cannot listen");
    for (std::size_t i = 1; i < peers.size(); ++i) {
      const int peer = ::accept(fd, nullptr, nullptr);
      int rank = 0;
      receive_all(peer, &rank, sizeof rank);
      peers.at(static_cast<std::size_t>(rank)) = peer;
    }
  } else {
    while (::connect(fd, where, sizeof address) != 0) ::usleep(10'000);  // until rank 0 listens
    int rank = world_rank;
    send_all(fd, &rank, sizeof rank);
    peers[0] = fd;
  }
  for (const int peer : peers)
    if (peer >= 0) ::setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void all_reduce(Array& x, int ranks) {  // over the first `ranks`
  const std::size_t bytes = x.size() * sizeof(double);
  if (world_rank != 0) {
    send_all(peers[0], x.data(), bytes);
    return receive_all(peers[0], x.data(), bytes);
  }
  Array term(x.size());
  for (int r = 1; r < ranks; ++r) {
    receive_all(peers[static_cast<std::size_t>(r)], term.data(), bytes);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += term[i];
  }
  for (int r = 1; r < ranks; ++r) send_all(peers[static_cast<std::size_t>(r)], x.data(), bytes);
}

// ---- tensors in files: a length, a header, the elements
struct Tensor {
  std::vector<std::size_t> shape;
  Array values;
};
std::map<std::string, Tensor> read_tensors(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::uint64_t length = 0;
  file.read(reinterpret_cast<char*>(&length), sizeof length);
  std::string header(length, ' ');
  file.read(header.data(), static_cast<std::streamsize>(length));
  std::map<std::string, Tensor> tensors;
  const Json entries = Json::parse(header);
  for (const auto& [name, entry] : entries.items()) {
    const std::size_t begin = entry["data_offsets"][0];
    const std::size_t end = entry["data_offsets"][1];
    Tensor tensor{entry["shape"], Array((end - begin) / sizeof(double))};
    file.seekg(static_cast<std::streamoff>(sizeof length + length + begin));
    file.read(reinterpret_cast<char*>(tensor.values.data()), static_cast<std::streamsize>(end - begin));
    tensors[name] = tensor;
  }
  return tensors;
}
void write_tensors(const std::string& path, const std::map<std::string, Tensor>& tensors) {
  Json header = Json::object();
  std::size_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    const std::size_t bytes = tensor.values.size() * sizeof(double);
    header[name] = {{"dtype", "F64"}, {"shape", tensor.shape}, {"data_offsets", {at, at + bytes}}};
    at += bytes;
  }
  const std::string text = header.dump();
  const std::uint64_t length = text.size();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), sizeof length) << text;
  for (const auto& entry : tensors)
    file.write(reinterpret_cast<const char*>(entry.second.values.data()),
               static_cast<std::streamsize>(entry.second.values.size() * sizeof(double)));
}

// ---- the MLP: y = fc2(gelu(fc1(x))), fc1 cut by output columns, fc2 by input rows
// c [m,n] += a [m,k] b [k,n], with the strides of a and b
void add_product(Array& c, const double* a, std::size_t am, std::size_t ak, const double* b, std::size_t bk,
                 std::size_t bn, std::size_t m, std::size_t k, std::size_t n) {
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t l = 0; l < k; ++l) c[i * n + j] += a[i * am + l * ak] * b[l * bk + j * bn];
}
struct Gelu {
  double value, slope;
};
Gelu gelu_tanh(double x) {
  const double c = std::sqrt(2 / std::acos(-1.0));
  const double t = std::tanh(c * (x + 0.044715 * x * x * x));
  return {x * (1 + t) / 2, (1 + t) / 2 + x * (1 - t * t) / 2 * c * (1 + 3 * 0.044715 * x * x)};
}
Json block(const std::vector<std::size_t>& global, std::size_t dim, std::size_t first, std::size_t width) {
  std::vector<std::size_t> offset(global.size(), 0);
  std::vector<std::size_t> extent = global;
  offset[dim] = first;
  extent[dim] = width;
  return {
      {"global_shape", global},
      {"blocks",
       {{{"global_offset", offset}, {"extent", extent}, {"local_offset", std::vector(global.size(), 0)}}}}};
}

Json run_mlp(const Json& request) {
  const auto in = read_tensors(request["inputs"]);
  const Tensor &x = in.at("x"), &dy = in.at("dy"), &w1 = in.at("fc1.weight"), &w2 = in.at("fc2.weight");
  const std::size_t ranks = request["mesh"]["ranks"].size();
  const std::size_t rank = request["rank"];
  const std::size_t H = w1.shape[1], F = w1.shape[0], f = F / ranks, first = rank * f,
                    N = x.values.size() / H;
  const double* const own_w1 = &w1.values[first * H];  // [f,H] of [F,H]
  const double* const own_w2 = &w2.values[first];      // [H,f] of [H,F]
  Array z(N * f), a(N * f), slope(N * f), y(N * H), da(N * f), dx(N * H), dw1(f * H), dw2(H * f);
  Array db1(f), db2(H);
  for (std::size_t n = 0; n < N; ++n)
    for (std::size_t i = 0; i < f; ++i) z[n * f + i] = in.at("fc1.bias").values[first + i];
  add_product(z, x.values.data(), H, 1, own_w1, 1, H, N, H, f);
  for (std::size_t i = 0; i < N * f; ++i) a[i] = gelu_tanh(z[i]).value, slope[i] = gelu_tanh(z[i]).slope;
  add_product(y, a.data(), f, 1, own_w2, 1, F, N, f, H);
  all_reduce(y, static_cast<int>(ranks));
  for (std::size_t n = 0; n < N; ++n)  // once, after the sum
    for (std::size_t h = 0; h < H; ++h) y[n * H + h] += in.at("fc2.bias").values[h];
  add_product(da, dy.values.data(), H, 1, own_w2, F, 1, N, H, f);
  for (std::size_t n = 0; n < N; ++n) {
    for (std::size_t i = 0; i < f; ++i) db1[i] += da[n * f + i] *= slope[n * f + i];
    for (std::size_t h = 0; h < H; ++h) db2[h] += dy.values[n * H + h];
  }
  add_product(dw1, da.data(), 1, f, x.values.data(), H, 1, f, N, H);
  add_product(dw2, dy.values.data(), 1, H, a.data(), f, 1, H, N, f);
  add_product(dx, da.data(), f, 1, own_w1, H, 1, N, f, H);
  all_reduce(dx, static_cast<int>(ranks));
  write_tensors(request["answer"], {{"y", {x.shape, y}},
                                    {"dx", {x.shape, dx}},
                                    {"grad.fc1.weight", {{f, H}, dw1}},
                                    {"grad.fc1.bias", {{f}, db1}},
                                    {"grad.fc2.weight", {{H, f}, dw2}},
                                    {"grad.fc2.bias", {{H}, db2}}});
  Json tensors;
  for (const char* name : {"y", "dx", "grad.fc2.bias"})
    tensors.push_back({{"name", name}, {"layout", "replicate"}});
  tensors.push_back({{"name", "grad.fc1.weight"}, {"layout", block({F, H}, 0, first, f)}});
  tensors.push_back(
      {{"name", "grad.fc1.bias"}, {"layout", {{"shard", 0}}}});  // in short, where parts are equal
  tensors.push_back({{"name", "grad.fc2.weight"}, {"layout", {{"shard", 1}}}});
  return {{"status", "result"}, {"tensors", tensors}};
}

Json answer(const Json& request) {
  if (request["request"] == "capabilities") return {{"protocol", 1}, {"name", "example"}, {"version", "1"}};
  const auto unsupported = [](const char* reason) {
    return Json{{"status", "unsupported"}, {"reason", reason}};
  };
  if (request["rank"].is_null()) return {{"status", "idle"}};
  if (request["kind"] != "operation" || request["operation"] != "mlp") return unsupported("only the MLP");
  const Json& model = request["model"];
  if (request["dtype"] != "f64") return unsupported("only f64");
  if (model["mlp"] != "gelu" || model["gelu"] != "tanh" || model["mlp_bias"] == false)
    return unsupported("only gelu in its tanh form, with biases");
  const Json& sharding = request["sharding"];
  if (sharding["sequence_parallel"] != "off" || sharding["mlp_order"] != "column_first")
    return unsupported("only column then row, without sequence parallelism");
  if (static_cast<std::size_t>(model["ffn"]) % request["mesh"]["ranks"].size() != 0)
    return {{"status", "refused"}, {"reason", "the feed-forward size is no multiple of the ranks"}};
  return run_mlp(request);
}

int main() {
  connect_ranks();
  std::FILE* requests = ::fdopen(setting("TP_REQUEST_FD"), "r");
  std::FILE* responses = ::fdopen(setting("TP_RESPONSE_FD"), "w");
  char* line = nullptr;
  for (std::size_t size = 0; ::getline(&line, &size, requests) > 0;) {
    const Json request = Json::parse(line);
    Json response = answer(request);
    if (request.contains("id")) response["id"] = request["id"];
    std::fprintf(responses, "%s\n", response.dump().c_str());
    std::fflush(responses);
  }
}
