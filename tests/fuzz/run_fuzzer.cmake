# Runs one fuzz target over a copy of its corpus, so that a test never changes the source tree.
#
#   cmake -DFUZZER=program -DCORPUS=folder -DWORK=folder [-DDICT=file] -P run_fuzzer.cmake
#
# FDBPACK_FUZZ_SECONDS in the environment says for how long; a few seconds by default. An input that breaks the
# target is left in WORK and its name is printed: add it to the corpus with the fix.
set(seconds 5)
if(DEFINED ENV{FDBPACK_FUZZ_SECONDS})
  set(seconds $ENV{FDBPACK_FUZZ_SECONDS})
endif()
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}/corpus")
file(COPY "${CORPUS}/" DESTINATION "${WORK}/corpus")
set(options -max_total_time=${seconds} -timeout=10 -rss_limit_mb=1024 -max_len=16384 -print_final_stats=1)
if(DICT)
  list(APPEND options "-dict=${DICT}")
endif()
execute_process(
  COMMAND "${FUZZER}" ${options} "-artifact_prefix=${WORK}/" "${WORK}/corpus"
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(REGEX REPLACE "^.*\n(Done [0-9]+ runs)" "\\1" summary "${output}")
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the fuzz target failed (${result}):\n${output}")
endif()
message(STATUS "${summary}")
