// What does ONNX Runtime's profile file say about each kernel?
#include "profile/collectors/ort_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_map>

#include "base/numbers.h"

namespace simpred {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kKernelSuffix = "_kernel_time";
constexpr double kTick = 1000;  // nanoseconds

struct Event {
  std::string name, op;
  int64_t index = -1;
  double begin = 0, duration = 0;  // microseconds
  bool is_kernel = false, is_run = false;
  double end() const { return begin + duration; }
};

// Operators whose event spans the events of kernels in their subgraphs.
bool HoldsSubgraph(std::string_view op) {
  constexpr std::array<std::string_view, 6> kHolders = {"If", "Loop", "Scan", "BeamSearch", "GreedySearch", "Sampling"};
  return std::find(kHolders.begin(), kHolders.end(), op) != kHolders.end();
}

// Collects the events of one run and files them under their nodes when the run is complete.
class RunCollector {
 public:
  explicit RunCollector(int skip_runs) : skip_(skip_runs) {}

  void Add(Event e) {
    ++events_;
    if (e.is_kernel)
      pending_.push_back(std::move(e));
    else if (e.is_run)
      EndRun(e);
  }

  int64_t events() const { return events_; }

  Trace Finish(bool cut_off) && {
    trace_.in_incomplete_run = std::ssize(pending_);
    trace_.cut_off = cut_off;
    return std::move(trace_);
  }

 private:
  void EndRun(const Event& run) {
    if (skip_ > 0) {
      --skip_;
    } else {
      trace_.run_nanoseconds.push_back(run.duration * kTick);
      KeepRun();
    }
    pending_.clear();
  }

  void KeepRun() {
    std::vector<const Event*> holders;
    for (const Event& e : pending_)
      if (HoldsSubgraph(e.op)) holders.push_back(&e);
    std::map<std::pair<std::string_view, int64_t>, int> seen;
    for (const Event& e : pending_) {
      const bool inside = std::any_of(holders.begin(), holders.end(), [&](const Event* h) {
        return h != &e && h->begin <= e.begin && e.end() <= h->end();
      });
      if (inside) {
        ++trace_.inside_control_flow;
        continue;
      }
      NodeOf(e, seen[{e.name, e.index}]++).nanoseconds.push_back(e.duration * kTick);
    }
  }

  // The same name may stand for several nodes of older profiles, which have no index: then their order tells them
  // apart.
  TraceNode& NodeOf(const Event& e, int occurrence) {
    const auto [it, is_new] = ids_.try_emplace(std::tuple(e.name, e.index, occurrence), trace_.nodes.size());
    if (is_new) trace_.nodes.push_back({e.name, e.op, e.index, {}});
    return trace_.nodes[it->second];
  }

  int skip_;
  int64_t events_ = 0;
  std::vector<Event> pending_;
  std::map<std::tuple<std::string, int64_t, int>, size_t> ids_;
  Trace trace_;
};

// Walks the text once, without building a tree: profiles have hundreds of megabytes.
class Reader : public Json::json_sax_t {
 public:
  explicit Reader(RunCollector& runs) : runs_(runs) {}

  bool start_object(size_t) override {
    if (++depth_ == kEvent) event_ = {};
    return true;
  }
  bool end_object() override {
    if (depth_-- == kEvent) EndEvent();
    return true;
  }
  bool start_array(size_t) override { return ++depth_ > 0; }
  bool end_array() override { return --depth_ >= 0; }
  bool key(string_t& name) override {
    if (depth_ == kEvent || depth_ == kArgs) key_ = name;
    return true;
  }
  bool string(string_t& text) override {
    if (depth_ == kEvent && key_ == "name") name_ = text;
    if (depth_ == kEvent && key_ == "cat") category_ = text;
    if (depth_ == kArgs && key_ == "op_name") event_.op = text;
    if (depth_ == kArgs && key_ == "node_index") event_.index = ParseInt(text).value_or(-1);
    return true;
  }
  bool number_integer(number_integer_t v) override { return Number(static_cast<double>(v)); }
  bool number_unsigned(number_unsigned_t v) override { return Number(static_cast<double>(v)); }
  bool number_float(number_float_t v, const string_t&) override { return Number(v); }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool parse_error(size_t at, const std::string&, const nlohmann::detail::exception&) override {
    broken_at_ = at;
    return false;
  }
  size_t broken_at() const { return broken_at_; }

 private:
  static constexpr int kEvent = 2;  // array, object
  static constexpr int kArgs = 3;

  bool Number(double v) {
    if (depth_ == kEvent && key_ == "ts") event_.begin = v;
    if (depth_ == kEvent && key_ == "dur") event_.duration = v;
    if (depth_ == kArgs && key_ == "node_index") event_.index = static_cast<int64_t>(v);
    return true;
  }

  void EndEvent() {
    event_.is_kernel = category_ == "Node" && std::string_view(name_).ends_with(kKernelSuffix);
    event_.is_run = category_ == "Session" && name_ == "model_run";
    if (event_.is_kernel) event_.name = name_.substr(0, name_.size() - kKernelSuffix.size());
    if (category_ == "Node" || category_ == "Session") runs_.Add(std::move(event_));
    name_.clear();
    category_.clear();
  }

  RunCollector& runs_;
  int depth_ = 0;
  size_t broken_at_ = 0;
  std::string key_, name_, category_;
  Event event_;
};

}  // namespace

Result<Trace> ParseOrtTrace(std::string_view json, int skip_runs) {
  RunCollector runs(skip_runs);
  Reader reader(runs);
  const bool whole = Json::sax_parse(json.begin(), json.end(), &reader);
  if (runs.events() == 0) {
    return ModelError(whole ? std::string("not a profile of ONNX Runtime: no event of a session or a node")
                            : fmt::format("not a profile of ONNX Runtime: not JSON at byte {}", reader.broken_at()));
  }
  return std::move(runs).Finish(!whole);
}

std::vector<double> SpreadTicks(std::vector<double> nanoseconds) {
  std::sort(nanoseconds.begin(), nanoseconds.end());
  for (size_t i = 0; i < nanoseconds.size();) {
    const double tick = nanoseconds[i];
    size_t end = i;
    while (end < nanoseconds.size() && nanoseconds[end] == tick) ++end;
    const auto equal = static_cast<double>(end - i);
    for (size_t k = i; k < end; ++k) nanoseconds[k] += kTick * ((static_cast<double>(k - i) + 0.5) / equal - 0.5);
    i = end;
  }
  return nanoseconds;
}

}  // namespace simpred
