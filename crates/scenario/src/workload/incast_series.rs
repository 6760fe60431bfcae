//! Incast after incast among the same hosts: each goes to a receiver drawn at random, from senders
//! drawn at random among the others, all at once; incasts come as a Poisson process (Li et al.,
//! "HPCC", SIGCOMM 2019, section 5.1; the Source Flow Control deck).
//!
//! The load is that of the hosts together: payload bytes per second of all incasts over the summed
//! rate of the hosts' links. With N senders of S bytes each, and H hosts at rate R, an incast comes
//! every 8 N S / (load x H R) seconds on average: 120 senders of 256 KB among 320 hosts at
//! 100 Gb/s, at a load of 0.08, every 96 us.

use std::sync::Arc;

use floodway_model::check::{Check, Findings};
use floodway_model::units::PS_PER_S;
use floodway_model::{Bytes, Duration, FlowSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Demand, Parameters, Ready, Surroundings, Workload};
use crate::check::Problems;
use crate::document::Document;

/// Parameters. Each incast goes to a receiver drawn at random, from senders drawn at random among
/// the other hosts, which start at the same time (HPCC, SIGCOMM 2019, section 5.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Hosts among which receivers and senders are drawn, more than `senders`.
    pub hosts: u32,
    /// Senders of each incast.
    pub senders: u32,
    /// Size of each sender's one message.
    pub bytes: Bytes,
    /// Payload of all incasts as a part of the summed rate of the hosts' links, above 0 and at
    /// most 1.
    pub load: f64,
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let (senders, hosts) = (self.senders, self.hosts);
        findings.weight("load", self.load, "it is the part of each host's link that payload takes");
        findings.range("senders", senders, 1.., "");
        if senders > 0 && senders >= hosts {
            let needs = u64::from(senders) + 1;
            findings.error(
                "senders",
                format!("incasts of {senders}:1 need {needs} hosts, and `hosts` is {hosts}"),
                "lower `senders` or raise `hosts`",
            );
        }
        let why = "it is the size of each sender's message, for example \"256KB\"";
        findings.positive("bytes", self.bytes, why);
    }
}

impl Parameters for Spec {
    fn ready(
        &self,
        _path: &str,
        _settings: &Document,
        _findings: &mut Problems<'_>,
    ) -> Option<Ready> {
        Some(Arc::new(self.clone()))
    }
}

impl Spec {
    /// Payload in bits per second.
    fn offered(&self, around: Surroundings<'_>) -> f64 {
        let rates = around.hosts.iter().map(|&host| around.rate(host).0 as f64);
        self.load * rates.sum::<f64>()
    }

    /// Incasts per second.
    fn arrival_rate(&self, around: Surroundings<'_>) -> f64 {
        self.offered(around) / (8.0 * f64::from(self.senders) * self.bytes.0 as f64)
    }
}

impl Workload for Spec {
    fn hosts(&self) -> u64 {
        u64::from(self.hosts)
    }

    fn takes(&self) -> (String, &'static str) {
        (format!("incasts of {}:1", self.senders), "hosts")
    }

    fn load(&self) -> Option<f64> {
        Some(self.load)
    }

    fn largest_flow(&self) -> u64 {
        self.bytes.0
    }

    fn size_fields(&self) -> Vec<String> {
        vec!["bytes".to_owned()]
    }

    fn expected_flows(&self, around: Surroundings<'_>) -> f64 {
        self.arrival_rate(around) * around.arrivals.as_secs() * f64::from(self.senders)
    }

    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        let mut flows = Vec::new();
        let mut rng = around.stream();
        let gap_ps = PS_PER_S as f64 / self.arrival_rate(around);
        let mut hosts = around.hosts.to_vec();
        let mut now_ps = 0.0;
        loop {
            now_ps += rng.exponential(gap_ps);
            if now_ps >= around.arrivals.0 as f64 {
                return flows;
            }
            // The receiver, then the senders: each is drawn from those not drawn yet, and in
            // whatever order the last incast has left them makes no difference.
            let drawn = self.senders as usize + 1;
            for place in 0..drawn {
                let left = (hosts.len() - place) as u64;
                hosts.swap(place, place + rng.below(left) as usize);
            }
            let (dst, start) = (hosts[0], Duration(now_ps as u64));
            let senders = hosts[1..drawn].iter();
            flows.extend(senders.map(|&src| around.message(src, dst, self.bytes.0, start)));
        }
    }

    fn demands(&self, around: Surroundings<'_>) -> Vec<Demand> {
        let hosts = around.hosts;
        let rate = self.offered(around) / hosts.len() as f64;
        let from = hosts.iter().map(|&src| (src, rate)).collect();
        vec![Demand { from, to: hosts.to_vec() }]
    }
}
