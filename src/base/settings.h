// Options as they were said: names with texts, in the order they were first said.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fovea {

class Settings {
 public:
  using One = std::pair<std::string, std::string>;  // name, text

  Settings() = default;
  Settings(std::initializer_list<One> list) {
    for (const One& one : list) set(one.first, one.second);
  }

  // In the order in which the names were first said.
  using Iterator = std::vector<One>::const_iterator;
  Iterator begin() const { return list_.begin(); }
  Iterator end() const { return list_.end(); }

  // A later text takes the place of an earlier one.
  void set(std::string_view name, std::string text) {
    for (One& one : list_) {
      if (one.first == name) {
        one.second = std::move(text);
        return;
      }
    }
    list_.emplace_back(name, std::move(text));
  }
  void set(const Settings& others) {
    for (const One& one : others) set(one.first, one.second);
  }
  // Null when nothing was said.
  const std::string* find(std::string_view name) const {
    for (const One& one : list_) {
      if (one.first == name) return &one.second;
    }
    return nullptr;
  }
  // The text, or `otherwise` when nothing was said.
  std::string get(std::string_view name, std::string_view otherwise = "") const {
    const std::string* text = find(name);
    return text ? *text : std::string(otherwise);
  }
  // Whether anything was said under that name, or at all, and how many names there are.
  bool has(std::string_view name) const { return find(name) != nullptr; }
  bool empty() const { return list_.empty(); }
  size_t size() const { return list_.size(); }
  bool operator==(const Settings&) const = default;

 private:
  std::vector<One> list_;
};

}  // namespace fovea
