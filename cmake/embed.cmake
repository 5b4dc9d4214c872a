# Puts text files into a library. Included, it offers fovea_embed(); run as a script (cmake -P) it is
# the build step behind it, which writes the C++ file that defines page_file().

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(fovea_embed_script ${CMAKE_CURRENT_LIST_FILE})

  # fovea_embed(TARGET FOLDER): every file of FOLDER, under its name, written anew when one changes.
  function(fovea_embed target folder)
    file(GLOB files CONFIGURE_DEPENDS ${folder}/*)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_pages.cpp)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} -DOUTPUT=${output} -P ${fovea_embed_script}
      DEPENDS ${files} ${fovea_embed_script} VERBATIM)
    target_sources(${target} PRIVATE ${output})
  endfunction()
  return()
endif()

set(entries "")
file(GLOB files ${FOLDER}/*)
foreach(path IN LISTS files)
  cmake_path(GET path FILENAME name)
  file(READ ${path} text)
  string(APPEND entries "  if (name == \"${name}\") return R\"fovea(${text})fovea\";\n")
endforeach()
file(WRITE ${OUTPUT} "// Written by cmake/embed.cmake.
#include \"fovea/base/error.h\"
#include \"fovea/report/page.h\"

namespace fovea {

std::string_view page_file(std::string_view name) {
${entries}  fail(\"page_file: no page file is called \", name);
}

}  // namespace fovea
")
