#include "operators/einsum.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>

namespace simpred {
namespace {

struct Term {
  std::vector<char> before, after;  // labels before and after "..."
  bool ellipsis = false;
  int letters() const { return static_cast<int>(before.size() + after.size()); }
};

Result<Term> ParseTerm(std::string_view text) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      if (term.ellipsis || text.substr(i, 3) != "...") {
        return ModelError(fmt::format("equation term '{}' has a misplaced '.'", text));
      }
      term.ellipsis = true;
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      (term.ellipsis ? term.after : term.before).push_back(c);
    } else {
      return ModelError(fmt::format("equation term '{}' has a '{}', which is no label", text, c));
    }
  }
  if (term.letters() > Einsum::kMaxLabels) return ModelError("equation has too many labels in one term");
  return term;
}

struct Equation {
  std::vector<Term> inputs;
  Term output;
  bool has_output = false;
};

Result<Equation> ParseEquation(std::string_view text) {
  Equation e;
  const size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  while (true) {
    const size_t comma = left.find(',');
    SIMPRED_ASSIGN_OR_RETURN(Term term, ParseTerm(left.substr(0, comma)));
    e.inputs.push_back(std::move(term));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  if (arrow != std::string_view::npos) {
    e.has_output = true;
    SIMPRED_ASSIGN_OR_RETURN(e.output, ParseTerm(text.substr(arrow + 2)));
  }
  return e;
}

// The implicit output: "..." first, then the labels that appear once, in alphabetical order.
void ImplyOutput(Equation& e) {
  std::array<int, 256> count{};
  for (const Term& term : e.inputs) {
    e.output.ellipsis = e.output.ellipsis || term.ellipsis;
    for (char c : term.before) ++count[static_cast<unsigned char>(c)];
    for (char c : term.after) ++count[static_cast<unsigned char>(c)];
  }
  for (size_t c = 0; c < count.size(); ++c) {
    if (count[c] == 1) (e.output.ellipsis ? e.output.after : e.output.before).push_back(static_cast<char>(c));
  }
}

// Labels are numbered: those of "..." from the right (the last is 0), then the letters as they come.
class Binder {
 public:
  explicit Binder(int ellipsis_rank) : ellipsis_rank_(ellipsis_rank) {
    letters_.fill(-1);
    e_.sizes.assign(static_cast<size_t>(ellipsis_rank), Dim(1));
  }

  Status Bind(const Term& term, const Shape& shape) {
    std::vector<int> labels;
    int axis = 0;
    for (char c : term.before) labels.push_back(Letter(c));
    const int covered = term.ellipsis && shape.has_rank() ? shape.rank() - term.letters() : 0;
    for (int i = covered - 1; i >= 0; --i) labels.push_back(i);
    for (char c : term.after) labels.push_back(Letter(c));
    for (int label : labels) SIMPRED_RETURN_IF_ERROR(Size(label, shape.has_rank() ? shape.dim(axis++) : Dim()));
    e_.operands.push_back(std::move(labels));
    return OkStatus();
  }

  Status Finish(const Term& output) {
    for (char c : output.before) SIMPRED_RETURN_IF_ERROR(AddOutput(c));
    if (output.ellipsis) {
      for (int i = ellipsis_rank_ - 1; i >= 0; --i) e_.result.push_back(i);
    }
    for (char c : output.after) SIMPRED_RETURN_IF_ERROR(AddOutput(c));
    std::vector<Dim> dims;
    for (int label : e_.result) dims.push_back(e_.sizes[static_cast<size_t>(label)]);
    e_.output = Shape(std::move(dims));
    return OkStatus();
  }
  Einsum Take() { return std::move(e_); }

 private:
  int Letter(char c) {
    int& label = letters_[static_cast<unsigned char>(c)];
    if (label < 0) {
      label = static_cast<int>(e_.sizes.size());
      e_.sizes.emplace_back();
      names_.push_back(c);
    }
    return label;
  }
  // Sizes of one broadcast against anything; otherwise they must agree.
  Status Size(int label, const Dim& size) {
    Dim& known = e_.sizes[static_cast<size_t>(label)];
    if (known.is_known() && size.is_known() && known.value() != size.value() && known.value() != 1 &&
        size.value() != 1) {
      const std::string name = label < ellipsis_rank_
                                   ? std::string("...")
                                   : std::string(1, names_[static_cast<size_t>(label - ellipsis_rank_)]);
      return ModelError(fmt::format("equation label '{}' is {} and {}", name, known.value(), size.value()));
    }
    if (!known.is_known() && !size.is_unknown()) {
      if (known.is_unknown() || size.is_known()) known = size;
    } else if (known == Dim(1) && !size.is_unknown()) {
      known = size;
    }
    return OkStatus();
  }
  Status AddOutput(char c) {
    const int label = letters_[static_cast<unsigned char>(c)];
    if (label < 0) return ModelError(fmt::format("equation output label '{}' is in no operand", c));
    e_.result.push_back(label);
    return OkStatus();
  }

  int ellipsis_rank_;
  std::array<int, 256> letters_{};
  std::string names_;
  Einsum e_;
};

// Axes that "..." stands for: the most of any operand.
Result<int> EllipsisRank(const Equation& e, const std::vector<Shape>& operands) {
  int rank = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].has_rank()) continue;
    const Term& term = e.inputs[i];
    const int free = operands[i].rank() - term.letters();
    if (free < 0 || (free > 0 && !term.ellipsis)) {
      return ModelError(fmt::format("equation term {} names {} axes, but the operand has shape {}", i + 1,
                                    term.letters(), operands[i].ToString()));
    }
    rank = std::max(rank, free);
  }
  return rank;
}

