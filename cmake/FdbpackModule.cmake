# The three ways a target is made here, so that every target has the same options.
#
#   fdbpack_module(NAME core_model  SOURCES a.cpp  HEADERS include/fdbpack/...  DEPS ...  PRIVATE_DEPS ...)
#   fdbpack_program(NAME fdbpack  SOURCES main.cpp  DEPS ...)
#   fdbpack_test(NAME model_test  LABEL unit  SOURCES ...  DEPS ...)
#
# A module is a static library with the alias fdbpack::NAME. Modules of core see only include/; all others see the
# source root as well ("ports/clock.hpp"), so that a core file which includes a port does not compile.

add_library(fdbpack_options INTERFACE)
target_compile_features(fdbpack_options INTERFACE cxx_std_20)
target_compile_options(fdbpack_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  -Woverloaded-virtual -Wcast-align -Wformat=2 -Wimplicit-fallthrough -Wdouble-promotion -Wswitch-enum
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wduplicated-branches -Wlogical-op>
  $<$<BOOL:${FDBPACK_WERROR}>:-Werror>)
# Asio and Beast are compiled once (adapters/asio_source.cpp) instead of in every file that sees them.
target_compile_definitions(fdbpack_options INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED SPDLOG_COMPILED_LIB SPDLOG_FMT_EXTERNAL)

set(CMAKE_CXX_EXTENSIONS OFF)
find_program(FDBPACK_CCACHE ccache)
if(FDBPACK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Lets a second checkout or build folder of the same sources use the same cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      ${FDBPACK_CCACHE})
endif()
find_program(FDBPACK_MOLD mold)
if(FDBPACK_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
if(FDBPACK_SANITIZE)
  add_compile_options(-fsanitize=${FDBPACK_SANITIZE} -fno-sanitize-recover=all)
  # Without UBSan's check of an object's type (vptr): it opens a pipe for each type that it sees first and ends the
  # program when it gets none, and a program without descriptors is what several tests are about. Without those that
  # ask at every access what AddressSanitizer or the processor tell anyway: they are a third of the time to compile.
  add_compile_options(-fno-sanitize=vptr,null,alignment,object-size,nonnull-attribute,returns-nonnull-attribute)
  add_link_options(-fsanitize=${FDBPACK_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options(-fno-sanitize=function) # clang 14 cannot assemble coroutines with it
  endif()
endif()

function(fdbpack_module)
  cmake_parse_arguments(ARG "CORE" "NAME" "SOURCES;HEADERS;DEPS;PRIVATE_DEPS" ${ARGN})
  if(ARG_SOURCES)
    add_library(fdbpack_${ARG_NAME} STATIC ${ARG_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(fdbpack_${ARG_NAME} PRIVATE ${ARG_PRIVATE_DEPS})
  else()
    add_library(fdbpack_${ARG_NAME} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(fdbpack::${ARG_NAME} ALIAS fdbpack_${ARG_NAME})
  target_include_directories(fdbpack_${ARG_NAME} ${scope} "${PROJECT_SOURCE_DIR}/include")
  if(NOT ARG_CORE)
    target_include_directories(fdbpack_${ARG_NAME} ${scope} "${PROJECT_SOURCE_DIR}")
  endif()
  target_link_libraries(fdbpack_${ARG_NAME} ${scope} fdbpack_options ${ARG_DEPS})
endfunction()

function(fdbpack_program)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;DEPS" ${ARGN})
  add_executable(${ARG_NAME} ${ARG_SOURCES})
  target_include_directories(${ARG_NAME} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(${ARG_NAME} PRIVATE fdbpack_options ${ARG_DEPS})
endfunction()

# LABEL is unit, golden, adapter, sim, e2e or layers. Every TEST() becomes one ctest entry in a process of its own,
# so that no test can lean on another. TIMEOUT is in seconds and is a last resort, not a measurement.
function(fdbpack_test)
  cmake_parse_arguments(ARG "SERIAL" "NAME;LABEL;TIMEOUT" "SOURCES;DEPS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${ARG_NAME} ${ARG_SOURCES})
  set_target_properties(${ARG_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  target_include_directories(${ARG_NAME} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${ARG_NAME} PRIVATE fdbpack_options ${ARG_DEPS} fdbpack::test_places GTest::gmock
    GTest::gtest_main)
  include(GoogleTest)
  gtest_discover_tests(${ARG_NAME} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT} RUN_SERIAL $<BOOL:${ARG_SERIAL}>)
endfunction()
