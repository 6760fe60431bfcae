//! Rates of congestion controls: above zero, and the lowest no faster than the link of any host.

use floodway_model::{Graph, Rate};

use super::Placed;
use crate::check::Findings;

/// Whether rates, by the field that each is written in, are above zero; with what follows if one is not,
/// and a usual value.
pub fn above_zero(
    path: &dyn Fn(&str) -> String,
    rates: &[(&str, Rate, &str)],
    usual: &str,
    findings: &mut Findings<'_>,
) {
    for (field, _, follows) in rates.iter().filter(|(_, rate, _)| *rate == Rate(0)) {
        findings.error(
            &[&path(field)],
            format!("`{field}` is zero: {follows}"),
            format!("write a rate above 0, for example \"{usual}\""),
        );
    }
}

/// Whether a rate lets packets be sent.
pub fn sends(path: &str, rate: Rate, findings: &mut Findings<'_>) {
    if rate == Rate(0) {
        let help = "write a rate above 0, for example \"1Mbps\"";
        findings.error(&[path], "a flow at rate zero would never send", help);
    }
}

/// Whether a flow at the lowest rate, `min_rate`, still sends packets whose feedback lets it go on.
pub fn lowest(path: &dyn Fn(&str) -> String, min_rate: Rate, findings: &mut Findings<'_>) {
    if min_rate == Rate(0) {
        let help = "a flow at rate zero would never learn that it may go on: write \"100Mbps\"";
        findings.error(&[&path("min_rate")], "the lowest rate is zero", help);
    }
}

/// Whether an increase, `additive_increase`, lets a rate rise.
pub fn increases(
    path: &dyn Fn(&str) -> String,
    increase: Option<Rate>,
    findings: &mut Findings<'_>,
) {
    if increase == Some(Rate(0)) {
        findings.error(
            &[&path("additive_increase")],
            "the rate would never rise after a decrease",
            "write a rate above 0, for example \"100Mbps\"",
        );
    }
}

/// The rate of the slowest host's link.
pub fn slowest_link(graph: &Graph) -> Option<Rate> {
    graph.hosts().map(|host| graph.node(host).ports[0].rate).min()
}

/// Whether a flow may be as slow as the slowest host, with the default of the lowest rate.
pub fn least(
    placed: &Placed,
    min_rate: Rate,
    default: &str,
    graph: &Graph,
    findings: &mut Findings<'_>,
) {
    let path = placed.of_congestion("min_rate");
    if let Some(slowest) = slowest_link(graph).filter(|&slowest| min_rate > slowest) {
        findings.error(
            &[&path, "topology"],
            format!(
                "the lowest rate of a flow ({min_rate}) is above that of a host's link ({slowest})"
            ),
            format!("lower `{path}`: the default is \"{default}\""),
        );
    }
}
