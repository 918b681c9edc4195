# Ring 4: each test that needs a GPU is a test of its own for ctest, so that it is said by name whether it ran or was
# skipped, and a skipped one cannot hide a failed one. What is not built is named, too.
include(GoogleTest)

function(tpc_gpu_tests backend program filter)
  if(TARGET tpc_${backend})
    gtest_discover_tests(${program} TEST_FILTER ${filter} TEST_PREFIX ring4. NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST
      PROPERTIES LABELS ring4 TIMEOUT 300)
  else()
    add_test(NAME ring4.${backend} COMMAND ${CMAKE_COMMAND} -E echo "not built: ${backend} was not found")
    set_tests_properties(ring4.${backend} PROPERTIES LABELS ring4 SKIP_REGULAR_EXPRESSION "not built")
  endif()
endfunction()

if(TPC_TESTS)
  tpc_gpu_tests(cuda compute_test Cuda.*)
  tpc_gpu_tests(nccl comm_test Nccl.*)
endif()
