# Writes OUTPUT, the header that names the git revision of SOURCE, where its text has changed. SHA and DIRTY,
# where not empty, are stated by whoever configured the build and hold before what git says. Run at each build:
# a revision found while configuring would soon be an old one.
if(NOT SHA)
  find_package(Git QUIET)
  if(GIT_FOUND)
    # A copy of the tree inside another repository is not of that repository's revision.
    execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} rev-parse --show-prefix
      OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed AND prefix STREQUAL "")
      execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} rev-parse --verify HEAD
        OUTPUT_VARIABLE SHA OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
      if(failed)
        set(SHA "")
      elseif(DIRTY STREQUAL "")
        execute_process(
          COMMAND ${CMAKE_COMMAND} -E env GIT_OPTIONAL_LOCKS=0
            ${GIT_EXECUTABLE} -C ${SOURCE} status --porcelain --untracked-files=no
          OUTPUT_VARIABLE changes ERROR_QUIET RESULT_VARIABLE failed)
        if(NOT failed)
          if(changes STREQUAL "")
            set(DIRTY false)
          else()
            set(DIRTY true)
          endif()
        endif()
      endif()
    endif()
  endif()
endif()

set(text "// Made by revision.cmake at each build; empty where not known.
#pragma once

#include <string_view>

namespace branchmark::revision {
inline constexpr std::string_view kSha = \"${SHA}\";
inline constexpr std::string_view kDirty = \"${DIRTY}\";
}  // namespace branchmark::revision
")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
