# find_package(fovea) gives the target fovea::fovea.
set(fovea_module_path ${CMAKE_MODULE_PATH})
list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
include(${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake)
set(CMAKE_MODULE_PATH ${fovea_module_path})
unset(fovea_module_path)
include(${CMAKE_CURRENT_LIST_DIR}/fovea-targets.cmake)
