//! Rates of congestion controls: above zero, and the lowest no faster than the link of any host.

use floodway_model::{Graph, Rate};

use super::super::Findings;
use super::Placed;

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
    let path = format!("{}.{}.min_rate", placed.congestion_path, placed.congestion.name());
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
