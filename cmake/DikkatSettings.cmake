# One set of compiler settings for the whole house: C++20, strict warnings, and no freedom for the compiler to change a
# bit. Contraction is off (a fused multiply-add stands where the source says fma and nowhere else), fast-math is never
# on, and instruction sets are chosen at run time by kernels/, so no -march anywhere.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)

find_package(Threads REQUIRED)
set_target_properties(Threads::Threads PROPERTIES IMPORTED_GLOBAL TRUE)  # seen by whoever takes the house in, too

add_library(dikkat_settings INTERFACE)
target_include_directories(dikkat_settings INTERFACE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_BINARY_DIR}/generated")
target_compile_features(dikkat_settings INTERFACE cxx_std_20)
target_compile_options(dikkat_settings INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -ffp-contract=off -fno-math-errno -fno-trapping-math
  $<$<BOOL:${DIKKAT_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(dikkat_settings INTERFACE -Wno-psabi)  # tells of an ABI change in GCC 4.6 at every 64-byte lane type
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(dikkat_settings INTERFACE -Wno-restrict)  # cries at "text" + std::string (GCC bug 105651)
endif()

# A sanitized build is there to find faults: the first one ends the test, asserts stay, and -O1 halves the compile time.
# It runs where it is built, so bodies for AVX-512 are left out where the processor has none.
# Its cases carry a name of their own, so that one ctest run can hold several builds.
set(DIKKAT_CASE_PREFIX "")
if(DIKKAT_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELEASE "-O1")
  target_compile_options(dikkat_settings INTERFACE
    -fsanitize=${DIKKAT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  if(DIKKAT_SANITIZE_WITHOUT)
    target_compile_options(dikkat_settings INTERFACE -fno-sanitize=${DIKKAT_SANITIZE_WITHOUT})
  endif()
  target_link_options(dikkat_settings INTERFACE -fsanitize=${DIKKAT_SANITIZE})
  file(STRINGS /proc/cpuinfo has_avx512 REGEX "avx512vl" LIMIT_COUNT 1)
  if(NOT has_avx512)
    target_compile_definitions(dikkat_settings INTERFACE DIKKAT_WITHOUT_AVX512)
  endif()
  string(REGEX REPLACE "^address.*" "asan." DIKKAT_CASE_PREFIX "${DIKKAT_SANITIZE}")
  string(REGEX REPLACE "^thread.*" "tsan." DIKKAT_CASE_PREFIX "${DIKKAT_CASE_PREFIX}")
endif()

if(DIKKAT_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(dikkat_settings INTERFACE -Wno-subobject-linkage)  # takes sources compiled together for a header
endif()

# Two thirds of the time to compile a source goes into the same foreign headers and templates as its neighbours', so eight
# sources of a folder are compiled as one; hence a name is used once in a folder, in anonymous namespaces too. Sources that
# compile themselves once for each instruction set stay alone. The presets dev and clang compile every source alone, which
# also shows that it includes what it uses.
function(dikkat_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${DIKKAT_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    if(EXISTS "${source}")
      file(STRINGS "${source}" alone REGEX "define HWY_TARGET_INCLUDE" LIMIT_COUNT 1)
      if(alone)
        set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      endif()
    endif()
  endforeach()
endfunction()
