// The task that columns speak of when they are said by their roles, as label=5,text=3.
#pragma once

#include <string>
#include <vector>

#include "fovea/task/solver.h"

namespace fovea {

// The roles that `columns` names, as choose_columns() reads it; none where it lists columns alone.
// An Error where it begins with a role that no task has.
std::vector<std::string> roles_in(const std::string& columns);

// The one task that has just these roles, or else the one that has them among others; "" where
// several have. An Error where none has.
std::string task_of_roles(const std::vector<std::string>& roles);

// An Error where records of the task, which the file at `path` was taken for, lack one of these.
void check_roles(const std::string& path, const Task& task, const std::vector<std::string>& roles);

// "label, a and b"
std::string listed(const std::vector<std::string>& names);

}  // namespace fovea
