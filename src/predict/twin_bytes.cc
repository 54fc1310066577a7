// A twin as bytes: magic, checksum, what is small, then one block a group that is decoded when it is first needed.
#include "predict/learners/byte_stream.h"
#include "predict/twin.h"
#include "predict/twin_impl.h"

namespace simpred {
namespace {

constexpr std::string_view kMagic = "SIMPREDTWIN/2\n";

// Eight bytes at a time: the whole twin is checked at each start of the tool.
uint64_t Checksum(std::string_view bytes) {
  uint64_t h = 0x9E3779B97F4A7C15ULL ^ bytes.size();
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, 8);
    h = (h ^ word) * 0xff51afd7ed558ccdULL;
    h ^= h >> 32;
  }
  for (; i < bytes.size(); ++i) h = (h ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3ULL;
  return h;
}

void WriteRates(ByteWriter& w, const std::map<DataType, FlopsPerSecond>& rates) {
  w.Int(static_cast<int64_t>(rates.size()));
  for (const auto& [type, rate] : rates) {
    w.Int(static_cast<int64_t>(type));
    w.Double(rate.count());
  }
}
std::map<DataType, FlopsPerSecond> ReadRates(ByteReader& r) {
  std::map<DataType, FlopsPerSecond> rates;
  for (size_t n = r.Count(16); n > 0; --n) {
    auto type = static_cast<DataType>(r.Int());
    rates[type] = FlopsPerSecond(r.Double());
  }
  return rates;
}

// What a roofline needs of the profile; the rest stays with the profile's file.
void WriteDevice(ByteWriter& w, const DeviceProfile& d) {
  w.Text(d.name);
  w.Text(d.kind);
  w.Text(d.fingerprint);
  w.Int(d.cores);
  WriteRates(w, d.peak);
  WriteRates(w, d.peak_matrix);
  w.Int(static_cast<int64_t>(d.memory.size()));
  for (const MemoryLevel& m : d.memory) {
    w.Text(m.name);
    w.Int(m.capacity.count());
    w.Double(m.bandwidth.count());
    w.Int(m.shared);
  }
  w.Double(d.launch_cost / Nanoseconds(1));
  w.Double(d.run_cost / Nanoseconds(1));
}
DeviceProfile ReadDevice(ByteReader& r) {
  DeviceProfile d;
  d.name = r.Text();
  d.kind = r.Text();
  d.fingerprint = r.Text();
  d.cores = static_cast<int>(r.Int());
  d.peak = ReadRates(r);
  d.peak_matrix = ReadRates(r);
  for (size_t n = r.Count(32); n > 0 && r.ok(); --n) {
    MemoryLevel m;
    m.name = r.Text();
    m.capacity = Bytes(r.Int());
    m.bandwidth = BytesPerSecond(r.Double());
    m.shared = r.Int() != 0;
    d.memory.push_back(std::move(m));
  }
  d.launch_cost = Nanoseconds(r.Double());
  d.run_cost = Nanoseconds(r.Double());
  return d;
}

void WriteBias(ByteWriter& w, const MeasurementBias& b) {
  for (Duration d : {b.kernel_bias, b.smallest, b.run_cost}) w.Double(d / Nanoseconds(1));
  w.Double(b.kernel_bias_spread);
  w.Int(b.chains);
}
MeasurementBias ReadBias(ByteReader& r) {
  MeasurementBias b;
  for (Duration* d : {&b.kernel_bias, &b.smallest, &b.run_cost}) *d = Nanoseconds(r.Double());
  b.kernel_bias_spread = r.Double();
  b.chains = static_cast<int>(r.Int());
  return b;
}

void WriteSummary(ByteWriter& w, const FitSummary& s) {
  w.Int(static_cast<int64_t>(s.groups.size()));
  for (const FitSummary::Group& g : s.groups) {
    w.Text(g.group);
    w.Int(g.samples);
    for (double v : {g.mean_error, g.median_error, g.within15}) w.Double(v);
    w.Text(g.learner);
  }
}
FitSummary ReadSummary(ByteReader& r) {
  FitSummary s;
  for (size_t n = r.Count(48); n > 0 && r.ok(); --n) {
    FitSummary::Group g;
    g.group = r.Text();
    g.samples = r.Int();
    for (double* v : {&g.mean_error, &g.median_error, &g.within15}) *v = r.Double();
    g.learner = r.Text();
    s.groups.push_back(std::move(g));
  }
  return s;
}

void WriteGap(ByteWriter& w, const GapModel& g) {
  for (double v : {g.slope, g.per_kernel_us, g.width_factor, g.floor}) w.Double(v);
  w.Int(g.graphs);
}
GapModel ReadGap(ByteReader& r) {
  GapModel g;
  for (double* v : {&g.slope, &g.per_kernel_us, &g.width_factor, &g.floor}) *v = r.Double();
  g.graphs = r.Int();
  return g;
}

void WriteCorrections(ByteWriter& w, const Twin::Impl& impl) {
  w.Int(static_cast<int64_t>(impl.corrections.size()));
  for (const auto& [group, factor] : impl.corrections) {
    w.Text(group);
    w.Double(factor);
  }
  w.Double(impl.memory_correction);
  w.Double(impl.compute_correction);
}
void ReadCorrections(ByteReader& r, Twin::Impl& impl) {
  for (size_t n = r.Count(16); n > 0 && r.ok(); --n) {
    std::string group(r.Text());
    impl.corrections[group] = r.Double();
  }
  impl.memory_correction = r.Double();
  impl.compute_correction = r.Double();
}

// What the numbers of a row mean: a twin that was fitted on other features would read them wrongly.
uint64_t FeatureSchema() {
  std::string all;
  for (const std::string& group : FeatureGroups()) {
    all += group;
    for (const std::string& name : FeatureNames(group)) all += "," + name;
    all += ";";
  }
  return Checksum(all);
}

Status Broken(const char* what) {
  return DatabaseError(std::string("the stored twin cannot be read: ") + what,
                       "fit it again from the stored records: sim_predict calibrate --device cpu");
}

}  // namespace

