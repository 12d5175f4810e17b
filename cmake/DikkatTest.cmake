# dikkat_test(NAME SOURCES file... LIBRARIES library...)
# The program `NAME_test`, each of its cases a ctest case `NAME.Suite.Case` with the label `ci`. In a sanitized build the
# name begins with asan. or tsan., and DIKKAT_RANDOM_CASES says how many random cases a test draws there.
# DIKKAT_TEST_FOLDERS names those whose tests are built; empty: all. The target `all_tests` builds every one of them.
add_custom_target(all_tests)

function(dikkat_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  if(NOT DIKKAT_TESTS OR (DIKKAT_TEST_FOLDERS AND NOT name IN_LIST DIKKAT_TEST_FOLDERS))
    return()
  endif()
  add_executable(${name}_test ${arg_SOURCES})
  dikkat_compile_together(${name}_test)
  add_dependencies(all_tests ${name}_test)
  target_link_libraries(${name}_test PRIVATE dikkat_settings ${arg_LIBRARIES} GTest::gmock GTest::gtest_main)
  target_compile_options(${name}_test PRIVATE $<$<CONFIG:Release>:-O1>)  # a third less to compile; the house itself stays -O3
  target_compile_definitions(${name}_test PRIVATE DIKKAT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(DIKKAT_RUN_WITH)
    set_target_properties(${name}_test PROPERTIES CROSSCOMPILING_EMULATOR "${DIKKAT_RUN_WITH}")
  endif()
  set(environment)
  if(DIKKAT_RANDOM_CASES)
    set(environment ENVIRONMENT DIKKAT_RANDOM_CASES=${DIKKAT_RANDOM_CASES})
  endif()
  gtest_discover_tests(${name}_test TEST_PREFIX "${DIKKAT_CASE_PREFIX}${name}." DISCOVERY_TIMEOUT 120
    PROPERTIES LABELS ci TIMEOUT 1800 ${environment})
endfunction()
