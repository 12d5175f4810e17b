# Configures, builds and runs the consumer in the way WAY, from scratch.
function(must)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE failed)
  if(failed)
    string(JOIN " " command ${ARGV})
    message(FATAL_ERROR "${WAY}: failed with ${failed}: ${command}")
  endif()
endfunction()

file(REMOVE_RECURSE "${BUILD}")
if(WAY STREQUAL add_subdirectory)
  unset(PREFIX)  # what is installed must not be what it finds
else()
  unset(HOUSE)
endif()
file(GLOB_RECURSE pc "${PREFIX}/*/dikkat.pc")
if(pc)
  get_filename_component(folder "${pc}" DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} "${folder}")
endif()
must("${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${BUILD}" -G "${GENERATOR}" "-DWAY=${WAY}" "-DHOUSE=${HOUSE}"
  "-DCMAKE_PREFIX_PATH=${PREFIX}" "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
  -DCMAKE_BUILD_TYPE=Debug)
must("${CMAKE_COMMAND}" --build "${BUILD}" --target consumer)
must("${BUILD}/consumer")
