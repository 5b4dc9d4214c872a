# Highway by name, as not every version of it ships a package file.
find_path(HIGHWAY_INCLUDE_DIR hwy/highway.h)
find_library(HIGHWAY_LIBRARY hwy)
mark_as_advanced(HIGHWAY_INCLUDE_DIR HIGHWAY_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Highway
  REQUIRED_VARS HIGHWAY_LIBRARY HIGHWAY_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Highway 1.0 is needed, Debian's package libhwy-dev")

if(Highway_FOUND AND NOT TARGET Highway::hwy)
  add_library(Highway::hwy UNKNOWN IMPORTED)
  set_target_properties(Highway::hwy PROPERTIES
    IMPORTED_LOCATION ${HIGHWAY_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${HIGHWAY_INCLUDE_DIR}
    INTERFACE_COMPILE_DEFINITIONS HWY_SHARED_DEFINE)
endif()
