"""Captures of runs, as files beside their tables."""

import struct

import pytest

import floodway

#: Two senders to one receiver.
SCENARIO = """\
name = "captured"
arrivals = "10us"
limit = "1ms"
replications = 2
[topology.star]
hosts = 3
[[workload]]
[workload.incast]
senders = 2
bytes = "20KB"
"""


def blocks(path):
    """The blocks of a file in pcapng: pairs of a kind and a body."""
    octets = path.read_bytes()
    at = 0
    while at < len(octets):
        kind, length = struct.unpack_from("<II", octets, at)
        assert struct.unpack_from("<I", octets, at + length - 4) == (length,)
        yield kind, octets[at + 8 : at + length - 4]
        at += length


def test_the_first_run_has_a_capture(tmp_path):
    results = floodway.parse(SCENARIO).compare(
        tmp_path / "results", pcap=["switch"], progress=False
    )
    first, second = results.runs
    assert second.pcap is None
    assert first.pcap == tmp_path / "results/runs/base/0/capture.pcapng"
    kinds = [kind for kind, _ in blocks(first.pcap)]
    # A section, names, three interfaces with their statistics. Packets carry 1,024 bytes, each
    # crosses two ports, and so does its acknowledgement, of two senders.
    assert (kinds.count(0x0A0D0D0A), kinds.count(4), kinds.count(1), kinds.count(5)) == (1, 1, 3, 3)
    packets = -(-20_000 // 1024)
    assert kinds.count(6) == 2 * 2 * 2 * packets
    frames = (body for kind, body in blocks(first.pcap) if kind == 6)
    lengths = [struct.unpack_from("<I", body, 16)[0] for body in frames]
    assert max(lengths) == 1024 + 62


def test_what_is_not_there_is_refused(tmp_path):
    scenario = floodway.parse(SCENARIO)
    message = "there is no node `swich` in the network; did you mean `switch`?"
    with pytest.raises(ValueError, match=message):
        scenario.compare(tmp_path / "results", pcap=["swich"], progress=False)
    assert not (tmp_path / "results").exists()
