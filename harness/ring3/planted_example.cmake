# The example of an outside implementation with bugs that people make, each planted by an edit of its source; PLANTED in
# the environment chooses one.
file(READ ${CMAKE_CURRENT_SOURCE_DIR}/adapters/example/example.cpp planted_source)
function(plant old new)
  string(FIND "${planted_source}" "${old}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "adapters/example/example.cpp has no longer the line that a bug is planted in: ${old}")
  endif()
  string(REPLACE "${old}" "${new}" changed "${planted_source}")
  set(planted_source "${changed}" PARENT_SCOPE)
endfunction()

plant("struct Gelu {" "const int planted = setting(\"PLANTED\");\nstruct Gelu {")
# 1: every rank adds the bias to its own part of the sum.
plant("  all_reduce(y, static_cast<int>(ranks));"
      "  const auto add_bias = [&] {
    for (std::size_t n = 0; n < N; ++n)
      for (std::size_t h = 0; h < H; ++h) y[n * H + h] += in.at(\"fc2.bias\").values[h];
  };
  if (planted == 1) add_bias();
  all_reduce(y, static_cast<int>(ranks));")
plant("  for (std::size_t n = 0; n < N; ++n)  // once, after the sum
    for (std::size_t h = 0; h < H; ++h) y[n * H + h] += in.at(\"fc2.bias\").values[h];"
      "  if (planted != 1) add_bias();")
# 2: nobody adds up the gradients of x.
plant("  all_reduce(dx, static_cast<int>(ranks));" "  if (planted != 2) all_reduce(dx, static_cast<int>(ranks));")
# 3: a gradient that is whole on every rank is added up.
plant("  write_tensors(request[\"answer\"]," "  if (planted == 3) all_reduce(db2, static_cast<int>(ranks));\n  write_tensors(request[\"answer\"],")

file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/planted_example.cpp CONTENT "${planted_source}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/adapters/example/example.cpp)
add_executable(tp_example_planted_test ${CMAKE_CURRENT_BINARY_DIR}/planted_example.cpp)
target_link_libraries(tp_example_planted_test PRIVATE nlohmann_json::nlohmann_json)
set_target_properties(tp_example_planted_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
