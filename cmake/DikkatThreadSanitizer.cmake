# DIKKAT_RUN_WITH: what a sanitized program must be started through. GCC 12's thread sanitizer cannot place its shadow
# memory on kernels that randomise addresses with more than 28 bits; there it runs with randomisation off.
set(DIKKAT_RUN_WITH "")
if(DIKKAT_SANITIZE MATCHES "thread")
  set(probe "${PROJECT_BINARY_DIR}/CMakeFiles/thread_sanitizer_probe")
  file(WRITE "${probe}.cpp" "int main() {}\n")
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -fsanitize=thread -pie -fPIE "${probe}.cpp" -o "${probe}" RESULT_VARIABLE failed)
  foreach(attempt RANGE 20)  # the placement is drawn at every start
    if(NOT failed AND NOT DIKKAT_RUN_WITH)
      execute_process(COMMAND "${probe}" RESULT_VARIABLE refused OUTPUT_QUIET ERROR_QUIET)
      if(refused)
        set(DIKKAT_RUN_WITH setarch -R)
      endif()
    endif()
  endforeach()
endif()
