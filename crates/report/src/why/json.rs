//! Explanations as JSON. Times are in whole picoseconds.

use serde_json::{Map, Value, json};

use super::{Explanation, Flow, Packet, Part, Port};

/// The explanation, with every part of these flows.
pub fn json(of: &Explanation, flows: &[u64]) -> Value {
    let groups = of.groups();
    let groups = groups.iter().map(|((workload, class), group)| {
        let parts =
            group.by_delay.iter().map(|(delay, time)| (delay.name().to_owned(), json!(time)));
        let root = |(port, time): (&Port, &u64)| json!({"port": port.to_string(), "ps": time});
        json!({
            "workload": of.workload(*workload),
            "size_class": of.classes.key(*class),
            "flows": group.flows,
            "fct_ps": group.total,
            "parts": parts.collect::<Map<_, _>>(),
            "roots": group.by_root.iter().map(root).collect::<Vec<_>>(),
        })
    });
    let roots = of.roots();
    let roots = roots.iter().map(|root| {
        json!({
            "port": root.port.to_string(),
            "flow": root.flows.first().map(|(flow, _)| flow),
            "flows": root.flows.iter().map(|(flow, time)| json!({"flow": flow, "paused_ps": time})).collect::<Vec<_>>(),
            "pauses": root.pauses,
            "first_ps": root.first,
            "last_ps": root.last,
            "depth": root.depth,
            "paused_ps": root.total,
            "lost_ps": root.lost,
            "victims": root.victims.len(),
        })
    });
    let flows = flows.iter().filter_map(|flow| Some(one(of, of.flow(*flow)?)));
    json!({
        "groups": groups.collect::<Vec<_>>(),
        "roots": roots.collect::<Vec<_>>(),
        "flows": flows.collect::<Vec<_>>(),
    })
}

fn one(of: &Explanation, flow: &Flow) -> Value {
    let part = |part: &Part| {
        let mut value = json!({
            "from_ps": part.from,
            "to_ps": part.to,
            "kind": part.delay.name(),
            "port": part.port.to_string(),
            "in_window": part.in_window,
        });
        if let Some(cause) = part.cause {
            value["flow"] = json!(cause);
        }
        if let Some(root) = &part.root {
            value["root"] = json!(root.to_string());
        }
        value
    };
    let parts = flow.parts.iter().map(part);
    let losses = flow
        .losses
        .iter()
        .map(|(packet, node, reason)| json!({"packet": packet, "node": node, "reason": reason}));
    let marks = flow
        .marks
        .iter()
        .map(|(port, packets)| json!({"port": port.to_string(), "packets": packets}));
    let cuts = flow.cuts.iter().map(|cut| {
        let mut value = json!({
            "at_ps": cut.at,
            "limit": cut.limit,
            "before": cut.before,
            "after": cut.after,
            "reason": cut.reason,
        });
        if let Some(place) = &cut.place {
            value["place"] = json!(place.to_string());
        }
        value
    });
    let mut value = json!({
        "flow": flow.number,
        "workload": of.workload(flow.workload),
        "src": flow.ends.0,
        "dst": flow.ends.1,
        "bytes": flow.bytes,
        "start_ps": flow.start,
        "fct_ps": flow.fct,
        "slowdown": flow.slowdown,
        "after": flow.after,
        "parts": parts.collect::<Vec<_>>(),
        "losses": losses.collect::<Vec<_>>(),
        "marks": marks.collect::<Vec<_>>(),
        "cuts": cuts.collect::<Vec<_>>(),
    });
    if !flow.packets.is_empty() {
        let packet = |of: &Packet| json!({"packet": of.number, "parts": of.parts.iter().map(part).collect::<Vec<_>>()});
        value["packets"] = flow.packets.iter().map(packet).collect();
    }
    value
}