double Product(const Einsum& e, const std::set<int>& labels) {
  double n = 1;
  for (int label : labels) n *= static_cast<double>(e.sizes[static_cast<size_t>(label)].known().value_or(1));
  return n;
}

}  // namespace

Result<Einsum> ParseEinsum(std::string_view equation, const std::vector<Shape>& operands) {
  SIMPRED_ASSIGN_OR_RETURN(Equation parsed, ParseEquation(equation));
  if (parsed.inputs.size() != operands.size()) {
    return ModelError(fmt::format("equation has {} terms for {} operands", parsed.inputs.size(), operands.size()));
  }
  if (!parsed.has_output) ImplyOutput(parsed);
  bool hidden_rank = false;  // "..." of an operand without a rank
  for (size_t i = 0; i < operands.size(); ++i) {
    hidden_rank = hidden_rank || (parsed.inputs[i].ellipsis && !operands[i].has_rank());
  }
  SIMPRED_ASSIGN_OR_RETURN(const int ellipsis_rank, EllipsisRank(parsed, operands));
  Binder binder(ellipsis_rank);
  for (size_t i = 0; i < operands.size(); ++i) SIMPRED_RETURN_IF_ERROR(binder.Bind(parsed.inputs[i], operands[i]));
  SIMPRED_RETURN_IF_ERROR(binder.Finish(parsed.output));
  Einsum result = binder.Take();
  if (hidden_rank && parsed.output.ellipsis) result.output = Shape();
  return result;
}

Flops EinsumFlops(const Einsum& e) {
  if (e.operands.empty()) return Flops(0);
  std::set<int> current(e.operands[0].begin(), e.operands[0].end());
  const std::set<int> result(e.result.begin(), e.result.end());
  double flops = 0;
  for (size_t i = 1; i < e.operands.size(); ++i) {
    current.insert(e.operands[i].begin(), e.operands[i].end());
    std::set<int> needed = result;  // what later operands or the output still name
    for (size_t j = i + 1; j < e.operands.size(); ++j) needed.insert(e.operands[j].begin(), e.operands[j].end());
    const double work = Product(e, current);
    const size_t before = current.size();
    std::erase_if(current, [&](int label) { return !needed.contains(label); });
    flops += current.size() < before ? 2 * work : work;
  }
  if (e.operands.size() == 1) {
    const bool sums = std::any_of(current.begin(), current.end(), [&](int label) { return !result.contains(label); });
    if (sums) flops = Product(e, current);
  }
  return Flops(flops);
}

}  // namespace simpred
