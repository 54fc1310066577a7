#include "graph/input_shapes.h"

#include <gtest/gtest.h>

namespace simpred {
namespace {

TEST(InputShapesText, NamesEveryInputInOrderAndKeepsSymbols) {
  Graph g;
  const auto add = [&](const char* name, Shape shape) {
    Value v;
    v.name = name;
    v.type.shape = std::move(shape);
    g.inputs.push_back(g.AddValue(std::move(v)));
  };
  add("image", Shape{1, 3, 224, 224});
  add("ids", Shape{Dim::Symbol("N"), 16});
  add("k", Shape::Scalar());
  add("any", Shape{});
  EXPECT_EQ(InputShapesText(g), "image=1x3x224x224,ids=Nx16,k=scalar,any=?");
}

}  // namespace
}  // namespace simpred
