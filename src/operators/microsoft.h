// ONNX Runtime's own operators (domain com.microsoft), by subject. Names, inputs and attributes: ContribOperators.md of
// ONNX Runtime.
#pragma once

#include <string>
#include <utility>

#include "operators/registry.h"

namespace simpred {

inline constexpr const char* kMicrosoft = "com.microsoft";

// One subject's operators: they share class and source of their cost formulas.
class MicrosoftFamily {
 public:
  MicrosoftFamily(Registry& r, OperatorClass op_class, std::string source)
      : registry_(r), op_class_(op_class), source_(std::move(source)) {}
  void Add(const char* type, ShapeRule shape, CostRule cost) {
    registry_.Add({.type = type,
                   .domain = kMicrosoft,
                   .op_class = op_class_,
                   .shape = std::move(shape),
                   .cost = std::move(cost),
                   .source = source_});
  }

 private:
  Registry& registry_;
  OperatorClass op_class_;
  std::string source_;
};

void RegisterMicrosoftProducts(Registry& r);    // convolutions, matrix products, experts
void RegisterMicrosoftAttention(Registry& r);   // attention in all its forms, rotary embeddings, position biases
void RegisterMicrosoftQuantized(Registry& r);   // QLinear and QOrdered operators
void RegisterMicrosoftFused(Registry& r);       // normalizations and activations with what stands around them
void RegisterMicrosoftGeneration(Registry& r);  // search loops and what serves them
void RegisterMicrosoftTensors(Registry& r);     // transforms, twins of ai.onnx operators, data movement

}  // namespace simpred
