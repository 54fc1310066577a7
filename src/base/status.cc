// How is an error put together and printed?
#include "base/status.h"

namespace simpred {

Status::Status(StatusCode code, std::string message, std::string hint) {
  if (code == StatusCode::kOk) return;
  state_ = std::make_shared<State>(State{code, std::move(message), std::move(hint), {}});
}

const std::vector<std::string>& Status::context() const {
  static const std::vector<std::string> kNone;
  return state_ ? state_->context : kNone;
}

Status Status::With(std::string context) const& { return Status(*this).With(std::move(context)); }

Status Status::With(std::string context) && {
  if (!state_) return {};
  if (state_.use_count() > 1) state_ = std::make_shared<State>(*state_);
  state_->context.push_back(std::move(context));
  return std::move(*this);
}

Status Status::WithHint(std::string hint) && {
  if (!state_) return {};
  if (state_.use_count() > 1) state_ = std::make_shared<State>(*state_);
  state_->hint = std::move(hint);
  return std::move(*this);
}

std::string Status::ToString() const {
  if (!state_) return "ok";
  std::string text = state_->message;
  for (const std::string& link : state_->context) text += "\n  in " + link;
  if (!state_->hint.empty()) text += "\n  hint: " + state_->hint;
  return text;
}

Status InternalError(std::string message) { return {StatusCode::kInternal, std::move(message)}; }
Status UsageError(std::string message, std::string hint) {
  return {StatusCode::kUsage, std::move(message), std::move(hint)};
}
Status ModelError(std::string message, std::string hint) {
  return {StatusCode::kModel, std::move(message), std::move(hint)};
}
Status UnavailableError(std::string message, std::string hint) {
  return {StatusCode::kUnavailable, std::move(message), std::move(hint)};
}
Status DatabaseError(std::string message, std::string hint) {
  return {StatusCode::kDatabase, std::move(message), std::move(hint)};
}

}  // namespace simpred
