# Run at build time: fills version.cpp.in with the commit that HEAD stands at now.
set(COMMIT unknown)
if(GIT)
  execute_process(COMMAND "${GIT}" rev-parse HEAD WORKING_DIRECTORY "${SOURCE}"
    OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(COMMIT "${answer}")
  endif()
endif()
configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
file(TOUCH "${OUTPUT}")  # configure_file leaves an unchanged file's time alone, and the build would ask again
