#include "fovea/nn/scope.h"

#include "fovea/op/tape.h"

namespace fovea {

Tensor& Parameters::operator[](std::string_view name) {
  const auto found = by_name_.find(std::string(name));
  check(found != by_name_.end(), "parameters: there is none called '", name, "'");
  return entries_[found->second].value;
}

int64_t Parameters::count() const {
  int64_t n = 0;
  for (const Entry& entry : entries_) n += entry.value.elements();
  return n;
}

Tensor& Parameters::add(const std::string& name, const Shape& shape, const Init& init) {
  check(by_name_.emplace(name, entries_.size()).second, "parameters: '", name, "' exists already");
  Tensor value = init(shape, random_.fork(name)).to(dtype_);
  check(value.shape() == shape, "parameters: the first value of '", name, "' has shape ",
        value.shape(), ", not ", shape);
  entries_.push_back({name, parameter(std::move(value))});
  return entries_.back().value;
}

Scope Scope::operator/(std::string_view name) const {
  Scope below = *this;
  below.path_ = path_.empty() ? std::string(name) : path_ + "/" + std::string(name);
  return below;
}

Tensor& Scope::param(std::string_view name, const Shape& shape, const Init& init) const {
  return table_->add((*this / name).path_, shape, init);
}

}  // namespace fovea
