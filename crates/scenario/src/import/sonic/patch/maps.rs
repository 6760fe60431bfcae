//! The maps of DSCPs.

use std::collections::BTreeMap;

use floodway_model::marking::DSCPS;
use floodway_model::{Dscp, Ecn, NodeId};
use floodway_sim::switch::{self, classify};

use super::writer::Writer;
use crate::text::Problem;

/// The class of a DSCP; none if it is not the DSCP that decides.
pub fn class(spec: &switch::Spec, dscp: u8) -> Option<usize> {
    let classify::Spec::Dscp(_) = &spec.classify else { return None };
    // Neither the ECN field nor the destination has a part in it.
    let queue = spec.classify.queue(Dscp(dscp), Ecn::NotEct, NodeId(0), spec.queue.count);
    Some(usize::from(queue))
}

impl Writer<'_> {
    /// The traffic class of each DSCP that has another queue.
    pub fn maps(&mut self) -> Result<(), Problem> {
        let switch = self.switch;
        // By map and DSCP: ports may have one map of DSCPs and several of queues.
        let mut written: BTreeMap<(&str, u8), u8> = BTreeMap::new();
        for dscp in 0..DSCPS {
            let [old, new] = [self.old, self.new].map(|spec| class(spec, dscp));
            let Some(new) = new.filter(|_| old.is_some() && old != new) else { continue };
            let Some(&queue) = self.plan.order.get(new) else { continue };
            for port in &switch.ports {
                let Some(own) = &port.dscps else { continue };
                let Some(map) = switch.map(&port.name, "dscp_to_tc_map")? else { continue };
                let field = dscp.to_string();
                let now = own.queues[usize::from(dscp)];
                let classes = switch.classes_of(&port.name, queue)?;
                let Some(&lowest) = classes.first() else {
                    return Err(map.problem(
                        &field,
                        format!(
                            "DSCP {dscp} would be in queue {queue}, and no traffic class of {} leads there",
                            port.name
                        ),
                        "add a class for it to `TC_TO_QUEUE_MAP`, and import again",
                    ));
                };
                let class = match now == queue {
                    true => own.classes[usize::from(dscp)],
                    false => lowest,
                };
                if written.insert((&map.key, dscp), class).is_some_and(|other| other != class) {
                    return Err(map.problem(
                        &field,
                        format!(
                            "ports with `DSCP_TO_TC_MAP|{}` have different maps of queues, and DSCP {dscp} would need \
                             several traffic classes",
                            map.key
                        ),
                        "give ports with one `TC_TO_QUEUE_MAP` a `DSCP_TO_TC_MAP` of their own, and import again",
                    ));
                }
                if now != queue {
                    self.set(map, &field, class);
                }
            }
        }
        Ok(())
    }
}
