# What others build on: one static library with the objects of every folder, the target dikkat::dikkat, found after
# installation by find_package(dikkat) and by pkg-config, or taken in with add_subdirectory. Its interface is the
# public headers, C++20, threads, minizip and zlib; warnings and third-party libraries stay inside.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(folders GLOBAL PROPERTY DIKKAT_FOLDERS)
list(TRANSFORM folders REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
add_library(dikkat_library STATIC ${objects})
add_library(dikkat::dikkat ALIAS dikkat_library)
set_target_properties(dikkat_library PROPERTIES OUTPUT_NAME dikkat EXPORT_NAME dikkat LINKER_LANGUAGE CXX)
target_compile_features(dikkat_library INTERFACE cxx_std_20)
target_include_directories(dikkat_library INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(dikkat_library INTERFACE Threads::Threads minizip z)  # .npz files are zip archives

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/dikkat")
install(TARGETS dikkat_library EXPORT dikkat ARCHIVE COMPONENT library)
install(EXPORT dikkat NAMESPACE dikkat:: FILE dikkat-targets.cmake DESTINATION "${package}" COMPONENT library)
# Kernel bodies (-inl.h) and test helpers are no part of the contract; nor is the command line.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/dikkat" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT library
  FILES_MATCHING PATTERN "*.h" PATTERN "*-inl.h" EXCLUDE PATTERN "*testing.h" EXCLUDE PATTERN "each_instruction_set.h" EXCLUDE
  PATTERN "cli" EXCLUDE PATTERN "fast" EXCLUDE PATTERN "reference" EXCLUDE)

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/dikkat-config.cmake.in"
  "${PROJECT_BINARY_DIR}/dikkat-config.cmake" INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/dikkat-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/dikkat-config.cmake" "${PROJECT_BINARY_DIR}/dikkat-config-version.cmake"
  DESTINATION "${package}" COMPONENT library)

file(RELATIVE_PATH DIKKAT_PREFIX_FROM_PC "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file("${PROJECT_SOURCE_DIR}/cmake/dikkat.pc.in" "${PROJECT_BINARY_DIR}/dikkat.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/dikkat.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT library)

if(TARGET dikkat)
  install(TARGETS dikkat RUNTIME COMPONENT program)
endif()
