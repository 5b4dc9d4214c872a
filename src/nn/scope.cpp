#include "fovea/nn/scope.h"

#include "fovea/base/names.h"

namespace fovea {

const Parameter& Parameters::operator[](std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  if (found == by_name_.end()) {
    std::vector<std::string> known;
    for (const Parameter& p : entries_) known.push_back(p.name());
    fail(unknown_name("parameter", name, known));
  }
  return entries_[found->second];
}

std::vector<Parameter> Parameters::below(std::string_view prefix) const {
  std::vector<Parameter> list;
  for (const Parameter& p : entries_) {
    if (p.name().starts_with(prefix)) list.push_back(p);
  }
  return list;
}

int64_t Parameters::count() const {
  int64_t n = 0;
  for (const Parameter& p : entries_) n += p.elements();
  return n;
}

const Parameter& Parameters::add(const std::string& name, const Shape& shape, const Init& init) {
  check(!has(name), "parameters: '", name, "' exists already");
  Tensor value;
  if (source_) value = source_(name, shape, dtype_);
  if (value.empty()) value = init(shape, random_.fork(name)).to(dtype_);
  check(value.shape() == shape && value.dtype() == dtype_, "parameters: the first value of '", name,
        "' is ", value.dtype(), ' ', value.shape(), ", not ", dtype_, ' ', shape);
  by_name_.emplace(name, entries_.size());
  entries_.push_back(Parameter(std::move(value), name));
  return entries_.back();
}

Scope Scope::operator/(std::string_view name) const {
  Scope below = *this;
  below.path_ = path_.empty() ? std::string(name) : path_ + "/" + std::string(name);
  return below;
}

Parameter Scope::param(std::string_view name, const Shape& shape, const Init& init) const {
  return table_->add((*this / name).path_, shape, init);
}

std::vector<Parameter> Scope::below() const {
  return table_->below(path_.empty() ? "" : path_ + "/");
}

}  // namespace fovea
