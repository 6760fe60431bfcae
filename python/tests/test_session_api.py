"""Sessions: a program injects flows, and the times are those of a run that knows them before."""

import signal

import pytest

import floodway

HEAD = {
    "name": "embedded",
    "arrivals": "200us",
    "limit": "2ms",
    "topology": {"clos": {"leaves": 2, "spines": 2, "hosts_per_leaf": 3}},
    "host": {"congestion": "line_rate"},
}
ONE = {**HEAD, "workload": [{"permutation": {"bytes": "1KB"}}]}
FLOWS = [(0, 3, 200_000, 40), (1, 3, 90_000, 41), (4, 0, 5_000, 41), (5, 2, 1, 150)]


def test_a_flow_on_an_idle_path_has_the_closed_form():
    # Ten full packets of (1024 + 62 + 20) bytes at 100 Gb/s, 88.48 ns each, over four hops of
    # 200 ns: all ten at the first hop, and the last one again at each of the others.
    with floodway.Session(floodway.Scenario(ONE), latency="3us") as session:
        assert session.advance(500) == []
        flow = session.inject("host 0", "host 5", 10_240)
        done = session.next()
    assert done == floodway.Completion(flow, 3_500, pytest.approx(3_500 + 13 * 88.48 + 800))
    assert done.fct_ns == pytest.approx(13 * 88.48 + 800)
    assert session.run.flows["fct_ns"].to_list() == pytest.approx([done.fct_ns])


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_injected_flows_have_the_times_of_a_list(threads):
    flows = [
        {"src": src, "dst": dst, "bytes": f"{size}B", "start": f"{at + 3}us"}
        for src, dst, size, at in FLOWS
    ]
    run = floodway.Scenario({**HEAD, "workload": [{"list": {"flow": flows}}]}).run()
    listed = floodway.Scenario(ONE)
    arrived = []
    with floodway.Session(listed, latency=3_000, threads=threads) as session:
        for src, dst, size, at in FLOWS:
            arrived += session.advance(f"{at}us")
            session.inject(src, dst, size)
        arrived += session
    assert session.run.fingerprint == run.fingerprint
    assert session.run.violations == []
    expected = zip(run.flows["start_ns"], run.flows["fct_ns"], strict=True)
    found = {one.flow: (one.start_ns, one.fct_ns) for one in arrived}
    for flow, (start, fct) in enumerate(expected):
        assert found[flow] == (start, pytest.approx(fct))


def test_time_and_flight():
    session = floodway.Session(floodway.Scenario(ONE))
    # A frame of 64 bytes with preamble and gap, and 200 ns of cable.
    assert session.window_ns == session.latency_ns == pytest.approx(84 * 0.08 + 200)
    assert (session.now, session.end_ns, session.in_flight) == (0, 2e6, 0)
    assert session.hosts == tuple(f"host {number}" for number in range(6))
    assert session.next() is None
    session.inject(0, 1, "1MB", at="10us")
    assert (session.next("20us"), session.now, session.in_flight) == (None, 20_000, 1)
    assert repr(session) == "<Session embedded: 20000 ns, 1 flows in flight>"
    with pytest.raises(ValueError, match="the session is open: its tables are there after"):
        _ = session.run
    run = session.close()
    assert (run.stop, session.closed, repr(session)) == (
        "time_limit",
        True,
        "<Session embedded: closed>",
    )
    assert run.flows["fct_ns"].to_list() != run.flows["fct_ns"].to_list()  # It has not arrived.


def test_what_is_refused():
    session = floodway.Session(floodway.Scenario(ONE))
    session.advance("1us")

    def says(call, text):
        with pytest.raises(ValueError) as found:
            call()
        assert str(found.value) == text

    says(
        lambda: session.inject(0, 1, 5, at=999),
        "999ns has passed: the session is at 1us, and the time must not be before that",
    )
    says(
        lambda: session.advance("3ms"),
        "3ms is after the end of the simulation, 2ms: raise `limit` in the scenario",
    )
    says(lambda: session.inject(0, 1, 0), "a flow of 0 bytes: the size must be at least 1 byte")
    says(lambda: session.inject(0, 1, -1), "`size` is -1: the size must be at least 1 byte")
    says(
        lambda: session.inject(0, 1, 2**64),
        "`size` is 18446744073709551616: no flow has so many bytes, write a smaller size",
    )
    says(
        lambda: session.inject(0, 1, 5, at="2ms"),
        "a flow that is injected at 2ms starts 206.72ns later, which is not before the end of the "
        "simulation, 2ms: raise `limit` in the scenario",
    )
    says(lambda: session.advance(-1), "`until` is -1: it must be a time of at least 0 ns")
    says(
        lambda: session.inject("host 0", "leaf 0", 5),
        "`destination` is 'leaf 0', and the network has no such host: it has 6 hosts, host 0 to "
        "host 5",
    )
    says(
        lambda: session.inject(6, 1, 5),
        "`source` is 6, and the network has 6 hosts: they have the numbers 0 to 5",
    )
    says(
        lambda: session.inject(1, 1, 5),
        "a flow from host 1 to itself does not cross the network: source and destination must "
        "differ",
    )
    assert session.in_flight == 0
    session.close()
    for call in (
        session.close,
        lambda: session.now,
        lambda: session.inject(0, 1, 5),
        session.next,
        lambda: session.advance(5_000),
    ):
        says(call, "the session is closed: open another one")
    several = floodway.Scenario({**ONE, "replications": 4})
    says(
        lambda: floodway.Session(several),
        "the scenario `embedded` has 4 replications, and a session is one run: choose a "
        "replication from 0 to 3",
    )
    says(
        lambda: floodway.Session(several, replication=-1),
        "`replication` is -1: they are counted from 0",
    )
    says(
        lambda: floodway.Session(floodway.Scenario(ONE), latency="2ms"),
        "with a host latency of 2ms no flow can start before the end of the simulation, 2ms: lower "
        "the latency, or raise `limit` in the scenario",
    )
    assert floodway.Session(several, replication=3).close().replication == 3
    says(
        lambda: floodway.Session(floodway.Scenario(ONE), latency="100ns"),
        "the host latency of 100ns is shorter than a window of 206.72ns, the shortest time in "
        "which a frame crosses a link: it must be at least 206.72ns",
    )


def test_an_error_inside_closes_the_session():
    with pytest.raises(ZeroDivisionError), floodway.Session(floodway.Scenario(ONE)) as session:
        session.inject(0, 1, 5)
        raise ZeroDivisionError
    assert session.closed


def test_a_signal_interrupts_and_nothing_is_lost():
    def ring(*_):
        raise KeyboardInterrupt

    session = floodway.Session(floodway.Scenario({**ONE, "limit": "1s"}))
    session.inject(0, 1, 1_000)
    session.inject(1, 2, 10**9)
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            session.advance("1s")
    finally:
        signal.signal(signal.SIGALRM, before)
    # 1 GB takes 86 ms of simulated time, and far more here.
    assert 0 < session.now < 80e6 and session.in_flight == 2
    third = session.inject(3, 4, 1)
    assert [found.flow for found in session.advance(session.now + 10_000)] == [0, third]
    assert session.in_flight == 1
