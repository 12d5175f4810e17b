# DIKKAT_VERSION_SOURCE: the generated version.cpp. The commit is read again whenever git's HEAD moves, and only then, so
# that a build with nothing to do stays one.
set(DIKKAT_VERSION_SOURCE "${PROJECT_BINARY_DIR}/generated/dikkat/base/version.cpp")

find_package(Git QUIET)
set(moved_head)
if(GIT_FOUND)
  execute_process(COMMAND "${GIT_EXECUTABLE}" rev-parse --path-format=absolute --show-toplevel --git-path logs/HEAD
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    string(REGEX MATCHALL "[^\n]+" answer "${answer}")
    list(GET answer 0 top)
    list(GET answer 1 log)
    # A copy of the sources inside somebody else's repository is not at that repository's commit.
    file(REAL_PATH "${PROJECT_SOURCE_DIR}" here)
    if(top STREQUAL here AND EXISTS "${log}")
      set(moved_head "${log}")
    endif()
  endif()
endif()

get_target_property(options dikkat_settings INTERFACE_COMPILE_OPTIONS)
string(GENEX_STRIP "${options}" options)
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
string(JOIN " " flags ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}} -std=c++20 ${options})

add_custom_command(OUTPUT "${DIKKAT_VERSION_SOURCE}"
  COMMAND "${CMAKE_COMMAND}" "-DGIT=$<$<BOOL:${moved_head}>:${GIT_EXECUTABLE}>" "-DSOURCE=${PROJECT_SOURCE_DIR}"
    "-DVERSION=${PROJECT_VERSION}" "-DMAJOR=${PROJECT_VERSION_MAJOR}" "-DMINOR=${PROJECT_VERSION_MINOR}"
    "-DPATCH=${PROJECT_VERSION_PATCH}" "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    "-DBUILD_TYPE=${CMAKE_BUILD_TYPE}" "-DFLAGS=${flags}"
    "-DTEMPLATE=${PROJECT_SOURCE_DIR}/cmake/version.cpp.in" "-DOUTPUT=${DIKKAT_VERSION_SOURCE}"
    -P "${PROJECT_SOURCE_DIR}/cmake/write_version.cmake"
  DEPENDS ${moved_head} "${PROJECT_SOURCE_DIR}/cmake/version.cpp.in" "${PROJECT_SOURCE_DIR}/cmake/write_version.cmake"
  COMMENT "Writing version.cpp" VERBATIM)
