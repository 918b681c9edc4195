# ReFrame: reframe -c ci/examples/reframe_gate.py -r --performance-report; -S BenchTest.degrees=2,4 and so on set
# the variables. ReFrame keeps the references itself, by system and partition; no baseline of the suite is involved.
"""The proof and the benchmark of a tensor-parallel suite as ReFrame tests."""

import pathlib

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher
from reframe.core.builtins import run_before, sanity_function, variable

BUILT = pathlib.Path(__file__).resolve().parents[2] / "build" / "bin"


class SuiteTest(rfm.RunOnlyRegressionTest):
    """What both have in common: programs that are built already and start their ranks by themselves."""

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    sourcesdir = None
    programs = variable(str, value=str(BUILT))
    ranks = variable(int, value=8)
    arguments = variable(str, value="")

    @run_before("run")
    def launch_locally(self) -> None:
        """The programs call mpirun, which finds the job's nodes."""
        self.job.launcher = getlauncher("local")()
        self.env_vars = {
            "OMPI_ALLOW_RUN_AS_ROOT": 1,
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1,
            "OMPI_MCA_rmaps_base_oversubscribe": 1,
        }


@rfm.simple_test
class ConformanceTest(SuiteTest):
    """Passes if every case does."""

    @run_before("run")
    def prepare(self) -> None:
        """The command line."""
        self.executable = f"{self.programs}/tp_conformance"
        self.executable_opts = [f"--ranks {self.ranks}", self.arguments]

    @sanity_function
    def all_cases_pass(self) -> bool:
        """The last line of a run that came to its end."""
        return sn.assert_found(r"^TP_CONFORMANCE PASS \d+/\d+", self.stdout)


@rfm.simple_test
class BenchTest(SuiteTest):
    """Each step's time, by its name; references belong into the site's configuration."""

    degrees = variable(str, value="2,4,8")

    @run_before("run")
    def prepare(self) -> None:
        """The command line."""
        self.executable = f"{self.programs}/tp_bench"
        self.executable_opts = [f"--tp {self.degrees}", "--metrics", self.arguments]

    @sanity_function
    def something_was_measured(self) -> bool:
        """Wrong results end with another code than 0, and have no metric."""
        return sn.assert_found(r"^METRIC step/\S+=", self.stdout)

    @run_before("performance")
    def read_metrics(self) -> None:
        """One performance variable per step that was measured."""
        output = pathlib.Path(self.stagedir) / str(self.stdout.evaluate())
        steps = sn.extractall(r"^METRIC (step/\S+)=(\S+) s", str(output), (1, 2), (str, float))
        for name, seconds in steps.evaluate():
            self.perf_variables[name] = sn.make_performance_function(sn.defer(seconds), "s")
