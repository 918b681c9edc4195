find_package(MPI REQUIRED COMPONENTS C)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)

# Debian's dnnl-config.cmake asks for OpenCL, of which nothing is used here; so the library is found by itself.
find_path(TPC_DNNL_INCLUDE dnnl.h REQUIRED)
find_library(TPC_DNNL_LIBRARY dnnl REQUIRED)
add_library(tpc_dnnl INTERFACE)
target_include_directories(tpc_dnnl SYSTEM INTERFACE ${TPC_DNNL_INCLUDE})
target_link_libraries(tpc_dnnl INTERFACE ${TPC_DNNL_LIBRARY})

# BLIS picks the right kernels on CPUs newer than itself without an environment variable.
find_path(TPC_BLIS_INCLUDE cblas.h PATH_SUFFIXES x86_64-linux-gnu/blis-serial blis-serial blis REQUIRED)
find_library(TPC_BLIS_LIBRARY blis PATH_SUFFIXES blis-serial blis REQUIRED)
add_library(tpc_blis INTERFACE)
target_include_directories(tpc_blis SYSTEM INTERFACE ${TPC_BLIS_INCLUDE})
target_link_libraries(tpc_blis INTERFACE ${TPC_BLIS_LIBRARY})
