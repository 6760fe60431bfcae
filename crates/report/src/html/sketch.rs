//! The network as a small drawing: switches by tier, hosts at the bottom, and the links between them.

use std::fmt::Write;

use maud::{Markup, html};

use super::playback::stage::Stage;
use crate::recording::Fabric;

/// Networks with more ends of links are no longer a drawing but a surface.
const MOST_ENDS: usize = 2_000;
/// How wide it is, and what the names of rows take of it.
const WIDTH: f64 = 520.0;
const MARGIN: f64 = 76.0;
/// How much lower it is than the picture of a record.
const LOWER: f64 = 0.42;
/// The heights of switches and bundles, and the radius of a host.
const HIGH: f64 = 8.0;
const HOST: f64 = 1.8;

/// The drawing; none of a network that is too large for it.
pub(super) fn sketch(fabric: &Fabric) -> Option<Markup> {
    if fabric.ends.len() > MOST_ENDS || fabric.nodes.len() < 2 {
        return None;
    }
    let stage = Stage::of(fabric);
    let x = |share: f64| MARGIN + share * (WIDTH - MARGIN - 4.0);
    let y = |row: usize| (stage.rows[row].0 * LOWER, HIGH);
    let mut links = String::new();
    for (at, end) in fabric.ends.iter().enumerate().filter(|(at, end)| *at < end.back) {
        let other = &fabric.ends[fabric.ends[at].back];
        let place = |end: &crate::recording::End| {
            let (top, high) = y(fabric.nodes[end.node].row);
            (x(end.x), if end.top { top } else { top + high })
        };
        let ((ax, ay), (bx, by)) = (place(end), place(other));
        let _ = match fabric.nodes[end.node].row == fabric.nodes[other.node].row {
            true => write!(
                links,
                "M{ax:.1} {ay:.1}Q{:.1} {:.1} {bx:.1} {by:.1}",
                (ax + bx) / 2.0,
                ay - 18.0
            ),
            false => write!(links, "M{ax:.1} {ay:.1}L{bx:.1} {by:.1}"),
        };
    }
    let height = stage.height * LOWER + HIGH + 4.0;
    let count = |what: &str, many: usize| format!("{many} {what}");
    let hosts: usize = fabric.nodes.iter().map(|node| node.hosts).sum();
    let switches = fabric.nodes.iter().filter(|node| node.hosts == 0).count();
    let title = format!("The network: {}, {}", count("switches", switches), count("hosts", hosts));
    Some(html! {
        svg.network viewBox={ "0 -20 " (WIDTH) " " (format!("{:.0}", height + 20.0)) } width=(WIDTH)
            height=(format!("{:.0}", height + 20.0)) role="img" aria-label=(title) {
            title { (title) }
            path.link d=(links) {}
            @for node in &fabric.nodes {
                @let (top, high) = y(node.row);
                @if node.width == 0.0 {
                    circle.host cx=(format!("{:.1}", x(node.x))) cy=(format!("{:.1}", top + high / 2.0)) r=(HOST) {}
                } @else {
                    @let width = node.width * (WIDTH - MARGIN - 4.0);
                    rect.switch.host[node.hosts > 0] x=(format!("{:.1}", x(node.x) - width / 2.0)) y=(format!("{top:.1}"))
                        width=(format!("{width:.1}")) height=(high) rx="2" {}
                }
            }
            @for (row, name) in fabric.rows.iter().enumerate() {
                @let (top, high) = y(row);
                text.tick x="0" y=(format!("{:.1}", top + high / 2.0 + 4.0)) { (name) }
            }
        }
    })
}
