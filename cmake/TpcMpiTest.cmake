# tpc_mpi_test(NAME PROGRAM RANKS [ARGS ...] [TIMEOUT SECONDS]): the ring-3 test NAME runs PROGRAM on RANKS ranks, never
# capped by the number of cores.
function(tpc_mpi_test name program ranks)
  cmake_parse_arguments(arg "" "TIMEOUT" "ARGS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} --oversubscribe ${MPIEXEC_NUMPROC_FLAG} ${ranks}
    $<TARGET_FILE:${program}> ${arg_ARGS})
  set_tests_properties(${name} PROPERTIES LABELS ring3 TIMEOUT ${arg_TIMEOUT} PROCESSORS ${ranks} ENVIRONMENT
    "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMP_NUM_THREADS=1;OMPI_MCA_mpi_yield_when_idle=1")
endfunction()
