//! A constant rate regardless of losses and marks: traffic that does not respond to congestion.

use floodway_model::check::{Check, Findings};
use floodway_model::{Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::Around;
use super::{Control, Needs, Path};
use crate::host::transport::tcp;

/// Parameters of constant-rate traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Rate of each flow while it has data to send, measured on the wire: headers, preamble and gap
    /// included. A slower NIC sends at its own rate. Default 1Mbps, the order of magnitude of a
    /// video call.
    pub rate: Rate,
}

impl Default for Spec {
    fn default() -> Self {
        Self { rate: Rate::from_mbps(1) }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let why = "a flow at rate zero would never send; for example \"1Mbps\"";
        findings.positive("rate", self.rate, why);
    }
}

/// State of one flow.
#[derive(Debug)]
pub struct State {
    line_rate: Rate,
}

impl State {
    /// State of a new flow.
    pub fn new(_: &Spec, path: &Path) -> Self {
        Self { line_rate: path.line_rate }
    }
}

impl Control for State {
    type Spec = Spec;

    #[inline]
    fn needs(_: &Spec) -> Needs {
        Needs::Nothing
    }

    #[inline]
    fn rate(&mut self, spec: &Spec, _: Instant) -> Option<f64> {
        (spec.rate < self.line_rate).then_some(spec.rate.0 as f64)
    }

    fn check_unlimited(_: &Spec, around: &Around<'_>, _: &tcp::Spec, findings: &mut Findings<'_>) {
        findings.warn(
            "",
            "`constant_rate` does not slow down when segments are lost, and TCP sends them again",
            format!(
                "for traffic that does not respond choose {}, for TCP {}",
                around.other_transport("udp"),
                around.other("cubic")
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_rate_or_that_of_the_line() {
        let spec = Spec { rate: Rate::from_mbps(50) };
        let flow = |line| State::new(&spec, &Path::at(line)).rate(&spec, Instant::ZERO);
        assert_eq!(flow(Rate::from_mbps(51)), Some(50e6));
        assert_eq!(flow(Rate::from_mbps(50)), None);
    }
}
