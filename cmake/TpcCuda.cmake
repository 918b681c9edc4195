# Sets TPC_HAVE_CUDA where TPC_CUDA is on and the toolkit is found, and then enables the language. Included by the
# folders that have a CUDA file and a stand-in for it; the toolkit's libraries come as tpc_cuda.
set(TPC_HAVE_CUDA OFF)
if(TPC_CUDA)
  find_program(TPC_NVCC nvcc PATHS /usr/local/cuda/bin)
  if(TPC_NVCC AND NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER ${TPC_NVCC})
  endif()
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 90)
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit)
    set(TPC_HAVE_CUDA ${CUDAToolkit_FOUND})
  endif()
  if(NOT TPC_HAVE_CUDA)
    message(STATUS "No usable CUDA toolkit; building without it")
  endif()
endif()

if(TPC_HAVE_CUDA)
  set(CMAKE_CUDA_STANDARD 17)  # the newest that CMake 3.25 knows for nvcc
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_FLAGS_RELEASE "-O3")  # as for C++: NDEBUG is never set
  if(NOT TARGET tpc_cuda)
    add_library(tpc_cuda INTERFACE)
    # Loading cuBLAS takes 70 ms: a program that makes no CUDA backend shall not.
    target_link_options(tpc_cuda INTERFACE LINKER:--as-needed)
    target_link_libraries(tpc_cuda INTERFACE CUDA::cudart CUDA::cublas)
  endif()
endif()
