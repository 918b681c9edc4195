# shellcheck shell=bash
# Sourced: what Open MPI asks for where the suite is run by a script. For a bare mpirun see README.md.
# Mpirun refuses root without both; containers and CI machines are root.
export OMPI_ALLOW_RUN_AS_ROOT=1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Eight ranks on two cores are the usual case here: a proof of values needs ranks, not cores. That ranks which share
# a core yield while they wait is set by the programs themselves.
export OMPI_MCA_rmaps_base_oversubscribe=1
