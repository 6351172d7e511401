# Writes OUTPUT, a C++ file that holds the style sheet STYLE. It stands in a page that is read as XML too and
# fetches nothing.
file(READ "${STYLE}" text)
if(text MATCHES "[<&]|url\\(|@import|\\)style\"")
  message(FATAL_ERROR "${STYLE} holds \"${CMAKE_MATCH_0}\", which may not stand in a page")
endif()
file(WRITE "${OUTPUT}" "// Made by embed_style.cmake.
#include \"branchmark/report/html/page.hpp\"

namespace branchmark::html {

std::string_view page_style() {
  return R\"style(${text})style\";
}

}  // namespace branchmark::html
")
