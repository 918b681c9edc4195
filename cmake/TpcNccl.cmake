# Sets TPC_HAVE_NCCL where CUDA is used and NCCL is found, which then comes as tpc_nccl.
include(TpcCuda)
set(TPC_HAVE_NCCL OFF)
if(TPC_HAVE_CUDA)
  find_path(TPC_NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_library(TPC_NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} PATH_SUFFIXES lib64 lib)
  if(TPC_NCCL_INCLUDE AND TPC_NCCL_LIBRARY)
    set(TPC_HAVE_NCCL ON)
  else()
    message(STATUS "No NCCL; building without it")
  endif()
endif()

if(TPC_HAVE_NCCL AND NOT TARGET tpc_nccl)
  add_library(tpc_nccl INTERFACE)
  target_include_directories(tpc_nccl SYSTEM INTERFACE ${TPC_NCCL_INCLUDE} ${CUDAToolkit_INCLUDE_DIRS})
  target_link_options(tpc_nccl INTERFACE LINKER:--as-needed)  # a program that makes no NCCL group loads none
  target_link_libraries(tpc_nccl INTERFACE ${TPC_NCCL_LIBRARY} tpc_cuda)
endif()
