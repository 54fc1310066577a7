// Rows of features for the learners, and the vectors beside them.
#pragma once

#include <Eigen/Core>

namespace simpred {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixF = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using VectorF = Eigen::VectorXf;

// What a learner learns from: one row a sample.
struct Dataset {
  Matrix x;
  Vector y;
  Vector noise;  // standard deviation of y that the measurement itself has
};

}  // namespace simpred
