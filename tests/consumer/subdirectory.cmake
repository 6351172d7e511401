# Configures the project with the sources in it, and compiles its own file. All of it would compile the library
# a second time, and nothing in that depends on who asked for it.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

expect_success("configure" ${configure} -B ${WORK}/build -DBRANCHMARK_TREE=${TREE} -DBRANCHMARK_CUDA=OFF)
if(GENERATOR STREQUAL "Ninja")
  expect_success("compile" ${CMAKE_COMMAND} --build ${WORK}/build
    --target CMakeFiles/shared_prefix.dir/shared_prefix.cpp.o)
endif()
