//! A run in steps, between which flows are added.

use std::collections::BTreeMap;
use std::sync::Arc;

use floodway_engine::{Layout, Limits, Steps, Stop};
use floodway_model::flow::numbered;
use floodway_model::{FlowId, FlowSpec, Instant, NodeId, Progressions};

use super::{Finished, Measurement, Nodes, Share, finish, share_out};
use crate::Spec;
use crate::host::{Host, KernelHost, Shared};
use crate::kernel::Order;
use crate::metric::Metrics;
use crate::session::reading::Waits;
use crate::simulation::Rest;
use crate::switch::{self, Switch};

/// A run that stands between two windows.
pub(crate) struct Live {
    steps: Steps<Share>,
    /// By node: the share of a host, and its place among the hosts there and the kernels after them.
    hosts: Vec<(usize, usize)>,
    /// What hosts share while what they do share is changed.
    meanwhile: Arc<Shared>,
}

impl Live {
    /// A run before its first window. The layout has one block for each share.
    pub fn new(nodes: Nodes, layout: &Layout, measurement: &Measurement<'_>) -> Self {
        let first = nodes.hosts.first().or(nodes.kernels.first().map(KernelHost::host));
        let Some(meanwhile) = first.map(|host| Arc::new(host.shared().without_flows())) else {
            unreachable!("a network has hosts")
        };
        let mut shares = share_out(nodes, layout, 0..layout.parts(), measurement);
        let mut hosts = vec![(0, 0); layout.nodes()];
        for (number, share) in shares.iter_mut().enumerate() {
            let all = share.blocks.iter().flat_map(|nodes| {
                nodes.hosts.iter().chain(nodes.kernels.iter().map(KernelHost::host))
            });
            for (place, host) in all.enumerate() {
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

    /// Adds flows that start at or after [`Self::simulated`].
    pub fn add(&mut self, flows: Vec<FlowSpec>, rest: &mut Rest) {
        let old = rest.spec.flows.len();
        self.edit(rest, |live, alone, spec| {
            let waits = spec.awaited.contains(&true);
            let mut next: BTreeMap<NodeId, (u32, u32)> = BTreeMap::new();
            for flow in &flows {
                let mut place = |node: NodeId, of: fn(&mut (u32, u32)) -> &mut u32| {
                    let next = of(next.entry(node).or_insert_with(|| live.host(node).flows()));
                    *next += 1;
                    *next - 1
                };
                alone
                    .places
                    .push((place(flow.src, |of| &mut of.0), place(flow.dst, |of| &mut of.1)));
                if !alone.followers.is_empty() {
                    alone.followers.push(1);
                }
                if waits {
                    alone.awaited.push(spec.awaits(flow));
                }
            }
            spec.flows.extend(flows);
        });
        let flows = &rest.spec.flows;
        for (id, flow) in numbered(flows).skip(old) {
            let here = self.hosts[flow.dst.index()].0;
            for (number, share) in self.steps.parts_mut().enumerate() {
                share.context.observers().add_flow(id, flow, number == here);
            }
            self.host_mut(flow.src).add_outgoing(id);
            self.host_mut(flow.dst).add_incoming(id);
        }
        let understands = |flow: &FlowSpec| {
            rest.spec.profiles[usize::from(flow.workload)].transport.understands_trimming()
        };
        let understand: Vec<bool> = flows[old..].iter().map(understands).collect();
        self.understand_trimming(old, &understand);
        self.steps.wakes_have_changed();
    }

    /// A long-lived flow makes no new packets from a time on that is not before [`Self::simulated`].
    pub fn stop(&mut self, flow: FlowId, at: Instant, rest: &mut Rest) {
        self.edit(rest, |_, _, spec| spec.flows[flow.index()].stop = at);
        let src = rest.spec.flows[flow.index()].src;
        self.host_mut(src).stop(flow, at);
    }

    /// Asks a kernel for something, at a time that is not before [`Self::simulated`]. A flow that is started is the last
    /// one that was added to its host.
    pub fn order(&mut self, kernel: NodeId, order: Order, at: Instant) {
        self.kernels_mut().filter(|one| one.id() == kernel).for_each(|one| one.order(order, at));
        self.steps.wakes_have_changed();
    }

    /// All switches have other queue management from a time on that is not before [`Self::simulated`].
    pub fn change(&mut self, at: Instant, to: &Arc<switch::Spec>) {
        for switch in self.nodes_mut().flat_map(|nodes| &mut nodes.switches) {
            switch.change_at(at, Arc::clone(to));
        }
        self.steps.wakes_have_changed();
    }

    /// Changes the list of flows, with what hosts share beside it. All have the same list, which is changed in place while
    /// only one has it.
    fn edit(&mut self, rest: &mut Rest, edit: impl FnOnce(&Self, &mut Shared, &mut Spec)) {
        let mut shared = self.take_shared();
        let Some(alone) = Arc::get_mut(&mut shared) else {
            unreachable!("only hosts share it, and they have given it back")
        };
        alone.flows = Progressions::default();
        if let Some(network) = &rest.audited {
            network.set_flows(Progressions::default());
        }
        edit(self, alone, &mut rest.spec);
        alone.flows = rest.spec.flows.clone();
        if let Some(network) = &rest.audited {
            network.set_flows(rest.spec.flows.clone());
        }
        self.give_shared(&shared);
    }

    /// Takes what hosts share from all of them.
    fn take_shared(&mut self) -> Arc<Shared> {
        let meanwhile = Arc::clone(&self.meanwhile);
        let mut taken = None;
        for host in self.hosts_mut() {
            taken = Some(host.exchange_shared(Arc::clone(&meanwhile)));
        }
        taken.unwrap_or(meanwhile)
    }

    fn give_shared(&mut self, shared: &Arc<Shared>) {
        for host in self.hosts_mut() {
            host.exchange_shared(Arc::clone(shared));
        }
    }

    /// Switches that trim know for each flow whether its transport supports that: of the flows before `old`, of the new
    /// ones, and of as many more of the last kind, so that this is seldom needed.
    fn understand_trimming(&mut self, old: usize, new: &[bool]) {
        let switches = self.nodes_mut().flat_map(|nodes| &mut nodes.switches);
        let mut longer: Option<Arc<[bool]>> = None;
        for trimming in switches.filter_map(|switch| switch.trimming.as_mut()) {
            let known = trimming.understood();
            if known.get(old..old + new.len()) == Some(new) {
                return;
            }
            let longer = longer.get_or_insert_with(|| {
                let last = new.last().copied().unwrap_or(false);
                let more = std::iter::repeat_n(last, old + new.len());
                known[..old].iter().chain(new).copied().chain(more).collect()
            });
            trimming.understand(Arc::clone(longer));
        }
    }

    /// The payload bytes of a flow that have arrived at its destination.
    pub fn delivered(&self, flow: FlowId, dst: NodeId) -> u64 {
        self.host(dst).delivered(flow)
    }

    /// A switch; `None` if the node is not one.
    pub fn switch(&self, node: NodeId) -> Option<&Switch> {
        let mut switches = self.nodes().flat_map(|nodes| &nodes.switches);
        switches.find(|switch| switch.id() == node)
    }

    /// Sojourn times in a queue of a switch, if they are observed.
    pub fn waits(&self, node: NodeId, port: usize, queue: usize) -> Waits {
        let observed = self.steps.parts().filter_map(|share| share.context.departures());
        let mut found = observed.filter_map(|departures| departures.waits(node, port, queue));
        found.next().unwrap_or_default()
    }

    /// The nodes of each share, which is one block.
    fn nodes(&self) -> impl Iterator<Item = &Nodes> {
        self.steps.parts().flat_map(|share| &share.blocks)
    }

    fn nodes_mut(&mut self) -> impl Iterator<Item = &mut Nodes> {
        self.steps.parts_mut().flat_map(|share| &mut share.blocks)
    }

    fn host(&self, node: NodeId) -> &Host {
        let (share, place) = self.hosts[node.index()];
        let Some(Nodes { hosts, kernels, .. }) = self.nodes().nth(share) else {
            unreachable!("it was there")
        };
        hosts.get(place).unwrap_or_else(|| kernels[place - hosts.len()].host())
    }

    fn host_mut(&mut self, node: NodeId) -> &mut Host {
        let (share, place) = self.hosts[node.index()];
        let Some(Nodes { hosts, kernels, .. }) = self.nodes_mut().nth(share) else {
            unreachable!("it was there")
        };
        match place.checked_sub(hosts.len()) {
            None => &mut hosts[place],
            Some(place) => kernels[place].host_mut(),
        }
    }

    /// Hosts that are kernels.
    pub fn kernels_mut(&mut self) -> impl Iterator<Item = &mut KernelHost> {
        self.nodes_mut().flat_map(|nodes| &mut nodes.kernels)
    }

    fn hosts_mut(&mut self) -> impl Iterator<Item = &mut Host> {
        self.nodes_mut().flat_map(Nodes::hosts_mut)
    }

    /// The state at the end, as [`run`](super::run) gives it.
    pub fn finish(self, (stop, now): (Stop, Instant), metrics: &Metrics) -> Finished {
        finish((self.steps.finish(), stop, now), metrics)
    }
}
