// What shape and work has a recurrent layer? LSTM, GRU, RNN, and their quantised and attending kin.
//
// Work per time step, batch element and direction: 2 * gates * H * (I + H) for the two products, the biases, and the
// cell's own arithmetic on H elements (ONNX operator pages LSTM, GRU, RNN).
#pragma once

#include "operators/registry.h"

namespace simpred {

struct RecurrentForm {
  int gates = 4;
  double per_cell = 0;              // operations of one cell beyond the products and biases
  bool weights_transposed = false;  // W is [D, I, gates * H] and R is [D, H, gates * H]
};
RecurrentForm LstmForm();

// Inputs X, W, R, B, sequence_lens, initial_h, initial_c, P. Outputs Y, Y_h, Y_c; layout 1 puts the batch first.
ShapeRule RecurrentShapeRule(RecurrentForm form);
CostRule RecurrentCostRule(RecurrentForm form);

}  // namespace simpred
