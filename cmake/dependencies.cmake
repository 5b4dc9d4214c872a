# What the library links to, for this build and for projects that use the installed library, which
# set fovea_core_only when the core is all they ask for. Global, because a static library's own
# dependencies are linked by whoever links to it, from any folder.
find_package(Highway GLOBAL REQUIRED)
find_package(Threads GLOBAL REQUIRED)
if(NOT fovea_core_only)
  find_package(nlohmann_json 3.11 GLOBAL REQUIRED)
  find_package(fmt 9 GLOBAL REQUIRED)
  find_package(ZLIB GLOBAL REQUIRED)
  find_package(LibLZMA GLOBAL REQUIRED)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(zstd REQUIRED IMPORTED_TARGET GLOBAL libzstd)
  pkg_check_modules(icu REQUIRED IMPORTED_TARGET GLOBAL icu-uc)
  pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET GLOBAL libutf8proc)
  pkg_check_modules(fonts REQUIRED IMPORTED_TARGET GLOBAL freetype2 harfbuzz fontconfig)
  pkg_check_modules(sentencepiece REQUIRED IMPORTED_TARGET GLOBAL sentencepiece)
endif()
