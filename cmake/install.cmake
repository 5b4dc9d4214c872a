# What `cmake --install` puts where: every header but those that need Highway (*-inl.h), the
# libraries, and packages for CMake and pkg-config that bring what each library links to.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fovea)

if(TARGET fovea)
  install(TARGETS fovea)
  if(TARGET fovea_mpi)
    install(TARGETS fovea_mpi LIBRARY DESTINATION ${FOVEA_MODULE_DIR})
  endif()
  # The program says these itself, from the same table as its help.
  include(GNUInstallDirs)
  set(words ${CMAKE_CURRENT_BINARY_DIR}/words)
  add_custom_command(OUTPUT ${words}/fovea.1 ${words}/fovea ${words}/_fovea ${words}/fovea.fish
    COMMAND ${CMAKE_COMMAND} -E make_directory ${words}
    COMMAND fovea man > ${words}/fovea.1
    COMMAND fovea completion bash > ${words}/fovea
    COMMAND fovea completion zsh > ${words}/_fovea
    COMMAND fovea completion fish > ${words}/fovea.fish
    DEPENDS fovea VERBATIM)
  add_custom_target(fovea_words ALL DEPENDS ${words}/fovea.1)
  install(FILES ${words}/fovea.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${words}/fovea DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${words}/_fovea DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${words}/fovea.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
set(pc_files fovea-core)
install(TARGETS fovea_core EXPORT fovea-core-targets)
install(EXPORT fovea-core-targets NAMESPACE fovea:: DESTINATION ${package_dir})
if(TARGET fovea_library)
  list(APPEND pc_files fovea)
  install(TARGETS fovea_library EXPORT fovea-targets)
  install(EXPORT fovea-targets NAMESPACE fovea:: DESTINATION ${package_dir})
endif()
install(DIRECTORY src/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fovea
  FILES_MATCHING PATTERN "*.h" PATTERN "*-inl.h" EXCLUDE PATTERN "app" EXCLUDE
  PATTERN "mpi" EXCLUDE)

write_basic_package_version_file(fovea-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  cmake/fovea-config.cmake cmake/dependencies.cmake cmake/FindHighway.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/fovea-config-version.cmake
  DESTINATION ${package_dir})

# A static library's own libraries are linked by whoever links to it, a shared one's are not.
set(core_libs "-lhwy -pthread")
set(packages "fmt zlib liblzma libzstd icu-uc libutf8proc sentencepiece freetype2 harfbuzz fontconfig")
if(BUILD_SHARED_LIBS)
  set(core_private_libs ${core_libs})
  set(private_packages ${packages})
  set(core_libs "")
  set(packages "")
endif()
# The prefix as seen from the file, so that an installed tree can be moved.
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(package IN LISTS pc_files)
  configure_file(cmake/${package}.pc.in ${package}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
