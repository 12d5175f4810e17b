# One set of compiler settings for the whole house: C++20, strict warnings, and no freedom for the compiler to change a
# bit. Contraction is off (a fused multiply-add stands where the source says fma and nowhere else), fast-math is never
# on, and instruction sets are chosen at run time by kernels/, so no -march anywhere.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)

add_library(dikkat_settings INTERFACE)
target_include_directories(dikkat_settings INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>)
target_compile_features(dikkat_settings INTERFACE cxx_std_20)
target_compile_options(dikkat_settings INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -ffp-contract=off -fno-math-errno -fno-trapping-math
  $<$<BOOL:${DIKKAT_WERROR}>:-Werror>)
if(DIKKAT_SANITIZE)
  target_compile_options(dikkat_settings INTERFACE -fsanitize=${DIKKAT_SANITIZE} -fno-omit-frame-pointer -g1)
  target_link_options(dikkat_settings INTERFACE -fsanitize=${DIKKAT_SANITIZE})
endif()
