//! Long-lived flows of kernels in a session: the kernels are asked for them, and each has a flow of the simulation for its
//! frames.

use std::collections::BTreeMap;

use floodway_model::flow::numbered;
use floodway_model::{FlowId, FlowSpec, Instant, NodeId};

use super::{Error, Session};
use crate::Spec;
use crate::host::KernelHost;
use crate::kernel::{LongFlow, Order};

/// What kernels have been asked for.
#[derive(Debug, Default)]
pub(super) struct Ordered {
    /// By kernel: when it can be asked, and how many flows it has been asked for.
    kernels: BTreeMap<NodeId, (Instant, usize)>,
    flows: BTreeMap<FlowId, LongFlow>,
}

impl Ordered {
    /// What the kernels of a simulation send by themselves.
    pub fn of(spec: &Spec) -> Self {
        let mut ordered = Self::default();
        for kernel in &spec.kernels {
            let begins = (Instant(kernel.start.0), kernel.first_flows().len());
            ordered.kernels.insert(kernel.host, begins);
            // The last flows to a destination are those of long-lived flows.
            let mut to: BTreeMap<NodeId, Vec<FlowId>> = BTreeMap::new();
            let own = numbered(&spec.flows).filter(|(_, flow)| flow.src == kernel.host);
            own.for_each(|(id, flow)| to.entry(flow.dst).or_default().push(id));
            for flow in kernel.first_flows().iter().rev() {
                if let Some(id) = to.get_mut(&flow.to).and_then(Vec::pop) {
                    ordered.flows.insert(id, *flow);
                }
            }
        }
        ordered
    }

    /// Whether a host is a kernel.
    pub fn is_kernel(&self, host: NodeId) -> bool {
        self.kernels.contains_key(&host)
    }
}

impl Session {
    /// The long-lived flows that kernels have been asked for, in order of their numbers.
    pub fn flows_of_kernels(&self) -> impl Iterator<Item = FlowId> {
        self.ordered.flows.keys().copied()
    }

    /// Lets kernels report what has gone wrong in them without having ended the run.
    pub fn look(&mut self) {
        self.live.kernels_mut().for_each(KernelHost::look);
    }

    /// Asks a kernel for a long-lived flow.
    pub(super) fn start_in_kernel(
        &mut self,
        (src, dst): (NodeId, NodeId),
        workload: u16,
    ) -> Result<FlowId, Error> {
        if !self.ordered.is_kernel(dst) {
            return Err(Error::Refused {
                cause: "a flow of a Linux kernel goes to a Linux kernel, and its destination is simulated",
                remedy: "choose a host that is a kernel",
            });
        }
        let at = self.effective()?;
        let (begins, asked) = self.ordered.kernels.get_mut(&src).expect("the source is a kernel");
        let Some(source) = LongFlow::source(*asked) else {
            return Err(Error::Refused {
                cause: "this Linux kernel has started as many flows as it has ports for in a run",
                remedy: "start the run again",
            });
        };
        *asked += 1;
        let at = at.max(*begins);
        let long = LongFlow { to: dst, source, port: LongFlow::port(workload) };
        // It begins with its first frame.
        let flow = self.wait(FlowSpec {
            src,
            dst,
            bytes: FlowSpec::PERSISTENT,
            start: Instant::NEVER,
            stop: Instant::NEVER,
            workload,
            in_turn: false,
        });
        self.hand_over();
        self.live.order(src, Order::Start(long), at);
        self.ordered.flows.insert(flow, long);
        Ok(flow)
    }

    /// Asks a kernel to stop a long-lived flow. One that has been stopped is not stopped again.
    pub(super) fn stop_in_kernel(&mut self, flow: FlowId, at: Instant) -> Result<Instant, Error> {
        let Some(long) = self.ordered.flows.get(&flow).copied() else {
            return Err(Error::Refused {
                cause: "this flow stands for connections of programs in a Linux kernel",
                remedy: "choose a long-lived flow",
            });
        };
        let src = self.rest.spec.flows[flow.index()].src;
        self.live.order(src, Order::Stop(long), at);
        self.live.stop(flow, at, &mut self.rest);
        Ok(at)
    }
}
