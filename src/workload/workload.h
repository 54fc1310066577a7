// The simulation description: the kernels that a runtime executes, with everything that their time depends on.
//
//   Result<Workload> w = Lower(model);    // after InferShapes and fusion: one kernel for each living node that runs
//   w->kernels[3].signature               // the key under which records of this kernel are found
//
// Everything here is static: shapes are numbers. Views that the runtime makes without a kernel are dropped and their
// edges contracted.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/units.h"
#include "graph/graph.h"
#include "operators/registry.h"

namespace simpred {

enum class Layout : uint8_t { kPlain, kNchwc, kNc1hwc0, kFractalNz, kFractalZ, kNhwc };
std::string_view Name(Layout l);

struct KernelTensor {
  std::string name;
  DataType dtype = DataType::kUndefined;
  std::vector<int64_t> dims;
  Layout layout = Layout::kPlain;
  bool constant = false;
  bool present = true;  // false: omitted optional
  Bytes bytes() const;
  int64_t elements() const;
};

// Where a kernel's time was or is to be measured: alone in a loop (warm caches), or inside a whole model.
enum class KernelContext : uint8_t { kInGraph, kAloneWarm };
std::string_view Name(KernelContext c);

struct Kernel {
  std::string name;  // of the node; unique inside a workload (synthesised if it was empty or repeated)
  std::string type;  // qualified: "Conv", "com.microsoft.FusedConv", "com.microsoft.nchwc.Conv"
  OperatorClass op_class = OperatorClass::kOther;
  bool has_rule = true;  // false: no operator rule; costs what its bytes cost
  std::vector<KernelTensor> inputs, outputs;
  // Attributes that matter to time, as canonical text: "strides" -> "2,2", "activation" -> "Relu".
  std::map<std::string, std::string> attributes;
  std::vector<std::string> fused_from;  // names of the model's nodes
  bool hypothetical = false;            // a fusion that this runtime does not make itself
  Work work;
  std::vector<int32_t> inputs_from;  // kernels that must end before this one starts, ascending
  // Canonical text of type, attributes, and per tensor dtype, dims, layout, constant: equal text, equal kernel.
  std::string signature;

  int64_t attribute(std::string_view key, int64_t fallback) const;  // a scalar integer
  std::vector<int64_t> attribute_list(std::string_view key) const;  // "2,2" -> {2, 2}; absent: empty
};

struct Workload {
  std::string model_name;
  std::string structure_sha256;
  std::string runtime;          // "onnxruntime"
  std::string fusion_mode;      // "off", "auto", "aggressive"
  std::string precision;        // "model", "FP32", ...
  std::vector<Kernel> kernels;  // in execution order
  Bytes weights;                // constants that stay resident
  Bytes peak_activations;       // largest sum of living activations over the execution order
  std::vector<Warning> warnings;
};

// Errors: a kernel whose shape is not static (names the node, the tensor and the free symbols).
Result<Workload> Lower(Model& model, const Registry& registry = Registry::Default());
// Fills `signature` from the other fields.
std::string SignatureOf(const Kernel& k);

// "sim_predict.workload/1"; docs/formats.md
std::string ToJson(const Workload& w);
Result<Workload> WorkloadFromJson(std::string_view text);

}  // namespace simpred
