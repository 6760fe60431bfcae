//! Benchmark of the engine without a network model: `cargo bench -p floodway-engine`. The nodes only
//! forward frames, as many per window as a switch does, so this measures the cost of sending, sorting
//! and dispatch.

use std::sync::atomic::AtomicBool;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use floodway_engine::{Layout, Limits, Node, Part, Window, Windows, Wire, run};
use floodway_model::{Body, Class, Duration, Echo, FlowId, Instant, NodeId, Packet, PortIx, Tos};

fn main() {
    divan::main();
}

/// Frames in flight to each node.
const FRAMES: u16 = 16;

/// Propagation delay of a link.
const DELAY: Duration = Duration(200_000);

/// Forwards every arriving frame to the node `ahead` positions further on.
struct Forwarder {
    id: NodeId,
    ahead: NodeId,
    begun: bool,
}

struct Forwarders {
    nodes: Vec<Forwarder>,
    wire: Wire<Packet>,
}

fn send(wire: &mut Wire<Packet>, to: NodeId, at: Instant, packet: &Packet) {
    wire.send(to, at, packet, |packet| packet.class = Class(1));
}

impl Node<Wire<Packet>> for Forwarder {
    type Frame = Packet;

    fn arrive(&mut self, packet: &mut Packet, now: Instant, wire: &mut Wire<Packet>) {
        send(wire, self.ahead, now + DELAY, packet);
    }

    fn next_wake(&self) -> Instant {
        if self.begun { Instant::NEVER } else { Instant::ZERO }
    }

    fn wake(&mut self, now: Instant, wire: &mut Wire<Packet>) {
        self.begun = true;
        for port in 0..FRAMES {
            let packet = Packet {
                flow: FlowId(self.id.0),
                connection: 0,
                src: self.id,
                dst: self.ahead,
                bytes: 1_086,
                ingress: PortIx(port),
                class: Class(0),
                physical_queue: 0,
                tos: Tos::default(),
                indicated: false,
                body: Body::Data { echo: Echo::default(), psn: 0, sent_at: now },
            };
            let at = now + DELAY + Duration(u64::from(port) * 7_001 % DELAY.0);
            send(wire, self.ahead, at, &packet);
        }
    }
}

impl Part for Forwarders {
    type Frame = Packet;
    type Attached = ();

    fn nodes(&self) -> Vec<NodeId> {
        self.nodes.iter().map(|node| node.id).collect()
    }

    fn wakes(&self) -> Vec<Vec<Instant>> {
        vec![self.nodes.iter().map(Node::next_wake).collect()]
    }

    fn wire(&mut self) -> &mut Wire<Packet> {
        &mut self.wire
    }

    fn run(&mut self, _: usize, window: &mut Window<'_, Packet>) {
        window.run(&mut self.nodes, &mut self.wire);
    }
}

/// Sends 16 frames to each of `nodes` nodes per window, and reads them in order on arrival.
#[divan::bench(args = [24, 1_152])]
fn forward(bencher: Bencher, nodes: u32) {
    const WINDOWS: u64 = 64;
    let windows = Windows::new(DELAY, usize::from(FRAMES));
    let ports = vec![usize::from(FRAMES); nodes as usize];
    let groups: Vec<Vec<NodeId>> = (0..nodes).map(|node| vec![NodeId(node)]).collect();
    let work = vec![u64::from(FRAMES); nodes as usize];
    let layout = Layout::new(&ports, &work, &groups, windows, DELAY * 2, (1, 1));
    let stop = AtomicBool::new(false);
    let limits = Limits {
        end: Instant(WINDOWS * DELAY.0),
        flows: 0,
        until_acknowledged: false,
        stop: &stop,
        watch: &|_| {},
    };
    let make = || {
        let node = |id| Forwarder { id: NodeId(id), ahead: NodeId((id + 7) % nodes), begun: false };
        vec![Forwarders { nodes: (0..nodes).map(node).collect(), wire: layout.wire(0) }]
    };
    let frames = u64::from(nodes) * u64::from(FRAMES) * (WINDOWS - 1);
    bencher.counter(ItemsCount::new(frames)).with_inputs(make).bench_local_values(|parts| {
        black_box(run(parts, &layout, &limits));
    });
}
