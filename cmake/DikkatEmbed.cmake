# dikkat_embed(TARGET HEADER header NAMESPACE name STRUCT name FUNCTION name FILES file...)
# Compiles files into the library TARGET: a generated source that includes HEADER and defines
#   std::span<const STRUCT> FUNCTION()
# with the name and the content of each file, in the given order. A changed file is embedded again by the next build.
function(dikkat_embed target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER;NAMESPACE;STRUCT;FUNCTION" "FILES")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${arg_FUNCTION}.cpp")
  set(script "${PROJECT_SOURCE_DIR}/cmake/write_embedded.cmake")
  list(JOIN arg_FILES "|" files)  # a list would fall apart on the command line
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DHEADER=${arg_HEADER}" "-DNAMESPACE=${arg_NAMESPACE}" "-DSTRUCT=${arg_STRUCT}"
      "-DFUNCTION=${arg_FUNCTION}" "-DFILES=${files}" "-DOUTPUT=${output}" -P "${script}"
    DEPENDS ${arg_FILES} "${script}"
    COMMENT "Embedding ${arg_FUNCTION}" VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()
