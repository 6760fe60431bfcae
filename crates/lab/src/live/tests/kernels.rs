//! Flows of kernels that come and go, with kernels of a test.

use floodway_model::{Dscp, Ecn, Instant, Tos};
use floodway_sim::kernel::{Backend, Header, LongFlow, Order, Outgoing, connection, protocol};

use super::*;
use crate::{Kept, Started};

/// Hosts 0 and 1 of the other tests are kernels that send to hosts 4 and 5; hosts 2 and 3 are simulated, as before.
fn with_kernels() -> String {
    let of_kernels = "[[workload]]\nname = \"real\"\nlinux = { hosts = \"0-1\", congestion = \"reno\", long_flows = { to = \"4-5\" } }\n\
                      [[workload]]\nname = \"receivers\"\nlinux = { hosts = \"4-5\" }\n[[workload]]\nname = \"scalable\"";
    let (network, rest) = BASE.split_once("[[workload]]").unwrap();
    let (_, rest) = rest.split_once("[[workload]]\nname = \"scalable\"").unwrap();
    format!("{network}{of_kernels}{rest}\n[variants.later.workload.0.linux]\nstart = \"1s\"\n")
}

fn kernels() -> Scenario {
    let scenario = Scenario::parse(&with_kernels(), "steered.toml", &Overrides::default());
    scenario.unwrap_or_else(|error| panic!("{}", error.plain()))
}

/// Each flow sends 1000 octets of payload every millisecond, from one after its start on: 8 Mb/s.
#[derive(Debug, Default)]
struct Fake {
    flows: Vec<(LongFlow, Instant)>,
}

const BETWEEN: Duration = Duration::from_ms(1);

impl Backend for Fake {
    fn next(&self) -> Instant {
        self.flows.iter().map(|(_, at)| *at).min().unwrap_or(Instant::NEVER)
    }

    fn run(&mut self, _: Instant, sent: &mut Vec<Outgoing>) {
        let now = self.next();
        for (flow, at) in self.flows.iter_mut().filter(|(_, at)| *at == now) {
            let connection = connection(protocol::TCP, (flow.source, flow.port));
            let tos = Tos::new(Dscp::DEFAULT, Ecn::NotEct);
            let header = Header { dst: flow.to, tos, connection, payload: 1_000, end: None };
            sent.push(Outgoing { at: now, octets: vec![0; 1_054].into(), header });
            *at += BETWEEN;
        }
    }

    fn receive(&mut self, _: &[u8], _: bool, _: Instant) {}

    fn transmitted(&mut self, _: Instant) {}

    fn order(&mut self, order: Order, now: Instant) {
        match order {
            Order::Start(flow) => self.flows.push((flow, now + BETWEEN)),
            Order::Stop(flow) => {
                let place = self.flows.iter().position(|(other, _)| *other == flow);
                self.flows.remove(place.expect("it was started"));
            }
        }
    }
}

#[derive(Debug)]
struct Fakes(&'static str);

impl Kernels for Fakes {
    fn start(&self, spec: &Spec) -> Started {
        let fake = |_| -> Box<dyn Backend> { Box::<Fake>::default() };
        let kept = Kept { name: "said.txt", what: "what was said", octets: vec![1] };
        Started {
            backends: spec.kernels.iter().map(fake).collect(),
            files: Box::new(move || vec![kept]),
        }
    }

    fn name(&self) -> String {
        self.0.to_owned()
    }
}

fn start(threads: usize) -> Live {
    let choice = Choice { threads, audit: true, ..CHOICE };
    Live::open(&kernels(), &choice, Some(&Fakes("fake-1")))
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn flows_of_kernels_come_and_go_and_are_repeated() {
    let mut live = start(1);
    let kinds: Vec<_> = live
        .kinds()
        .iter()
        .map(|kind| (&*kind.name, &*kind.congestion, kind.is_linux, kind.count()))
        .collect();
    assert_eq!(kinds, [("real", "reno", true, 1), ("scalable", "dctcp", false, 0)]);
    assert_eq!(
        live.managements()[2].refused(),
        Some("its Linux kernels differ, and only queue management can change")
    );
    // It starts after 100 ms, as commands of kernels do.
    let rates = |live: &mut Live, count: usize| {
        let last = steps(live, count).pop().unwrap();
        last.flows.into_iter().map(|of| of.rates_mbps).collect::<Vec<_>>()
    };
    assert_eq!(rates(&mut live, 1), [vec![0.0], vec![]]);
    // A window more or less has a frame more or less in 100 ms.
    let is = |rates: &[f64], count: usize| {
        assert_eq!(rates.len(), count);
        assert!(rates.iter().all(|rate| (rate - 8.0).abs() < 0.2), "{rates:?}");
    };
    is(&rates(&mut live, 4)[0], 1);
    live.act(&flows("real", 3)).unwrap();
    live.act(&flows("scalable", 1)).unwrap();
    let now = rates(&mut live, 10);
    is(&now[0], 3);
    // What is left of the link, 40 Mb/s without 3 times 8.464 on the wire, has room for DCTCP behind drop-tail.
    assert!(now[1][0] > 5.0, "{now:?}");
    live.act(&management("dualq")).unwrap();
    live.act(&flows("real", 2)).unwrap();
    is(&rates(&mut live, 5)[0], 2);
    let Closed { outcome, log, files } = live.close();
    assert_eq!(outcome.violations, Vec::<String>::new());
    assert_eq!(files.iter().map(|file| file.name).collect::<Vec<_>>(), ["said.txt"]);
    let read = Log::parse(&log.text()).unwrap();
    assert_eq!((&read, read.head.kernel.as_deref()), (&log, Some("fake-1")));
    for threads in [1, 3] {
        let again = start(threads).replay(&read, |_| true).unwrap().unwrap();
        assert_eq!(again.outcome.fingerprint, outcome.fingerprint);
    }
    let other = Live::open(&kernels(), &CHOICE, Some(&Fakes("fake-2"))).unwrap();
    assert_eq!(
        other.replay(&read, |_| true).unwrap_err().to_string(),
        "the log is of the Linux kernel `fake-1`, and this is `fake-2`, with other results: name the same one with `--kernel`"
    );
}

#[test]
fn kernels_that_do_not_start_are_an_error() {
    #[derive(Debug)]
    struct Broken;
    impl Kernels for Broken {
        fn start(&self, _: &Spec) -> Started {
            Started::default()
        }
        fn name(&self) -> String {
            String::new()
        }
    }
    let error = Live::open(&kernels(), &CHOICE, Some(&Broken)).unwrap_err();
    assert_eq!(error.to_string(), "the kernels of the run have not started");
}