std::string Twin::Serialize() const {
  const Impl& impl = *impl_;
  ByteWriter body;
  body.Int(static_cast<int64_t>(FeatureSchema()));
  body.Int(impl.threads);
  WriteDevice(body, impl.device);
  WriteBias(body, impl.bias);
  WriteSummary(body, impl.summary);
  WriteGap(body, impl.gap);
  WriteCorrections(body, impl);
  body.Int(static_cast<int64_t>(impl.groups.size()));
  for (const auto& [name, group] : impl.groups) {
    body.Text(name);
    body.Text(group->bytes());
  }
  std::string payload = body.Take();
  ByteWriter head;
  head.Int(static_cast<int64_t>(Checksum(payload)));
  return std::string(kMagic) + head.Take() + payload;
}

Result<Twin> Twin::Deserialize(std::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic) return Broken("it is of another version or no twin at all");
  bytes.remove_prefix(kMagic.size());
  ByteReader head(bytes.substr(0, 8));
  auto checksum = static_cast<uint64_t>(head.Int());
  if (!head.ok()) return Broken("it is cut off");
  bytes.remove_prefix(8);
  if (Checksum(bytes) != checksum) return Broken("its checksum is wrong");
  ByteReader r(bytes);
  Twin twin;
  Impl& impl = *twin.impl_;
  if (static_cast<uint64_t>(r.Int()) != FeatureSchema()) return Broken("it was fitted on other features");
  impl.threads = static_cast<int>(r.Int());
  impl.device = ReadDevice(r);
  impl.bias = ReadBias(r);
  impl.summary = ReadSummary(r);
  impl.gap = ReadGap(r);
  ReadCorrections(r, impl);
  for (size_t n = r.Count(16); n > 0 && r.ok(); --n) {
    std::string name(r.Text());
    impl.groups[name] = std::make_unique<LazyGroup>(std::string(r.Text()));
  }
  bool complete = impl.groups.empty() || impl.groups.count(kPooled) > 0;
  if (!r.ok() || !r.at_end() || !complete) return Broken("its content is not a twin's");
  return twin;
}

}  // namespace simpred
