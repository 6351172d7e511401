# Installs a build, moves the tree elsewhere, builds the project against it and runs both.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

set(prefix ${WORK}/moved)
expect_success("install" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
file(RENAME ${WORK}/prefix ${prefix})

set(branchmark ${prefix}/bin/branchmark)
expect_success("the modules in ../lib/branchmark" ${branchmark} devices --json -)
string(FIND "${printed}" "${prefix}/lib/branchmark/libbranchmark-kernels-cpu.so" place)
if(place EQUAL -1)
  message(FATAL_ERROR "the installed tool did not take the module beside it:\n${printed}")
endif()
# From a folder without any configs/, so that the name is found in the tool or with it.
expect_success("a shipped scenario by its bare name"
  ${CMAKE_COMMAND} -E chdir ${WORK} ${branchmark} qualify smoke --list)
foreach(file configs/smoke.json configs/presets/qwen3.5-4b.json results-schema/report.schema.json)
  if(NOT EXISTS ${prefix}/share/branchmark/${file})
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()

expect_success("configure" ${configure} -B ${WORK}/build -DCMAKE_PREFIX_PATH=${prefix})
expect_success("build" ${CMAKE_COMMAND} --build ${WORK}/build)
expect_success("run" ${WORK}/build/shared_prefix)
message("${printed}")
if(NOT printed MATCHES "the same bits")
  message(FATAL_ERROR "the project ended without its verdict")
endif()
