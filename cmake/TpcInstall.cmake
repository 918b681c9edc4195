# cmake --install puts programs under bin and the files that come with them under share; a program finds them relative
# to itself, so that the prefix can be moved.
include(GNUInstallDirs)

set(data ${CMAKE_INSTALL_DATADIR}/tp_conformance)
file(RELATIVE_PATH data_from_program /${CMAKE_INSTALL_BINDIR} /${data})
set_property(SOURCE ${PROJECT_SOURCE_DIR}/harness/values/machine/data_path.cpp TARGET_DIRECTORY tpc_harness APPEND
  PROPERTY COMPILE_DEFINITIONS
    TPC_DATA_FROM_PROGRAM="${data_from_program}" TPC_SOURCE_FOLDER="${PROJECT_SOURCE_DIR}")

foreach(program tp_conformance tp_child_guard)
  if(TARGET ${program})
    # An MPI outside the system's folders is found again by the installed program.
    set_target_properties(${program} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
install(DIRECTORY suites/models DESTINATION ${data} FILES_MATCHING PATTERN *.json)
install(DIRECTORY results/expectations DESTINATION ${data} OPTIONAL)
install(FILES LICENSE DESTINATION ${data})

if(TPC_TESTS AND TARGET tp_conformance)
  add_test(NAME ring3.installed COMMAND bash ${PROJECT_SOURCE_DIR}/ci/installed_test.sh ${PROJECT_BINARY_DIR})
  set_tests_properties(ring3.installed PROPERTIES LABELS ring3 TIMEOUT 300 PROCESSORS 2 ENVIRONMENT OMP_NUM_THREADS=1)
endif()
