// What went wrong, where, and what to do about it?
//
//   Result<Model> model = ReadModel(path);
//   if (!model.ok()) return model.status().With("config 'a.yaml'");   // adds a link to the context chain
//
//   error: tensor 'x': needs 4 dimensions, has 3
//     in node 'conv1' (Conv)
//     in model resnet50.onnx
//     hint: give input_shape with 4 numbers
//
// Expected failures travel as Status or Result; exceptions are for faults of this program only. Each code is
// one exit status of the command line (docs: design, section 2).
#pragma once

#include <cassert>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace simpred {

// The numbers are the exit statuses.
enum class StatusCode {
  kOk = 0,
  kInternal = 1,     // a fault of this program
  kUsage = 2,        // wrong usage, wrong config
  kModel = 3,        // the model cannot be read or is not supported
  kUnavailable = 4,  // device, profiler or runtime not there
  kDeviation = 5,    // calibrated, but above the threshold
  kGate = 6,         // a gate of compare failed
  kDatabase = 7,     // the database cannot be used
};

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(StatusCode code, std::string message, std::string hint = {});

  bool ok() const { return state_ == nullptr; }
  StatusCode code() const { return state_ ? state_->code : StatusCode::kOk; }
  std::string_view message() const { return state_ ? std::string_view(state_->message) : std::string_view(); }
  std::string_view hint() const { return state_ ? std::string_view(state_->hint) : std::string_view(); }
  const std::vector<std::string>& context() const;  // innermost first

  // The same status with one more link of context ("node 'conv1' (Conv)"). No effect on ok.
  Status With(std::string context) const&;
  Status With(std::string context) &&;
  Status WithHint(std::string hint) &&;

  std::string ToString() const;  // all lines, as above, without the leading "error: "

 private:
  struct State {
    StatusCode code;
    std::string message;
    std::string hint;
    std::vector<std::string> context;
  };
  std::shared_ptr<State> state_;  // shared: copies are cheap; With() copies on write
};

inline Status OkStatus() { return {}; }
Status InternalError(std::string message);
Status UsageError(std::string message, std::string hint = {});
Status ModelError(std::string message, std::string hint = {});
Status UnavailableError(std::string message, std::string hint = {});
Status DatabaseError(std::string message, std::string hint = {});

// A value or the reason why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : v_(std::move(value)) {}                                              // NOLINT: implicit by design
  Result(Status status) : v_(std::move(status)) { assert(!std::get<Status>(v_).ok()); }  // NOLINT

  bool ok() const { return std::holds_alternative<T>(v_); }
  Status status() const { return ok() ? Status() : std::get<Status>(v_); }
  const T& value() const& { return std::get<T>(v_); }
  T& value() & { return std::get<T>(v_); }
  T&& value() && { return std::get<T>(std::move(v_)); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

 private:
  std::variant<T, Status> v_;
};

// if (Status s = F(); !s.ok()) return s;
#define SIMPRED_RETURN_IF_ERROR(expr)                        \
  do {                                                       \
    if (::simpred::Status _status = (expr); !_status.ok()) { \
      return _status;                                        \
    }                                                        \
  } while (false)
#define SIMPRED_CONCAT_INNER(a, b) a##b
#define SIMPRED_CONCAT(a, b) SIMPRED_CONCAT_INNER(a, b)
// SIMPRED_ASSIGN_OR_RETURN(Model model, ReadModel(path));   `lhs` may be a declaration, so it has no parentheses.
#define SIMPRED_ASSIGN_OR_RETURN(lhs, expr)             \
  auto SIMPRED_CONCAT(_result_, __LINE__) = (expr);     \
  if (!SIMPRED_CONCAT(_result_, __LINE__).ok()) {       \
    return SIMPRED_CONCAT(_result_, __LINE__).status(); \
  }                                                     \
  lhs = std::move(SIMPRED_CONCAT(_result_, __LINE__)).value() /* NOLINT(bugprone-macro-parentheses) */

}  // namespace simpred
