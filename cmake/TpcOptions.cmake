option(TPC_CUDA "Build the CUDA and NCCL backends where the toolkit is found" ON)
option(TPC_TESTS "Build the tests of the suite itself" ON)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# An expectation must hold in every build, so NDEBUG is never set; results must not depend on fused or reordered
# arithmetic that one compiler chooses and another does not.
set(CMAKE_CXX_FLAGS_RELEASE "-O3")
# GCC 12 sees overflows and overlaps inside inlined fmt and std::string that are not there (GCC bug 105651).
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow;-Wno-restrict>")
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Werror;-ffp-contract=off>")

# In a unity build unrelated files share a scope and a main file; what shadows what, and what is seen where, is for the
# ordinary build to say.
if(CMAKE_UNITY_BUILD)
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-Wno-shadow;-Wno-subobject-linkage>")
endif()

find_program(TPC_CCACHE ccache)
if(TPC_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TPC_CCACHE})
endif()
