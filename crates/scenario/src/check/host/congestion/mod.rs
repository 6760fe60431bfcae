//! Whether congestion controls can work, and fit transport and network. Each has a file with its
//! [`Checks`]; what several of them ask is in `answers.rs` and `rates.rs`.

mod answers;
mod bbr;
mod constant_rate;
mod cubic;
mod dcqcn;
mod dctcp;
mod hpcc;
mod indicated_rate;
mod line_rate;
mod powertcp;
mod prague;
mod qcn;
mod rates;
mod rdma_dctcp;
mod reno;
mod swift;
mod timely;

use floodway_model::{Duration, Graph};
use floodway_sim::host::congestion::Spec;
use floodway_sim::host::transport::tcp;

use super::Placed;
use crate::check::{Findings, number};
use crate::derived;
use crate::document::Document;

/// What is asked of the parameters of one congestion control, each item once for every place where
/// they are written unless it says otherwise.
trait Checks {
    /// Whether they make sense by themselves; `path` is that of a field.
    fn check(&self, _path: &dyn Fn(&str) -> String, _findings: &mut Findings<'_>) {}

    /// Whether anything sends the signals that it relies on. Only asked with a transport that fits.
    fn check_signals(&self, _placed: &Placed, _settings: &Document, _findings: &mut Findings<'_>) {}

    /// Whether they fit the network.
    fn check_on(&self, _placed: &Placed, _network: &Network<'_>, _findings: &mut Findings<'_>) {}

    /// Whether they fit a transport and the network; asked for every combination of both places.
    fn check_with(&self, _placed: &Placed, _network: &Network<'_>, _findings: &mut Findings<'_>) {}

    /// What is said of TCP without a window of its own. Only asked of what
    /// [needs nothing](floodway_sim::host::congestion::Needs::Nothing).
    fn check_unlimited(&self, placed: &Placed, tcp: &tcp::Spec, findings: &mut Findings<'_>) {
        if tcp.receive_window.is_none() {
            findings.warn(
                &[&placed.congestion_table(), &placed.congestion_path],
                format!(
                    "nothing limits how much TCP has in flight: `{}` has no window",
                    placed.congestion.name()
                ),
                format!(
                    "choose {}, or write `receive_window` in {} for a window that stays the same",
                    placed.other_congestion("cubic"),
                    placed.transport_header()
                ),
            );
        }
    }
}

/// The checks of whichever it is: the one list of them.
fn checks(spec: &Spec) -> &dyn Checks {
    match spec {
        Spec::LineRate(spec) => spec,
        Spec::ConstantRate(spec) => spec,
        Spec::Dcqcn(spec) => spec,
        Spec::Hpcc(spec) => spec,
        Spec::PowerTcp(spec) => spec,
        Spec::Timely(spec) => spec,
        Spec::Swift(spec) => spec,
        Spec::RdmaDctcp(spec) => spec,
        Spec::IndicatedRate(spec) => spec,
        Spec::Qcn(spec) => spec,
        Spec::Reno(spec) => spec,
        Spec::Cubic(spec) => spec,
        Spec::Dctcp(spec) => spec,
        Spec::Prague(spec) => spec,
        Spec::Bbr(spec) => spec,
        Spec::Bbr3(spec) => spec,
    }
}

/// What checks of a network look at.
pub struct Network<'a> {
    pub settings: &'a Document,
    pub graph: &'a Graph,
    pub largest_frame: u16,
}

impl Network<'_> {
    /// The time of a full packet to the farthest host and of its acknowledgement back.
    fn round_trip(&self) -> Duration {
        derived::round_trip(self.settings, self.graph, self.largest_frame)
    }
}

/// Checks what needs no network; `fits` if its transport gives it what it needs.
pub fn check(placed: &Placed, fits: bool, settings: &Document, findings: &mut Findings<'_>) {
    let checks = checks(&placed.congestion);
    checks.check(&|field| placed.of_congestion(field), findings);
    if fits {
        checks.check_signals(placed, settings, findings);
    }
}

/// Checks what needs the network; `is_new` if nothing has been said of this place yet.
pub fn check_on(placed: &Placed, network: &Network<'_>, is_new: bool, findings: &mut Findings<'_>) {
    let checks = checks(&placed.congestion);
    if is_new {
        checks.check_on(placed, network, findings);
    }
    checks.check_with(placed, network, findings);
}

/// See [`Checks::check_unlimited`].
pub fn check_unlimited(placed: &Placed, tcp: &tcp::Spec, findings: &mut Findings<'_>) {
    checks(&placed.congestion).check_unlimited(placed, tcp, findings);
}

/// Whether a weight of marks is one.
fn weight(path: &str, g: f64, findings: &mut Findings<'_>) {
    if !(g > 0.0 && g <= 1.0) {
        findings.error(
            &[path],
            format!("the weight `g` is {}", number(g)),
            "write a number above 0 and at most 1; RFC 8257 has 0.0625 (1/16)",
        );
    }
}

fn minimum_window(path: &str, packets: u32, findings: &mut Findings<'_>) {
    if packets == 0 {
        let help = "write at least 1; RFC 5681 and Linux have 2";
        findings.error(&[path], "a window of 0 packets would never let one be sent", help);
    }
}
