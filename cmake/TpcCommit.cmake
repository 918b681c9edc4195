# Run by every build (cmake -P): writes OUTPUT, a source file with version and commit of SOURCE, and leaves it alone
# where nothing changed, so that only a new commit or a newly dirty tree costs a link.
set(commit unknown)
set(dirty false)
find_program(git git)
if(git)
  # A checkout that belongs to another user (containers) is still only read here.
  set(ask ${git} -c safe.directory=* -C ${SOURCE})
  execute_process(COMMAND ${ask} rev-parse --show-prefix OUTPUT_VARIABLE prefix RESULT_VARIABLE no_checkout
                  ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT no_checkout AND prefix STREQUAL "") # the checkout is this project, not a folder around it
    execute_process(COMMAND ${ask} rev-parse HEAD OUTPUT_VARIABLE head RESULT_VARIABLE failed ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND ${ask} --no-optional-locks status --porcelain OUTPUT_VARIABLE changes ERROR_QUIET)
    if(NOT failed)
      set(commit ${head})
      if(changes)
        set(dirty true)
      endif()
    endif()
  endif()
endif()

set(content "// Written by cmake/TpcCommit.cmake.
#include \"harness/values/provenance.hpp\"

namespace tpc {
BuildIdentity build_identity() { return {\"${VERSION}\", \"${commit}\", ${dirty}}; }
}  // namespace tpc
")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL content)
  file(WRITE ${OUTPUT} "${content}")
endif()
