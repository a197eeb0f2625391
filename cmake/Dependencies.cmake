# Every dependency, the least version that is known to work, and Debian's package for it.
# Nothing is downloaded here: tools/install-dependencies installs what is missing.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)                  # pkg-config
find_package(Boost 1.81 REQUIRED)                 # libboost1.81-dev: Asio, Beast
find_package(OpenSSL 3.0 REQUIRED)                # libssl-dev
find_package(SQLite3 3.40 REQUIRED)               # libsqlite3-dev
find_package(fmt 9.1 REQUIRED)                    # libfmt-dev
find_package(spdlog 1.10 REQUIRED)                # libspdlog-dev
find_package(nlohmann_json 3.11 REQUIRED)         # nlohmann-json3-dev
find_package(CLI11 2.1 REQUIRED)                  # libcli11-dev
find_package(tl-expected 1.0 REQUIRED)            # libexpected-dev

# inja comes from its package (pkg-config), from an install with a CMake configuration, or from a path.
set(FDBPACK_INJA_INCLUDE_DIR "" CACHE PATH "Folder that holds inja/inja.hpp, for machines without an inja package")
add_library(fdbpack_inja INTERFACE)
if(FDBPACK_INJA_INCLUDE_DIR)
  if(NOT EXISTS "${FDBPACK_INJA_INCLUDE_DIR}/inja/inja.hpp")
    message(FATAL_ERROR "FDBPACK_INJA_INCLUDE_DIR: there is no inja/inja.hpp in ${FDBPACK_INJA_INCLUDE_DIR}")
  endif()
  target_include_directories(fdbpack_inja SYSTEM INTERFACE "${FDBPACK_INJA_INCLUDE_DIR}")
else()
  pkg_check_modules(INJA QUIET IMPORTED_TARGET inja>=3.4) # inja-dev
  if(INJA_FOUND)
    target_link_libraries(fdbpack_inja INTERFACE PkgConfig::INJA)
  else()
    find_package(inja 3.4 QUIET)
    if(NOT inja_FOUND)
      message(FATAL_ERROR "inja was not found: run tools/install-dependencies, or set FDBPACK_INJA_INCLUDE_DIR")
    endif()
    target_link_libraries(fdbpack_inja INTERFACE pantor::inja)
  endif()
endif()
target_link_libraries(fdbpack_inja INTERFACE nlohmann_json::nlohmann_json)

if(FDBPACK_TESTS)
  find_package(GTest 1.12 REQUIRED)               # libgtest-dev, libgmock-dev
endif()
if(FDBPACK_BENCH)
  find_package(benchmark 1.7 REQUIRED)            # libbenchmark-dev
endif()
