# expect_success(WHAT COMMAND...): runs a command and ends the script where it fails. What it printed is left in
# `printed`.
function(expect_success what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${what}: exit ${code}\n${command}\n${output}")
  endif()
  set(printed "${output}" PARENT_SCOPE)
endfunction()

set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -DCMAKE_BUILD_TYPE=${BUILD_TYPE}
  -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -S ${TREE}/tests/consumer/project)
file(REMOVE_RECURSE ${WORK})
