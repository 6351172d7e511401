# Writes OUTPUT, a C++ file that holds the JSON files named in FILES (separated by "|").
string(REPLACE "|" ";" FILES "${FILES}")
set(entries "")
foreach(file IN LISTS FILES)
  file(READ "${file}" text)
  get_filename_component(name "${file}" NAME_WE)
  if(text MATCHES "\\)scenario\"")
    message(FATAL_ERROR "${file} holds the end of a raw string of C++")
  endif()
  string(APPEND entries "      {\"${name}\", R\"scenario(${text})scenario\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by embed_scenarios.cmake.
#include \"branchmark/scenario/load.hpp\"

namespace branchmark {

const std::vector<ShippedScenario>& shipped_scenarios() {
  static const std::vector<ShippedScenario> scenarios = {
${entries}  };
  return scenarios;
}

}  // namespace branchmark
")
