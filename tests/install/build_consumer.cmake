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

# Every installed header must stand alone: one source for each, which includes it and nothing else.
set(headers)
if(WAY STREQUAL find_package)
  file(GLOB_RECURSE headers RELATIVE "${PREFIX}/include" "${PREFIX}/include/dikkat/*.h")
  if(NOT headers)
    message(FATAL_ERROR "no header stands in ${PREFIX}/include/dikkat")
  endif()
  foreach(header ${headers})
    string(MAKE_C_IDENTIFIER "${header}" name)
    file(WRITE "${BUILD}/headers/${name}.cpp" "#include <${header}>\n")
  endforeach()
endif()
must("${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${BUILD}" -G "${GENERATOR}" "-DWAY=${WAY}" "-DHOUSE=${HOUSE}"
  "-DCMAKE_PREFIX_PATH=${PREFIX}" "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
  -DCMAKE_BUILD_TYPE=Debug)
must("${CMAKE_COMMAND}" --build "${BUILD}" --target consumer)
must("${BUILD}/consumer")
