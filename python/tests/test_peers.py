# ruff: noqa: E501
"""The comparison with simulators that are built from a checkout, bench/peers.

Neither simulator is here. Stand-ins have their layout, are built by the same commands, take the same
arguments and write the same output. Their completion times are those of an idle path, by hand.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

RUN = Path(__file__).parents[2] / "bench" / "peers" / "run.py"

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="builds with make and waf"),
    pytest.mark.skipif(not RUN.exists(), reason="not a checkout"),
]

# A packet of 1,048 bytes over two links at 100 Gb/s and four at 400, an acknowledgment of 60 back,
# and twelve microseconds of delay: 12,265.92 ns, which the simulator cuts.
HPCC_IDLE = int(2 * 83.84 + 4 * 20.96 + 2 * 4.8 + 4 * 1.2 + 12_000)
# 4,160 and 64 bytes over two links at 100 Gb/s and two at 200, and eight microseconds of delay.
HTSIM_IDLE = 2 * 0.3328 + 2 * 0.1664 + 2 * 0.00512 + 2 * 0.00256 + 8

THIRD = f"""#!{sys.executable}
import sys
keys = dict(line.split(maxsplit=1) for line in open(sys.argv[1]) if line.strip())
assert open(keys["TRACE_FILE"].strip()).read() == "0\\n"
nodes, switches, links = map(int, open(keys["TOPOLOGY_FILE"].strip()).readline().split())
assert (nodes, switches, links) == (376, 56, 480)
count, *flows = open(keys["FLOW_FILE"].strip())
assert len(flows) == int(count)
with open(keys["FCT_OUTPUT_FILE"].strip(), "w") as out:
    for flow in flows:
        src, dst, _, port, size, start = flow.split()
        sip, dip = (0x0B000001 + (int(n) // 256 << 16) + (int(n) % 256 << 8) for n in (src, dst))
        begin = round(float(start) * 1e9)
        print(f"{{sip:08x}} {{dip:08x}} 10000 {{port}} {{size}} {{begin}} {HPCC_IDLE} 12000", file=out)
"""
WAF = """
import os, shutil, sys
if sys.argv[1] == "configure":
    assert "-fpermissive" in os.environ["CXXFLAGS"] and "optimized" in sys.argv
    os.makedirs("build/c4che")
    open("build/c4che/_cache.py", "w").write("BUILD_PROFILE = 'optimized'\\n")
else:
    os.makedirs("build/scratch")
    shutil.copyfile("scratch/third.cc", "build/scratch/third")
    os.chmod("build/scratch/third", 0o755)
"""
ROCE = f"""#!{sys.executable}
import sys
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
options.pop("-pfc_thresholds")
nodes, connections, *flows = open(options["-tm"])
assert nodes.split()[1] == options["-nodes"] and int(connections.split()[1]) == len(flows)
for flow in flows:
    src, dst = flow.split()[0].split("->")
    print(f"Flow Roce_{{src}}_{{dst}} 7 finished at {HTSIM_IDLE:.6g} total bytes {{flow.split()[-1]}}")
print("Done")
"""


def files(folder, contents):
    """Writes files below a folder."""
    for name, text in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def hpcc(tmp_path):
    """A checkout of HPCC's simulator, and a Python 2."""
    old = tmp_path / "python2"
    old.write_text(
        f'#!/bin/sh\n[ "$1" = -V ] && echo Python 2.7.18 || exec {sys.executable} "$@"\n'
    )
    old.chmod(0o755)
    return [
        "--python2",
        str(old),
        "--hpcc",
        str(
            files(
                tmp_path / "hpcc",
                {
                    "simulation/scratch/third.cc": THIRD,
                    "simulation/waf": WAF,
                    "simulation/src/point-to-point/model/rdma-hw.cc": "",
                },
            )
        ),
    ]


@pytest.fixture
def htsim(tmp_path):
    """A checkout of htsim."""
    if not (shutil.which("make") and shutil.which("g++")):
        pytest.skip("there is no make or no g++")
    return [
        "--htsim",
        str(
            files(
                tmp_path / "htsim",
                {
                    "sim/Makefile": "libhtsim.a:\n\ttouch $@\n",
                    "sim/roce.cpp": "",
                    "sim/datacenter/Makefile": "htsim_roce: main_roce.cpp ../libhtsim.a\n\tinstall $< $@\n",
                    "sim/datacenter/main_roce.cpp": ROCE,
                },
            )
        ),
    ]


def compare(*options):
    """Runs the comparison; its result, or its error."""
    done = subprocess.run(
        [sys.executable, RUN, *options], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return done.stderr[done.stderr.index("error: ") :]
    return json.loads(done.stdout) if "--json" in options else done.stdout


def test_hpcc(program, hpcc):
    """One packet from each of 320 hosts over six links, with its acknowledgment: 3,840 packet-hops."""
    options = [*hpcc, "--floodway", program, "hpcc-fat-tree", "--packets", "1", "--pairs", "2"]
    case = compare(*options, "--json")["hpcc"]["cases"]["hpcc-fat-tree"]
    assert len(case["pairs"]) == 2
    for pair in case["pairs"]:
        theirs, ours = pair["theirs"], pair["floodway"]
        assert theirs["hops"] == ours["hops"] == 3840
        assert theirs["flows_done"] == ours["flows_done"] == 320
        assert pair["ratio"] == theirs["cpu_s"] / ours["cpu_s"]
        assert min(run[key] for run in (theirs, ours) for key in ("cpu_s", "memory_bytes")) > 0
        assert (
            ours["completions_us"]["fastest"]
            == theirs["completions_us"]["median"]
            == HPCC_IDLE / 1000
        )
        assert ours["agreement"]["in_both"] == 320
    text = compare(*options)
    assert "ratio, median (range)" in text and "12.3, 12.3" in text


def test_htsim(program, htsim):
    """One packet from each of 128 hosts over four links, with its acknowledgment: 1,024 packet-hops."""
    options = [*htsim, "--floodway", program, "htsim-leaf-spine", "--packets", "1", "--pairs", "1"]
    (pair,) = compare(*options, "--json")["htsim"]["cases"]["htsim-leaf-spine"]["pairs"]
    assert pair["theirs"]["hops"] == pair["floodway"]["hops"] == 1024
    # floodway's times are in whole nanoseconds here, those of htsim in six digits.
    fastest = [pair[who]["completions_us"]["fastest"] for who in ("theirs", "floodway")]
    assert fastest == [pytest.approx(HTSIM_IDLE, abs=1e-5), pytest.approx(HTSIM_IDLE, abs=1e-3)]


def test_a_run_that_fails(program, htsim):
    """The end of its output, and what may be the reason."""
    roce = Path(htsim[1]) / "sim/datacenter/main_roce.cpp"
    roce.write_text('#!/bin/sh\necho "Assertion \\`_tiers == 3\' failed."\nkill -ABRT $$\n')
    error = compare(*htsim, "--floodway", program, "htsim-leaf-spine")
    assert (
        "ended with status -6. If it says `_tiers == 3`, this version reads no network of two tiers"
        in error
    )
    assert "Assertion `_tiers == 3' failed." in error


def test_a_run_without_results(program, htsim, hpcc):
    """Another version, whose output is not known."""
    (Path(htsim[1]) / "sim/datacenter/main_roce.cpp").write_text("#!/bin/sh\necho Done\n")
    error = compare(*htsim, "--floodway", program, "htsim-leaf-spine")
    assert "htsim_roce says of no flow that it has finished: it is another version" in error
    assert error.endswith("The end of its output:\n    Done\n")
    (Path(hpcc[3]) / "simulation/scratch/third.cc").write_text("#!/bin/sh\necho 1 2 3 > fct.txt\n")
    error = compare(*hpcc, "--floodway", program, "hpcc-fat-tree")
    assert "third has written no `fct.txt` with eight columns: it is another version" in error


def test_flows_that_are_missing(program, htsim):
    """Less work than was asked for is not compared."""
    roce = Path(htsim[1]) / "sim/datacenter/main_roce.cpp"
    roce.write_text(ROCE.replace("*flows = open", "_, *flows = open").replace("len(flows)", "128"))
    error = compare(*htsim, "--floodway", program, "htsim-leaf-spine", "--packets", "1")
    assert error == (
        "error: htsim-leaf-spine: of 128 flows, 127 have ended in htsim and 128 in floodway, so this is "
        "not the same work\n"
    )


def test_ctrl_c(program, htsim, tmp_path):
    """What is running ends with the comparison, also if the signal reaches that alone."""
    pid = tmp_path / "pid"
    roce = Path(htsim[1]) / "sim/datacenter/main_roce.cpp"
    roce.write_text(f"#!/bin/sh\necho $$ > {pid}.new\nmv {pid}.new {pid}\nexec sleep 100\n")
    command = [sys.executable, RUN, *htsim, "--floodway", program, "htsim-leaf-spine"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as comparison:
        end = time.monotonic() + 60
        while not pid.exists() and time.monotonic() < end:
            time.sleep(0.01)
        comparison.send_signal(signal.SIGINT)
        error = comparison.communicate(timeout=60)[1]
    assert comparison.returncode == 130 and "Traceback" not in error, error
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_bad_input(tmp_path, hpcc, htsim):
    """What is wrong, and what to do."""
    assert compare("--htsim", str(tmp_path)) == (
        f"error: {tmp_path} has no sim/Makefile, so it is no checkout of Broadcom/csg-htsim (others of htsim "
        "have another layout): name its folder with --htsim\n"
    )
    assert compare("--hpcc", htsim[1]).startswith(
        f"error: {htsim[1]} has no simulation/scratch/third.cc, so it is no checkout of alibaba-edu/"
    )
    assert compare("--python2", sys.executable, *hpcc[2:]) == (
        f"error: {sys.executable} is not Python 2, which waf of HPCC's simulator needs: install it (`conda "
        "create -n old python=2.7` has one) and name the program with --python2\n"
    )
    assert compare("hpcc-case-b") == (
        "error: `hpcc-case-b` needs a checkout of HPCC's simulator: name its folder with --hpcc\n"
    )
    assert compare(*htsim, "--packets", "0") == "error: --packets must be at least 1\n"
    build = Path(hpcc[3]) / "simulation" / "build"
    files(build, {"scratch/third": "", "c4che/_cache.py": "BUILD_PROFILE = 'debug'\n"})
    assert f"{build} is not an optimized build, so a comparison would not be fair" in compare(*hpcc)
