#include "fovea/op/parameter.h"

#include <atomic>
#include <unordered_map>

namespace fovea {
namespace {

std::atomic<uint32_t> next_number{1};
thread_local Cloning* cloning_here = nullptr;

}  // namespace

struct Cloning::Map {
  std::unordered_map<const void*, std::shared_ptr<Parameter::Cell>> copies;
};

Cloning::Cloning() : map_(std::make_unique<Map>()), outer_(cloning_here) { cloning_here = this; }
Cloning::~Cloning() { cloning_here = outer_; }

std::shared_ptr<Parameter::Cell> Parameter::make(Tensor value, std::string name) {
  check(!value.empty(), "parameter: needs an array as its first value");
  const uint32_t number = next_number.fetch_add(1);
  value = value.reshaped(value.shape());  // copies of it elsewhere do not become parameters
  value.set_identity({.parameter = number});
  return std::make_shared<Cell>(Cell{std::move(name), number, false, std::move(value)});
}

Parameter::Parameter(Tensor value, std::string name)
    : cell_(make(std::move(value), std::move(name))) {}

Parameter::Parameter(const Parameter& other) : cell_(other.cell_) {
  if (!cloning_here || !cell_) return;
  auto& copy = cloning_here->map_->copies[cell_.get()];
  if (!copy) {
    copy = make(cell_->value, cell_->name);
    copy->frozen = cell_->frozen;
    if (copy->frozen) copy->value.set_identity({});
  }
  cell_ = copy;
}

const Tensor& Parameter::nothing() {
  static const Tensor none;
  return none;
}

const Parameter& Parameter::operator=(const Tensor& value) const {
  Cell& c = cell();
  check(value.shape() == c.value.shape() && value.dtype() == c.value.dtype(), "parameter '", c.name,
        "': is ", c.value.dtype(), ' ', c.value.shape(), " and cannot become ", value.dtype(), ' ',
        value.shape());
  Tensor own = value.reshaped(value.shape());
  own.set_identity({.parameter = c.frozen ? 0 : c.number});
  c.value = std::move(own);
  return *this;
}

void Parameter::freeze(bool frozen) const {
  Cell& c = cell();
  c.frozen = frozen;
  c.value = c.value.reshaped(c.value.shape());  // what a tape has recorded stays what it was
  c.value.set_identity({.parameter = frozen ? 0 : c.number});
}

}  // namespace fovea
