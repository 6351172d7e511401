# `cmake --install`: the tool, the modules where it looks for them, the library as a CMake package, and the
# readable forms of scenarios, presets and formats.
#
#   find_package(branchmark)
#   target_link_libraries(mine PRIVATE branchmark::branchmark)
#   $<TARGET_FILE:branchmark::kernels_cpu>    the CPU module, for KernelLibrary::load
#
# Every place below the prefix is relative, so that an installed tree can be moved.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# ../lib/branchmark from the executable, whatever the system calls its folder of libraries.
set(module_folder lib/branchmark)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/branchmark)
set(data_folder ${CMAKE_INSTALL_DATADIR}/branchmark)

install(TARGETS branchmark branchmark_kernel_abi EXPORT branchmark FILE_SET HEADERS)
set(modules branchmark-kernels-cpu)
if(TARGET branchmark-kernels-cuda)
  list(APPEND modules branchmark-kernels-cuda)
endif()
install(TARGETS ${modules} EXPORT branchmark LIBRARY DESTINATION ${module_folder})
if(TARGET branchmark_app)
  install(TARGETS branchmark_app)
endif()

install(EXPORT branchmark NAMESPACE branchmark:: FILE branchmarkTargets.cmake DESTINATION ${package_folder})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/branchmarkConfig.cmake.in
  ${PROJECT_BINARY_DIR}/branchmarkConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/branchmarkConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/branchmarkConfig.cmake ${PROJECT_BINARY_DIR}/branchmarkConfigVersion.cmake
  DESTINATION ${package_folder})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs ${PROJECT_SOURCE_DIR}/results-schema DESTINATION ${data_folder})
