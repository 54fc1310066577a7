#include "predict/geometry.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

namespace simpred {
namespace {

using Dims = std::vector<int64_t>;

constexpr std::string_view kBlocked = "com.microsoft.nchwc.";

bool StartsWith(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }
bool Contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string_view BaseType(std::string_view type) {
  size_t dot = type.rfind('.');
  return dot == std::string_view::npos ? type : type.substr(dot + 1);
}

double Log(double n) { return std::log2(1.0 + std::max(n, 0.0)); }
double Log(int64_t n) { return Log(static_cast<double>(n)); }

const KernelTensor* Tensor(const std::vector<KernelTensor>& of, size_t i) {
  return i < of.size() && of[i].present ? &of[i] : nullptr;
}
Dims DimsOf(const std::vector<KernelTensor>& of, size_t i) {
  const KernelTensor* t = Tensor(of, i);
  return t ? t->dims : Dims{};
}
double Product(const Dims& d, size_t from, size_t to) {
  double p = 1;
  for (size_t i = from; i < std::min(to, d.size()); ++i) p *= static_cast<double>(std::max<int64_t>(d[i], 0));
  return p;
}
double Product(const Dims& d) { return Product(d, 0, d.size()); }
int64_t At(const Dims& d, size_t i, int64_t fallback = 1) {
  return i < d.size() ? std::max<int64_t>(d[i], 0) : fallback;
}

double ElementBytes(const Kernel& k) {
  const KernelTensor* t = Tensor(k.outputs, 0);
  if (!t) t = Tensor(k.inputs, 0);
  return t ? BitWidth(t->dtype) / 8.0 : 4.0;
}

std::string AttributeText(const Kernel& k, const std::string& key) {
  auto it = k.attributes.find(key);
  return it == k.attributes.end() ? std::string() : it->second;
}
int64_t ListAt(const Dims& list, size_t i, int64_t fallback) { return i < list.size() ? list[i] : fallback; }

// How well `n` fills whole tiles of `tile`: 1 exactly, towards 0 for a tile that is mostly empty.
double Fill(int64_t n, int64_t tile) {
  if (n <= 0) return 1;
  int64_t tiles = (n + tile - 1) / tile;
  return static_cast<double>(n) / static_cast<double>(tiles * tile);
}

// ---- Convolution and pooling: windows over [N, C, spatial...]

struct Window {
  int64_t batch = 1, in_channels = 1, out_channels = 1, in_area = 1, out_area = 1, out_width = 1, area = 1, groups = 1;
  int64_t stride = 1, width = 1, dilation = 1, pad = 0, per_group = 1;
};

// Where the weights of a convolution stand: quantised forms put scales and zero points between.
size_t WeightInput(const Kernel& k) { return StartsWith(BaseType(k.type), "QLinear") ? 3 : 1; }

Window WindowOf(const Kernel& k) {
  Window w;
  Dims x = DimsOf(k.inputs, 0), y = DimsOf(k.outputs, 0), f = DimsOf(k.inputs, WeightInput(k));
  Dims kernel = k.attribute_list("kernel_shape");
  if (kernel.empty() && f.size() > 2 && k.op_class == OperatorClass::kConvolution)
    kernel.assign(f.begin() + 2, f.end());
  if (kernel.empty() && x.size() > 2) kernel.assign(x.begin() + 2, x.end());  // global pooling: the whole image
  Dims strides = k.attribute_list("strides"), dilations = k.attribute_list("dilations"),
       pads = k.attribute_list("pads");
  w.batch = At(x, 0);
  w.in_channels = At(x, 1);
  w.out_channels = At(y, 1);
  w.in_area = static_cast<int64_t>(std::min(1e15, Product(x, 2, x.size())));
  w.out_area = static_cast<int64_t>(std::min(1e15, Product(y, 2, y.size())));
  w.out_width = y.size() > 2 ? std::max<int64_t>(1, y.back()) : 1;
  w.area = static_cast<int64_t>(std::min(1e12, Product(kernel)));
  w.width = kernel.empty() ? 1 : kernel.back();
  w.groups = std::max<int64_t>(1, k.attribute("group", 1));
  w.stride = ListAt(strides, 0, 1);
  w.dilation = ListAt(dilations, 0, 1);
  for (int64_t p : pads) w.pad = std::max(w.pad, p);
  w.per_group = std::max<int64_t>(1, w.in_channels / w.groups);
  if (f.size() > 2 && w.groups > 1) w.per_group = std::max<int64_t>(1, f[1]);
  return w;
}

// Taps inside along one axis, of out * kernel.
double InsideAlong(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad) {
  constexpr int64_t kMost = 1 << 16;  // beyond, borders do not matter
  if (in <= 0 || out <= 0 || kernel <= 0 || kernel > kMost || pad == 0) return 1;
  double inside = 0;
  for (int64_t t = 0; t < kernel; ++t) {
    // Outputs o with 0 <= o * stride - pad + t * dilation < in.
    const int64_t shift = t * dilation - pad;
    const int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    const int64_t last = in - 1 - shift < 0 ? -1 : std::min(out - 1, (in - 1 - shift) / stride);
    inside += static_cast<double>(std::max<int64_t>(0, last - first + 1));
  }
  return std::clamp(inside / (static_cast<double>(out) * static_cast<double>(kernel)), 1e-3, 1.0);
}

bool HasResidual(const Kernel& k) {
  std::string_view base = BaseType(k.type);
  return (base == "Conv" || base == "FusedConv") && Tensor(k.inputs, 3) != nullptr;
}

const std::vector<std::string_view> kConvolutionNames = {
    "batch",  "in_channels", "out_channels", "out_area",  "out_width",   "kernel_area", "kernel_width", "groups",
    "stride", "dilation",    "padded",       "per_group", "reduction",   "residual",    "activation",   "bias",
    "blocks", "block_fill",  "width_fill",   "passes",    "input_bytes", "taps_inside"};

void AppendConvolution(const Kernel& k, std::vector<double>& v) {
  Window w = WindowOf(k);
  int64_t blocks = (w.out_channels + 15) / 16;
  bool activation = !AttributeText(k, "activation").empty();
  double input_bytes = static_cast<double>(w.per_group) * static_cast<double>(w.in_area) * ElementBytes(k);
  v.insert(v.end(), {Log(w.batch), Log(w.in_channels), Log(w.out_channels), Log(w.out_area), Log(w.out_width),
                     Log(w.area), Log(w.width), Log(w.groups), static_cast<double>(std::min<int64_t>(w.stride, 8)),
                     static_cast<double>(std::min<int64_t>(w.dilation, 8)), w.pad > 0 ? 1.0 : 0.0, Log(w.per_group),
                     Log(static_cast<double>(w.per_group) * static_cast<double>(w.area)), HasResidual(k) ? 1.0 : 0.0,
                     activation ? 1.0 : 0.0, Tensor(k.inputs, WeightInput(k) + 1) ? 1.0 : 0.0,
                     // The blocked kernels work on sets of up to four blocks of 16 output channels, on up to six
                     // output columns at once, and read the input channels in passes of 128.
                     Fill(blocks, 4), Fill(w.out_channels, 16), Fill(w.out_width, 6),
                     static_cast<double>(std::min<int64_t>((w.per_group + 127) / 128, 64)), Log(input_bytes),
                     std::log2(TapsInside(k))});
}

std::string_view ConvolutionGroup(const Kernel& k) {
  std::string_view base = BaseType(k.type);
  if (StartsWith(base, "QLinear") || Contains(base, "Integer")) return "conv-quantised";
  if (base == "ConvTranspose") return "conv-transposed";
  Window w = WindowOf(k);
  bool blocked = StartsWith(k.type, kBlocked);
  bool depthwise = w.groups > 1 && w.per_group == 1;
  if (blocked) {
    if (depthwise) return "nchwc-depthwise";
    if (w.in_channels < 8 && w.groups == 1) return "nchwc-first";
    return w.area == 1 && w.groups == 1 ? "nchwc-pointwise" : "nchwc-dense";
  }
  if (depthwise) return "conv-depthwise";
  if (w.groups > 1) return "conv-grouped";
  return w.area == 1 ? "conv-pointwise" : "conv-dense";
}

const std::vector<std::string_view> kPoolingNames = {"batch_channels", "in_area",      "out_area", "out_width",
                                                     "kernel_area",    "kernel_width", "stride",   "padded"};

void AppendPooling(const Kernel& k, std::vector<double>& v) {
  Window w = WindowOf(k);
  double planes = static_cast<double>(w.batch) * static_cast<double>(w.in_channels);
  v.insert(v.end(), {Log(planes), Log(w.in_area), Log(w.out_area), Log(w.out_width), Log(w.area), Log(w.width),
                     static_cast<double>(std::min<int64_t>(w.stride, 8)), w.pad > 0 ? 1.0 : 0.0});
}

// ---- Matrix products

const std::vector<std::string_view> kMatMulNames = {"batch", "m",      "n",      "k",      "mn",         "nk",
                                                    "mk",    "m_fill", "n_fill", "k_fill", "transposed", "few_rows"};

void AppendMatMul(const Kernel& k, std::vector<double>& v) {
  ProductShape p = ProductOf(k);
  auto d = [](int64_t n) { return static_cast<double>(n); };
  double transposed = static_cast<double>((k.attribute("transA", 0) != 0) + 2 * (k.attribute("transB", 0) != 0));
  v.insert(v.end(), {Log(p.batch), Log(p.m), Log(p.n), Log(p.k), Log(d(p.m) * d(p.n)), Log(d(p.n) * d(p.k)),
                     Log(d(p.m) * d(p.k)),
                     // Rows are taken twelve or six at a time, columns in vectors of 16 or pairs of them.
                     Fill(p.m, 6), Fill(p.n, 32), Fill(p.k, 4), transposed, d(std::min<int64_t>(p.m, 12))});
}

// Below so many rows the packed product degenerates into a matrix-vector product that is bound by the weights.
constexpr int64_t kVectorRows = 1;

std::string_view MatMulGroup(const Kernel& k) {
  std::string_view base = BaseType(k.type);
  if (Contains(base, "Integer") || StartsWith(base, "QLinear") || StartsWith(base, "QGemm") || Contains(base, "NBits"))
    return "matmul-quantised";
  if (Contains(base, "Attention") || base == "Einsum") return "attention";
  ProductShape p = ProductOf(k);
  if (!p.constant_b) return "matmul-activations";
  return p.m <= kVectorRows ? "matmul-vector" : "matmul-weights";
}

// ---- Elementwise

const std::vector<std::string_view> kElementwiseNames = {"elements",   "first_share", "second_share",  "run",
                                                         "rows",       "inputs",      "element_bytes", "rank",
                                                         "last_equal", "two_full"};

// Length of the trailing part over which both inputs step together (or one stands still), in elements.
double BroadcastRun(const Dims& out, const Dims& a, const Dims& b) {
  auto from_end = [](const Dims& d, size_t i) { return i < d.size() ? d[d.size() - 1 - i] : int64_t{1}; };
  double run = 1;
  int mode = -1;
  // ONNX Runtime counts a last axis of one as a run of its own, after which the broadcast begins: measured, 8 ns an
  // element.
  if (a != b && out.size() > 1 && out.back() == 1 && Product(a) > 1) return 1;
  for (size_t i = 0; i < out.size(); ++i) {
    int64_t da = from_end(a, i), db = from_end(b, i), d = from_end(out, i);
    if (d == 1) continue;
    int m = da == db ? 0 : da == 1 ? 1 : 2;
    if (mode == -1) mode = m;
    if (m != mode) break;
    run *= static_cast<double>(d);
  }
  return run;
}

void AppendElementwise(const Kernel& k, std::vector<double>& v) {
  Dims out = DimsOf(k.outputs, 0);
  double elements = Product(out);
  Dims a = DimsOf(k.inputs, 0), b = k.inputs.size() > 1 ? DimsOf(k.inputs, 1) : a;
  double run = k.inputs.size() > 1 ? BroadcastRun(out, a, b) : elements;
  double inputs = 0;
  for (const KernelTensor& t : k.inputs) inputs += t.present && t.elements() > 1 ? 1 : 0;
  double ea = Product(a), eb = k.inputs.size() > 1 ? Product(b) : 0;
  v.insert(v.end(), {Log(elements), Log(ea) - Log(elements), Log(eb) - Log(elements), Log(run),
                     Log(elements / std::max(run, 1.0)), inputs, ElementBytes(k), static_cast<double>(out.size()),
                     !a.empty() && !b.empty() && a.back() == b.back() ? 1.0 : 0.0,
                     ea >= elements && eb >= elements ? 1.0 : 0.0});
}

bool IsMovingElementwise(std::string_view base) { return base == "Where" || base == "Cast"; }

std::string_view ElementwiseGroup(const Kernel& k) {
  std::string_view base = BaseType(k.type);
  if (IsMovingElementwise(base)) return "elementwise-select";
  int varying = 0;
  for (const KernelTensor& t : k.inputs) varying += t.present && t.elements() > 1 ? 1 : 0;
  static const std::set<std::string_view> kBinary = {
      "Add",         "Sub", "Mul", "Div", "Max", "Min", "Sum", "Mean", "Greater", "Less", "Equal", "GreaterOrEqual",
      "LessOrEqual", "And", "Or",  "Xor", "Mod"};
  return kBinary.count(base) || varying > 1 ? "elementwise-binary" : "elementwise-unary";
}

// ---- Normalisations, softmax, reductions: [outer, reduced, inner]

const std::vector<std::string_view> kRowsNames = {"outer", "reduced", "inner", "elements", "inputs", "parts"};

struct Rows {
  double outer = 1, reduced = 1, inner = 1;
};

Dims ReducedAxes(const Kernel& k, const Dims& in, const Dims& out) {
  Dims axes = k.attribute_list("axes");
  std::string_view base = BaseType(k.type);
  int64_t rank = static_cast<int64_t>(in.size());
  if (axes.empty() && (base == "Softmax" || base == "LogSoftmax" || base == "Hardmax" || StartsWith(base, "Arg") ||
                       base == "CumSum" || base == "TopK"))
    axes = {k.attribute("axis", -1)};
  if (axes.empty() && (Contains(base, "LayerNorm") || base == "RMSNormalization")) axes = {k.attribute("axis", -1)};
  if (axes.empty() && Contains(base, "InstanceNorm"))
    for (int64_t i = 2; i < rank; ++i) axes.push_back(i);
  if (axes.empty() && StartsWith(base, "Reduce")) {  // axes came as an input: what the output lacks
    if (out.size() == in.size()) {
      for (int64_t i = 0; i < rank; ++i)
        if (At(in, static_cast<size_t>(i)) != At(out, static_cast<size_t>(i))) axes.push_back(i);
    } else {
      size_t o = 0;
      for (int64_t i = 0; i < rank; ++i) {
        if (o < out.size() && out[o] == in[static_cast<size_t>(i)])
          ++o;
        else
          axes.push_back(i);
      }
    }
  }
  for (int64_t& a : axes) a = a < 0 ? a + rank : a;
  return axes;
}

Rows RowsOf(const Kernel& k) {
  Dims in = DimsOf(k.inputs, 0), out = DimsOf(k.outputs, 0);
  Dims axes = ReducedAxes(k, in, out);
  Rows r;
  if (axes.empty()) {
    r.outer = Product(in, 0, 2);
    r.inner = Product(in, 2, in.size());
    return r;
  }
  auto [low, high] = std::minmax_element(axes.begin(), axes.end());
  for (size_t i = 0; i < in.size(); ++i) {
    double d = static_cast<double>(At(in, i));
    int64_t axis = static_cast<int64_t>(i);
    bool reduced = std::find(axes.begin(), axes.end(), axis) != axes.end();
    (reduced ? r.reduced : axis < *high && axis < *low ? r.outer : axis > *high ? r.inner : r.outer) *= d;
  }
  if (Contains(k.type, "LayerNorm")) r.reduced *= r.inner, r.inner = 1;
  return r;
}

void AppendRows(const Kernel& k, std::vector<double>& v) {
  Rows r = RowsOf(k);
  double inputs = 0;
  for (const KernelTensor& t : k.inputs) inputs += t.present ? 1 : 0;
  v.insert(v.end(), {Log(r.outer), Log(r.reduced), Log(r.inner), Log(r.outer * r.reduced * r.inner), inputs,
                     static_cast<double>(k.outputs.size())});
}

// ---- Movement: contiguous runs

const std::vector<std::string_view> kMovementNames = {"elements", "run_bytes", "runs",     "parts",
                                                      "last",     "stride",    "constant", "element_bytes",
                                                      "channels", "area",      "scale"};

struct Runs {
  double length = 1;  // elements copied in one go
  double parts = 1;   // tensors read or written beside the first
  double stride = 1;  // distance in the input between neighbours of the output's last axis
  double scale = 1;
};

Runs TransposeRuns(const Kernel& k) {
  Dims in = DimsOf(k.inputs, 0), perm = k.attribute_list("perm");
  Runs r;
  size_t rank = in.size();
  if (perm.size() != rank) {
    perm.resize(rank);
    for (size_t i = 0; i < rank; ++i) perm[i] = static_cast<int64_t>(rank - 1 - i);
  }
  bool in_place = true;
  for (size_t i = rank; i-- > 0;) {
    if (At(in, i) == 1) continue;
    if (in_place && perm[i] == static_cast<int64_t>(i)) {
      r.length *= static_cast<double>(in[i]);
    } else {
      if (in_place && perm[i] >= 0) r.stride = Product(in, static_cast<size_t>(perm[i]) + 1, rank);
      in_place = false;
    }
  }
  return r;
}

// Length of the run that in and out share from the end, cut at the first axis that differs (that axis included).
double SharedRun(const Dims& in, const Dims& out) {
  double run = 1;
  for (size_t i = 0; i < std::min(in.size(), out.size()); ++i) {
    int64_t a = in[in.size() - 1 - i], b = out[out.size() - 1 - i];
    run *= static_cast<double>(std::max<int64_t>(1, std::min(a, b)));
    if (a != b) break;
  }
  return run;
}

Runs RunsOf(const Kernel& k) {
  std::string_view base = BaseType(k.type);
  Dims in = DimsOf(k.inputs, 0), out = DimsOf(k.outputs, 0);
  Runs r;
  if (base == "Transpose") return TransposeRuns(k);
  if (base == "Concat" || base == "Split") {
    bool concat = base == "Concat";
    const std::vector<KernelTensor>& parts = concat ? k.inputs : k.outputs;
    int64_t rank = static_cast<int64_t>((concat ? out : in).size());
    int64_t axis = k.attribute("axis", concat ? 1 : 0);
    if (axis < 0) axis += rank;
    double sum = 0, n = 0;
    for (const KernelTensor& t : parts)
      if (t.present) sum += Product(t.dims, static_cast<size_t>(std::max<int64_t>(axis, 0)), t.dims.size()), n += 1;
    r.length = sum / std::max(n, 1.0);
    r.parts = n;
    return r;
  }
  if (StartsWith(base, "Gather")) {
    int64_t axis = k.attribute("axis", 0);
    if (axis < 0) axis += static_cast<int64_t>(in.size());
    if (base == "Gather") r.length = Product(in, static_cast<size_t>(std::max<int64_t>(axis, 0)) + 1, in.size());
    return r;
  }
  if (StartsWith(base, "Reorder")) {
    const Dims& plain = StartsWith(base, "ReorderInput") ? in : out;
    r.length = Product(plain, 2, plain.size());
    r.parts = static_cast<double>(k.attribute("channels_last", 0));
    return r;
  }
  r.length = SharedRun(in, out);
  r.scale = Product(out) / std::max(1.0, Product(in));
  if (base == "Slice" && !in.empty() && !out.empty()) r.stride = in.back() >= 2 * out.back() ? 2 : 1;
  if (base == "Resize" || base == "Upsample") r.length = static_cast<double>(in.empty() ? 1 : At(in, in.size() - 1));
  return r;
}

void AppendMovement(const Kernel& k, std::vector<double>& v) {
  Runs r = RunsOf(k);
  Dims out = DimsOf(k.outputs, 0);
  double elements = 0;
  for (const KernelTensor& t : k.outputs) elements += t.present ? static_cast<double>(t.elements()) : 0;
  double size = ElementBytes(k);
  const KernelTensor* first = Tensor(k.inputs, 0);
  v.insert(v.end(), {Log(elements), Log(r.length * size), Log(elements / std::max(1.0, r.length)), r.parts,
                     Log(out.empty() ? 1 : out.back()), Log(r.stride), first && first->constant ? 1.0 : 0.0, size,
                     Log(At(out, 1)), Log(Product(out, 2, out.size())), std::log2(std::max(1e-6, r.scale))});
}

std::string_view MovementGroup(const Kernel& k) {
  std::string_view base = BaseType(k.type);
  if (StartsWith(base, "Reorder")) return base == "ReorderInput" ? "reorder-input" : "reorder-output";
  if (base == "Transpose") return "transpose";
  if (base == "Concat" || base == "Split") return "concat";
  if (base == "Resize" || base == "Upsample") return "resize";
  return "copy";
}

// ---- Recurrent

const std::vector<std::string_view> kRecurrentNames = {"steps", "batch", "input", "hidden", "directions", "gates"};

void AppendRecurrent(const Kernel& k, std::vector<double>& v) {
  Dims x = DimsOf(k.inputs, 0), w = DimsOf(k.inputs, 1), r = DimsOf(k.inputs, 2);
  double hidden = static_cast<double>(At(r, 2));
  v.insert(v.end(), {Log(At(x, 0)), Log(At(x, 1)), Log(At(x, 2)), Log(hidden), static_cast<double>(At(w, 0)),
                     std::min(8.0, static_cast<double>(At(w, 1)) / std::max(1.0, hidden))});
}

const std::vector<std::string_view> kGenericNames = {"elements", "inputs", "rank"};

void AppendGeneric(const Kernel& k, std::vector<double>& v) {
  double elements = 0;
  for (const KernelTensor& t : k.outputs) elements += t.present ? static_cast<double>(t.elements()) : 0;
  v.insert(v.end(),
           {Log(elements), static_cast<double>(k.inputs.size()), static_cast<double>(DimsOf(k.outputs, 0).size())});
}

// What of the attributes selects other code: activation, mode, direction, permuted last axis, element type.
std::string VariantOf(const Kernel& k, KernelFamily family) {
  std::string v = k.type;
  for (const char* key : {"activation", "mode", "coordinate_transformation_mode", "direction"}) {
    std::string text = AttributeText(k, key);
    if (!text.empty()) v += " " + text;
  }
  const KernelTensor* t = Tensor(k.inputs, 0);
  if (t && t->dtype != DataType::kFloat32) v += std::string(" ") + std::string(Name(t->dtype));
  if (family == KernelFamily::kRows) {
    Rows r = RowsOf(k);
    v += r.inner > 1 ? " outer-axis" : " inner-axis";
  }
  if (k.op_class == OperatorClass::kPooling && Contains(k.type, "Global")) v += " global";
  return v;
}

}  // namespace

ProductShape ProductOf(const Kernel& k) {
  ProductShape p;
  std::string_view base = BaseType(k.type);
  size_t bi = StartsWith(base, "QLinear") ? 3 : 1;
  Dims a = DimsOf(k.inputs, 0), b = DimsOf(k.inputs, bi), y = DimsOf(k.outputs, 0);
  const KernelTensor* tb = Tensor(k.inputs, bi);
  p.constant_b = tb && tb->constant;
  if (a.empty() || b.empty()) return p;
  bool trans_a = k.attribute("transA", 0) != 0, trans_b = k.attribute("transB", 0) != 0;
  p.k = a.size() == 1 ? a[0] : a[a.size() - (trans_a ? 2 : 1)];
  p.n = b.size() == 1 ? 1 : b[b.size() - (trans_b ? 2 : 1)];
  double out = Product(y);
  int64_t rows = a.size() == 1 ? 1 : a[a.size() - (trans_a ? 1 : 2)];
  double all_rows = p.n > 0 ? out / static_cast<double>(p.n) : 1;
  // A product with one weight matrix runs all its rows as one.
  if (b.size() <= 2) {
    p.m = static_cast<int64_t>(std::min(1e15, std::max(1.0, all_rows)));
  } else {
    p.m = std::max<int64_t>(1, rows);
    p.batch = static_cast<int64_t>(std::min(1e15, std::max(1.0, all_rows / static_cast<double>(p.m))));
  }
  return p;
}

KernelClass ClassOf(const Kernel& k) {
  KernelClass c;
  std::string_view base = BaseType(k.type);
  switch (k.op_class) {
    case OperatorClass::kConvolution:
      c = {KernelFamily::kConvolution, ConvolutionGroup(k), {}};
      break;
    case OperatorClass::kMatMul:
      c = {KernelFamily::kMatMul, MatMulGroup(k), {}};
      break;
    case OperatorClass::kElementwise:
      c = {KernelFamily::kElementwise, ElementwiseGroup(k), {}};
      break;
    case OperatorClass::kNormalization:
      c = base == "BatchNormalization" ? KernelClass{KernelFamily::kElementwise, "elementwise-binary", {}}
                                       : KernelClass{KernelFamily::kRows, "normalization", {}};
      break;
    case OperatorClass::kReduction:
      c = {KernelFamily::kRows, "reduction", {}};
      break;
    case OperatorClass::kPooling:
      c = {KernelFamily::kPooling, StartsWith(k.type, kBlocked) ? "nchwc-pooling" : "pooling", {}};
      break;
    case OperatorClass::kView:  // moves nothing in most runtimes: not to be mixed with what copies
      if (k.attribute("copies", 0) != 0)
        c = {KernelFamily::kMovement, MovementGroup(k), {}};
      else
        c = {KernelFamily::kGeneric, "view", {}};
      break;
    case OperatorClass::kDataMovement:
      c = {KernelFamily::kMovement, MovementGroup(k), {}};
      if (base == "Cast") c = {KernelFamily::kElementwise, "elementwise-select", {}};
      break;
    case OperatorClass::kQuantization:
      c = {KernelFamily::kElementwise, "quantize", {}};
      break;
    case OperatorClass::kRecurrent:
      c = {KernelFamily::kRecurrent, "recurrent", {}};
      break;
    default:
      break;
  }
  c.variant = VariantOf(k, c.family);
  return c;
}

double TapsInside(const Kernel& k) {
  if (k.op_class != OperatorClass::kConvolution) return 1;
  Dims x = DimsOf(k.inputs, 0), y = DimsOf(k.outputs, 0), f = DimsOf(k.inputs, WeightInput(k));
  Dims strides = k.attribute_list("strides"), dilations = k.attribute_list("dilations"),
       pads = k.attribute_list("pads");
  if (x.size() < 3 || y.size() != x.size() || f.size() != x.size() || BaseType(k.type) == "ConvTranspose") return 1;
  double share = 1;
  for (size_t i = 0; i + 2 < x.size(); ++i)
    share *= InsideAlong(x[i + 2], y[i + 2], f[i + 2], std::max<int64_t>(1, ListAt(strides, i, 1)),
                         std::max<int64_t>(1, ListAt(dilations, i, 1)), ListAt(pads, i, 0));
  return share;
}

bool SkipsPadding(const Kernel& k) { return k.op_class == OperatorClass::kConvolution && StartsWith(k.type, kBlocked); }

const std::vector<std::string_view>& GeometryNames(KernelFamily f) {
  switch (f) {
    case KernelFamily::kConvolution:
      return kConvolutionNames;
    case KernelFamily::kMatMul:
      return kMatMulNames;
    case KernelFamily::kElementwise:
      return kElementwiseNames;
    case KernelFamily::kRows:
      return kRowsNames;
    case KernelFamily::kPooling:
      return kPoolingNames;
    case KernelFamily::kMovement:
      return kMovementNames;
    case KernelFamily::kRecurrent:
      return kRecurrentNames;
    case KernelFamily::kGeneric:
      break;
  }
  return kGenericNames;
}

void AppendGeometry(const Kernel& k, KernelFamily f, std::vector<double>& values) {
  switch (f) {
    case KernelFamily::kConvolution:
      return AppendConvolution(k, values);
    case KernelFamily::kMatMul:
      return AppendMatMul(k, values);
    case KernelFamily::kElementwise:
      return AppendElementwise(k, values);
    case KernelFamily::kRows:
      return AppendRows(k, values);
    case KernelFamily::kPooling:
      return AppendPooling(k, values);
    case KernelFamily::kMovement:
      return AppendMovement(k, values);
    case KernelFamily::kRecurrent:
      return AppendRecurrent(k, values);
    case KernelFamily::kGeneric:
      return AppendGeneric(k, values);
  }
}

const std::vector<GroupInfo>& AllGroups() {
  static const std::vector<GroupInfo> kGroups = {
      {"attention", KernelFamily::kMatMul},
      {"concat", KernelFamily::kMovement},
      {"conv-dense", KernelFamily::kConvolution},
      {"conv-depthwise", KernelFamily::kConvolution},
      {"conv-grouped", KernelFamily::kConvolution},
      {"conv-pointwise", KernelFamily::kConvolution},
      {"conv-quantised", KernelFamily::kConvolution},
      {"conv-transposed", KernelFamily::kConvolution},
      {"copy", KernelFamily::kMovement},
      {"elementwise-binary", KernelFamily::kElementwise},
      {"elementwise-select", KernelFamily::kElementwise},
      {"elementwise-unary", KernelFamily::kElementwise},
      {"generic", KernelFamily::kGeneric},
      {"matmul-activations", KernelFamily::kMatMul},
      {"matmul-quantised", KernelFamily::kMatMul},
      {"matmul-vector", KernelFamily::kMatMul},
      {"matmul-weights", KernelFamily::kMatMul},
      {"nchwc-dense", KernelFamily::kConvolution},
      {"nchwc-depthwise", KernelFamily::kConvolution},
      {"nchwc-first", KernelFamily::kConvolution},
      {"nchwc-pointwise", KernelFamily::kConvolution},
      {"nchwc-pooling", KernelFamily::kPooling},
      {"normalization", KernelFamily::kRows},
      {"pooling", KernelFamily::kPooling},
      {"quantize", KernelFamily::kElementwise},
      {"recurrent", KernelFamily::kRecurrent},
      {"reduction", KernelFamily::kRows},
      {"reorder-input", KernelFamily::kMovement},
      {"reorder-output", KernelFamily::kMovement},
      {"resize", KernelFamily::kMovement},
      {"transpose", KernelFamily::kMovement},
      {"view", KernelFamily::kGeneric},
  };
  return kGroups;
}

}  // namespace simpred
