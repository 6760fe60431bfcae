//! A run in steps, between which flows are added.

use std::collections::BTreeMap;
use std::sync::Arc;

use floodway_engine::{Layout, Limits, Steps, Stop};
use floodway_model::flow::numbered;
use floodway_model::{FlowId, FlowSpec, Instant, NodeId, Progressions};

use super::{Finished, Measurement, Nodes, Share, finish, share_out};
use crate::host::{Host, Shared};
use crate::metric::Metrics;
use crate::simulation::Rest;

/// A run that stands between two windows.
pub(crate) struct Live {
    steps: Steps<Share>,
    /// By node: the share of a host, and its place among the hosts there.
    hosts: Vec<(usize, usize)>,
    /// What hosts share while what they do share is changed.
    meanwhile: Arc<Shared>,
}

impl Live {
    /// A run before its first window.
    pub fn new(nodes: Nodes, layout: &Layout, measurement: &Measurement<'_>) -> Self {
        let first = nodes.hosts.first();
        let Some(meanwhile) = first.map(|host| Arc::new(host.shared().without_flows())) else {
            unreachable!("a network has hosts")
        };
        let mut shares = share_out(nodes, layout, 0..layout.parts(), measurement);
        let mut hosts = vec![(0, 0); layout.nodes()];
        for (number, share) in shares.iter_mut().enumerate() {
            for (place, host) in share.nodes.hosts.iter().enumerate() {
                hosts[host.id().index()] = (number, place);
            }
            // From now on it is known which have completed.
            share.context.take_completed(&mut Vec::new());
        }
        Self { steps: Steps::new(shares, layout), hosts, meanwhile }
    }

    /// End of the last window that was run.
    pub fn simulated(&self) -> Instant {
        self.steps.simulated()
    }

    /// The end of the window that contains this time.
    pub fn window_end(&self, at: Instant) -> Instant {
        self.steps.window_end(at)
    }

    /// Runs windows until the limits are reached, and adds the flows that have completed meanwhile, in no order.
    pub fn advance(
        &mut self,
        limits: &Limits<'_>,
        completed: &mut Vec<(FlowId, Instant)>,
    ) -> (Stop, Instant) {
        self.steps.parts_mut().for_each(|share| share.horizon = limits.end);
        let ended = self.steps.advance(limits);
        self.steps.parts_mut().for_each(|share| share.context.take_completed(completed));
        ended
    }

    /// Number of flows that have ended.
    pub fn flows_done(&self) -> u64 {
        self.steps.parts().map(|share| share.context.metrics.flows_done()).sum()
    }

    /// The measured interval ends when so many awaited flows have ended.
    pub fn set_awaited(&mut self, awaited: u64) {
        self.steps.parts_mut().for_each(|share| share.awaited = awaited);
    }

    /// Adds flows, all of one workload, that start at or after [`Self::simulated`]; `understands`: whether the transport of
    /// the workload supports trimmed packets.
    pub fn add(&mut self, flows: Vec<FlowSpec>, understands: bool, rest: &mut Rest) {
        let mut shared = self.take_shared();
        let Some(alone) = Arc::get_mut(&mut shared) else {
            unreachable!("only hosts share it, and they have given it back")
        };
        let old = rest.spec.flows.len();
        // All have the same list, which grows in place while only one has it.
        alone.flows = Progressions::default();
        if let Some(network) = &rest.audited {
            network.set_flows(Progressions::default());
        }
        let waits = rest.spec.awaited.contains(&true);
        let mut next: BTreeMap<NodeId, (u32, u32)> = BTreeMap::new();
        for flow in &flows {
            let mut place = |node: NodeId, of: fn(&mut (u32, u32)) -> &mut u32| {
                let next = of(next.entry(node).or_insert_with(|| self.host(node).flows()));
                *next += 1;
                *next - 1
            };
            alone.places.push((place(flow.src, |of| &mut of.0), place(flow.dst, |of| &mut of.1)));
            if !alone.followers.is_empty() {
                alone.followers.push(1);
            }
            if waits {
                let waits = rest.spec.awaited[usize::from(flow.workload)];
                alone.awaited.push(waits && flow.start.0 >= rest.spec.warmup.0);
            }
            self.steps
                .parts_mut()
                .for_each(|share| share.context.observers().add_flow(flow.workload));
        }
        rest.spec.flows.extend(flows);
        alone.flows = rest.spec.flows.clone();
        if let Some(network) = &rest.audited {
            network.set_flows(rest.spec.flows.clone());
        }
        self.give_shared(&shared);
        for (id, flow) in numbered(&rest.spec.flows).skip(old) {
            self.host_mut(flow.src).add_outgoing(id);
            self.host_mut(flow.dst).add_incoming(id);
        }
        self.understand_trimming(rest.spec.flows.len(), understands);
        self.steps.wakes_have_changed();
    }

    /// Takes what hosts share from all of them.
    fn take_shared(&mut self) -> Arc<Shared> {
        let mut taken = None;
        for host in self.steps.parts_mut().flat_map(|share| &mut share.nodes.hosts) {
            taken = Some(host.exchange_shared(Arc::clone(&self.meanwhile)));
        }
        taken.unwrap_or_else(|| Arc::clone(&self.meanwhile))
    }

    fn give_shared(&mut self, shared: &Arc<Shared>) {
        for host in self.steps.parts_mut().flat_map(|share| &mut share.nodes.hosts) {
            host.exchange_shared(Arc::clone(shared));
        }
    }

    /// Switches that trim know of so many flows, and of as many more of the same kind, so that this is seldom needed.
    fn understand_trimming(&mut self, flows: usize, understands: bool) {
        let switches = self.steps.parts_mut().flat_map(|share| &mut share.nodes.switches);
        let mut longer: Option<Arc<[bool]>> = None;
        for trimming in switches.filter_map(|switch| switch.trimming.as_mut()) {
            if trimming.understood().len() >= flows {
                return;
            }
            let longer = longer.get_or_insert_with(|| {
                let more = std::iter::repeat_n(understands, 2 * flows);
                let known = trimming.understood().iter().copied();
                known.chain(more).take(2 * flows).collect()
            });
            trimming.understand(Arc::clone(longer));
        }
    }

    fn host(&self, node: NodeId) -> &Host {
        let (share, place) = self.hosts[node.index()];
        let Some(share) = self.steps.parts().nth(share) else { unreachable!("it was there") };
        &share.nodes.hosts[place]
    }

    fn host_mut(&mut self, node: NodeId) -> &mut Host {
        let (share, place) = self.hosts[node.index()];
        let Some(share) = self.steps.parts_mut().nth(share) else { unreachable!("it was there") };
        &mut share.nodes.hosts[place]
    }

    /// The state at the end, as [`run`](super::run) gives it.
    pub fn finish(self, (stop, now): (Stop, Instant), metrics: &Metrics) -> Finished {
        finish((self.steps.finish(), stop, now), metrics)
    }
}
