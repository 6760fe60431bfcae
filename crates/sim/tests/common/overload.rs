//! Two hosts that send datagrams at line rate to a third, so that its queue grows by one frame in the time
//! of a frame.

use super::{flow, plain, star};
use floodway_model::{Duration, FlowSpec};
use floodway_sim::Spec;
use floodway_sim::host::congestion;
use floodway_sim::host::transport::{self, udp};
use floodway_sim::switch::classify::ecn::{self, Scalable};
use floodway_sim::switch::{aqm, classify, scheduler};

/// A full datagram in bytes as queues count it, and its time on a wire of 100 Gb/s in microseconds.
pub const FRAME: u64 = 1_518;
pub const T: f64 = 0.123_04;

pub fn us(us: u64) -> Duration {
    Duration::from_us(us)
}

/// Datagrams with this ECN field at line rate.
pub fn datagrams(spec: &mut Spec, workload: usize, field: udp::Field) {
    let udp = udp::Spec { ecn: field, ..Default::default() };
    spec.profiles[workload].transport = transport::Spec::Udp(udp);
    spec.profiles[workload].congestion = congestion::Spec::LineRate(Default::default());
}

/// Hosts 0 and 1 send ECN-capable datagrams to host 2 for ever. In n frame times 2n arrive and n leave; the
/// two of pair n find about n in the queue, and the n-th that leaves has waited n/2 frame times.
pub fn overload(aqm: aqm::Spec, end: Duration) -> Spec {
    let flows = [0, 1].map(|src| flow(src, 2, FlowSpec::PERSISTENT, 0));
    let mut spec = plain(star(3), flows.to_vec());
    datagrams(&mut spec, 0, udp::Field::Ect0);
    (spec.end, spec.switch.aqm) = (end, aqm);
    spec
}

/// Two queues with strict priority, the first for the low latency service.
pub fn two_queues(spec: &mut Spec, low_latency: Scalable) {
    spec.switch.queue.count = 2;
    spec.switch.classify = classify::Spec::Ecn(ecn::Spec { low_latency });
    spec.switch.scheduler = scheduler::Spec::Strict(Default::default());
}
