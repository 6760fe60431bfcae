//! From frames of the simulation to octets.

use floodway_model::{Body, FlowId, NodeId, Packet, PortIx};
use floodway_sim::Spec;
use floodway_sim::host::transport::{self, Transport};
use floodway_sim::telemetry::{HOPS, Hop, Kind, Record};
use floodway_wire::ethernet::{FCS, Header, ethertype, fcs, frame};
use floodway_wire::experimental::{self, Experimental};
use floodway_wire::ip::Ip;
use floodway_wire::mac_control::{self, MacControl, Pfc};
use floodway_wire::roce::{self, Aeth, Bth, opcode, syndrome};
use floodway_wire::sfc::Sfc;
use floodway_wire::{cim, cnm, telemetry};

use super::addresses::{self, Addresses};
use super::tcp;

/// UDP port of Ultra Ethernet.
const UET_PORT: u16 = 4793;

/// Time to live of all datagrams: the network is a bridged one.
const TTL: u8 = 64;
/// The default partition of InfiniBand.
const PARTITION: u16 = 0xffff;
/// The most payload of a datagram with all headers of RoCEv2; that of real MTUs is far below.
const MOST_PAYLOAD: u64 = 65_400;
/// Priority of congestion notification messages (IEEE 802.1Q clause 32).
const CNM_PRIORITY: u8 = 6;

/// Writes the frames of a simulation.
pub struct Emitter<'a> {
    /// The simulation.
    pub spec: &'a Spec,
    /// Addresses of its nodes.
    pub addresses: Addresses,
    /// Of flows that go on with connections, what is before them.
    before: tcp::Before,
}

/// A frame in octets, from its destination address to its FCS.
pub struct Emitted {
    /// The octets.
    pub octets: Vec<u8>,
    /// What they do not say.
    pub comment: String,
}

impl Emitted {
    /// A frame of a kernel, in the octets that it has sent, with the ECN field that it has now, padding and FCS.
    pub fn of_kernel(octets: &[u8], packet: &Packet) -> Self {
        let mut octets = octets.to_vec();
        if packet.ecn() == floodway_model::Ecn::Ce {
            floodway_wire::ip::mark(&mut octets);
        }
        octets.resize(octets.len().max(usize::from(packet.bytes).saturating_sub(FCS)), 0);
        octets.extend(fcs(&octets));
        Self { octets, comment: String::new() }
    }
}

impl<'a> Emitter<'a> {
    /// For a simulation.
    pub fn new(spec: &'a Spec) -> Self {
        Self { spec, addresses: Addresses::of(&spec.graph), before: tcp::before(spec) }
    }

    /// A frame that this port sends to the node at the other end.
    pub fn frame(
        &self,
        (node, port): (NodeId, PortIx),
        packet: &Packet,
        telemetry: Option<&Record>,
    ) -> Emitted {
        let mut comment = String::new();
        let octets = match packet.body {
            Body::Pfc { .. } | Body::Pause { .. } | Body::Drc { .. } => {
                mac_control(&packet.body).frame(self.addresses.port(node, port))
            }
            Body::Cim => {
                let peer = self.spec.graph.node(node).ports[port.index()];
                let to = self.addresses.port(peer.peer, peer.peer_port);
                self.cim(packet.flow).frame(to, self.addresses.port(node, port))
            }
            Body::Bfc { .. } | Body::LinkCredit { .. } => {
                let peer = self.spec.graph.node(node).ports[port.index()];
                let to = self.addresses.port(peer.peer, peer.peer_port);
                experimental(&packet.body).frame(to, self.addresses.port(node, port), 0)
            }
            Body::Indication { severity } => {
                let message = experimental::Indication { severity, flow: packet.flow.0 };
                let [source, destination] =
                    [packet.src, packet.dst].map(|node| self.addresses.mac(node));
                Experimental::Indication(message).frame(destination, source, 0)
            }
            Body::Cnm { feedback, offset, delta } => self.cnm(packet, feedback, (offset, delta)),
            _ => self.end_to_end(packet, telemetry, &mut comment),
        };
        if packet.indicated {
            note(&mut comment, "layer 2 congestion indication");
        }
        if octets.len() != usize::from(packet.bytes) {
            note(&mut comment, &format!("{} octets in the simulation", packet.bytes));
        }
        Emitted { octets, comment }
    }

    /// A frame from host to host, or from a switch to a host.
    fn end_to_end(
        &self,
        packet: &Packet,
        telemetry: Option<&Record>,
        comment: &mut String,
    ) -> Vec<u8> {
        let [source, destination] = [packet.src, packet.dst].map(|node| self.addresses.mac(node));
        let flow = &self.spec.flows[packet.flow.index()];
        let profile = &self.spec.profiles[usize::from(flow.workload)];
        let ip = self.ip(packet);
        let room = usize::from(packet.bytes).saturating_sub(Header::LEN + FCS);
        let datagram = match (&profile.transport, packet.body) {
            (_, Body::Sfc { towards, pause_ns, class }) => {
                self.sfc(packet, towards, class.0, pause_ns).datagram(&ip)
            }
            (transport::Spec::Ethernet(_), Body::Data { psn, .. }) => {
                let data = Experimental::Data(experimental::Data { flow: packet.flow.0, psn });
                return data.frame(destination, source, packet.bytes.into());
            }
            (transport::Spec::Udp(udp), Body::Data { psn, .. }) => {
                let sent = u64::from(psn).saturating_mul(udp.payload.0);
                let payload = flow.bytes.saturating_sub(sent).min(udp.payload.0) as usize;
                let ports = ports(packet.flow);
                ip.udp(ports, &vec![0; payload])
            }
            (transport::Spec::Tcp(spec), _) => {
                tcp::datagram((self.spec, spec, &self.before), packet, &ip, room, comment)
            }
            (transport::Spec::Rocev2(spec), _) => {
                let (bth, rest) = roce_packet((spec, flow), packet, telemetry, room, comment);
                let source_port = addresses::source_port(packet.flow);
                roce::Packet { bth, rest }.datagram(&ip, source_port)
            }
            (transport::Spec::Uet(_), body) => {
                // The layout of the headers is not public: only that of UDP is written, whose source port
                // is the entropy.
                note(comment, &format!("Ultra Ethernet, without its headers: {body:?}"));
                let payload = vec![0; room.saturating_sub(20 + 8)];
                ip.udp((packet.entropy() | 0xc000, UET_PORT), &payload)
            }
            // A transport without feedback has no other frames.
            (transport::Spec::Ethernet(_) | transport::Spec::Udp(_), _) => {
                note(comment, "a frame that its transport does not have");
                ip.udp(ports(packet.flow), &[])
            }
        };
        let header = Header { destination, source, ethertype: ethertype::IPV4 };
        frame(header, &[], &datagram, packet.bytes.into())
    }

    fn ip(&self, packet: &Packet) -> Ip {
        Ip {
            source: self.addresses.ip(packet.src),
            destination: self.addresses.ip(packet.dst),
            dscp: packet.dscp().0,
            ecn: packet.ecn() as u8,
            ttl: TTL,
        }
    }

    fn sfc(&self, packet: &Packet, towards: NodeId, class: u8, pause_ns: u32) -> Sfc {
        let flow = &self.spec.flows[packet.flow.index()];
        let profile = &self.spec.profiles[usize::from(flow.workload)];
        let (source_port, destination_port) = ports(packet.flow);
        let (protocol, destination_port) = match profile.transport {
            transport::Spec::Tcp(_) => (6, destination_port),
            transport::Spec::Rocev2(_) => (17, roce::PORT),
            transport::Spec::Uet(_) => (17, UET_PORT),
            transport::Spec::Udp(_) | transport::Spec::Ethernet(_) => (17, destination_port),
        };
        Sfc {
            dscp: 0,
            protocol,
            class: class & 7,
            source: self.addresses.ip(packet.dst),
            destination: self.addresses.ip(towards),
            source_port,
            destination_port,
            pause_ns,
        }
    }

    /// The beginning of a data packet of a flow after its EtherType, with sequence number 0: of the packet that a
    /// message is about, the simulation keeps the flow alone.
    fn msdu(&self, flow: FlowId, octets: usize) -> Vec<u8> {
        let spec = &self.spec.flows[flow.index()];
        let body = Body::Data { echo: Default::default(), psn: 0, sent_at: Default::default() };
        let packet = Packet {
            flow,
            connection: 0,
            src: spec.src,
            dst: spec.dst,
            bytes: 0,
            ingress: PortIx(0),
            class: floodway_model::Class(0),
            physical_queue: 0,
            tos: Default::default(),
            indicated: false,
            body,
        };
        let profile = &self.spec.profiles[usize::from(spec.workload)];
        let body = match profile.transport {
            transport::Spec::Tcp(_) => {
                Body::Segment { flags: Default::default(), psn: 0, sent_at: Default::default() }
            }
            _ => body,
        };
        let frame = self.end_to_end(&Packet { body, ..packet }, None, &mut String::new());
        let mut msdu = frame[Header::LEN..frame.len() - FCS].to_vec();
        msdu.resize(octets, 0);
        msdu
    }

    fn cim(&self, flow: FlowId) -> cim::Cim {
        let spec = &self.spec.flows[flow.index()];
        let pdu = cim::Pdu {
            destination: self.addresses.mac(spec.dst),
            source: self.addresses.mac(spec.src),
            vlan: 0,
            octets: cim::USUAL_OCTETS as u16,
        };
        cim::Cim { pdu, msdu: self.msdu(flow, cim::USUAL_OCTETS) }
    }

    fn cnm(&self, packet: &Packet, feedback: u8, (offset, delta): (i16, i16)) -> Vec<u8> {
        let flow = &self.spec.flows[packet.flow.index()];
        let copied = self.spec.switch.flow_control.qcn.as_ref();
        let copied = copied.map_or(0, |qcn| qcn.header_octets).min(cnm::MOST_OCTETS as u8);
        let source = self.addresses.mac(packet.src);
        let [a, b, c, d, e, f] = source.0;
        let sampled = match copied {
            0 => Vec::new(),
            // They begin with the EtherType.
            octets => {
                let all = self.msdu(packet.flow, usize::from(octets));
                [ethertype::IPV4.to_be_bytes().as_slice(), &all].concat()[..octets.into()].to_vec()
            }
        };
        cnm::Cnm {
            destination: self.addresses.mac(packet.dst),
            source,
            priority: CNM_PRIORITY,
            flow: packet.flow.0 as u16,
            pdu: cnm::Pdu {
                feedback: feedback & 63,
                cpid: u64::from_be_bytes([a, b, c, d, e, f, 0, 0]),
                offset,
                delta,
                priority: 0,
                destination: self.addresses.mac(flow.dst),
                octets: sampled.len() as u16,
            },
            sampled,
        }
        .frame()
    }
}

/// Source and destination port of a flow.
fn ports(flow: FlowId) -> (u16, u16) {
    (addresses::source_port(flow), addresses::destination_port(flow))
}

/// Adds to a comment.
pub fn note(comment: &mut String, text: &str) {
    if !comment.is_empty() {
        comment.push_str("; ");
    }
    comment.push_str(text);
}

fn mac_control(body: &Body) -> MacControl {
    match *body {
        Body::Pfc { classes, quanta, resumed } => {
            let time = |n: usize| if classes >> n & 1 == 1 { quanta } else { 0 };
            let quanta = std::array::from_fn(time);
            MacControl::Pfc(Pfc { enabled: classes | resumed, quanta })
        }
        Body::Pause { quanta } => MacControl::Pause(mac_control::Pause { quanta }),
        Body::Drc { group, mask, statuses } => {
            MacControl::Drc(mac_control::Drc { group, mask, statuses })
        }
        _ => unreachable!("{body:?} is no MAC control frame"),
    }
}

fn experimental(body: &Body) -> Experimental {
    match *body {
        Body::Bfc { class, physical_queue, stop } => {
            Experimental::Backpressure(experimental::Backpressure { class, physical_queue, stop })
        }
        Body::LinkCredit { class, limit } => {
            Experimental::Credit(experimental::Credit { class, limit })
        }
        _ => unreachable!("{body:?} has a format of another kind"),
    }
}

/// The BTH of a packet of RoCEv2 and what follows it.
fn roce_packet(
    (spec, flow): (&transport::rocev2::Spec, &floodway_model::FlowSpec),
    packet: &Packet,
    record: Option<&Record>,
    room: usize,
    comment: &mut String,
) -> (Bth, Vec<u8>) {
    const MASK: u32 = 0xff_ffff;
    let packets = spec.packets(flow);
    let mut bth = Bth {
        opcode: opcode::ACKNOWLEDGE,
        solicited: false,
        migrated: false,
        pad: 0,
        partition: PARTITION,
        fecn: false,
        becn: false,
        queue_pair: addresses::queue_pair(packet.flow),
        ack_request: false,
        psn: 0,
    };
    let telemetry = match spec.telemetry() {
        Some(Kind::Hops) => telemetry_of(record).to_vec(),
        // No TPID is assigned to the tag: its octets are padding behind the datagram.
        Some(Kind::Tag(_)) => {
            note_tag(record, comment);
            Vec::new()
        }
        None => Vec::new(),
    };
    let aeth = |syndrome, messages| Aeth { syndrome, messages }.octets().to_vec();
    let rest = match packet.body {
        Body::Data { psn, .. } | Body::Trimmed { psn, .. } => {
            let is_last = psn + 1 == packets;
            bth.opcode = match (psn == 0, is_last) {
                (true, true) => opcode::SEND_ONLY,
                (true, false) => opcode::SEND_FIRST,
                (false, false) => opcode::SEND_MIDDLE,
                (false, true) => opcode::SEND_LAST,
            };
            (bth.psn, bth.ack_request) = (psn & MASK, is_last || spec.ack_every == 1);
            let before = u64::from(psn) * spec.mtu.0;
            let payload =
                flow.bytes.saturating_sub(before).min(spec.mtu.0).min(MOST_PAYLOAD) as usize;
            let mut rest = telemetry;
            rest.resize(rest.len() + payload, 0);
            if matches!(packet.body, Body::Trimmed { .. }) {
                let headers = 20 + 8 + Bth::LEN + roce::ICRC;
                rest.truncate(room.saturating_sub(headers));
                note(comment, "header of a trimmed packet");
            }
            rest
        }
        Body::Ack { psn, .. } => {
            bth.psn = psn.wrapping_sub(1) & MASK;
            [aeth(syndrome::ACK, u32::from(psn == packets)), telemetry].concat()
        }
        Body::Nak { psn, arrived, .. } => {
            bth.psn = psn & MASK;
            note(comment, &format!("packet {arrived} has arrived"));
            [aeth(syndrome::SEQUENCE_ERROR, 0), telemetry].concat()
        }
        Body::TrimNak { psn, echo, .. } => {
            (bth.opcode, bth.psn) = (opcode::TRIMMED, psn & MASK);
            aeth(echo.marked().into(), 0)
        }
        Body::Credit { number } => {
            bth.opcode = opcode::CREDIT;
            roce::Credit { number }.octets().to_vec()
        }
        Body::Cnp => {
            (bth.opcode, bth.becn) = (opcode::CNP, true);
            vec![0; roce::CNP_RESERVED]
        }
        body => {
            note(comment, &format!("a frame that its transport does not have: {body:?}"));
            Vec::new()
        }
    };
    (bth, rest)
}

/// Adds what the tag of CSIG says to the comment.
fn note_tag(record: Option<&Record>, comment: &mut String) {
    let Some(tag) = record.and_then(Record::tag) else { return };
    let place = tag.place().map(|(node, port)| format!(" at port {} of node {}", port.0, node.0));
    let (value, delay) = (tag.value(), tag.delay());
    note(comment, &format!("CSIG {value}, {delay}{}", place.unwrap_or_default()));
}

fn telemetry_of(record: Option<&Record>) -> [u8; telemetry::LEN] {
    let mut hops = [Hop::default(); HOPS];
    let count = record.map_or(0, |record| record.read(&mut hops)).min(telemetry::HOPS);
    let entry = |hop: &Hop| telemetry::Hop {
        rate: telemetry::rate_code(hop.rate.0),
        time: ((hop.at.0 / 1_000) & 0xff_ffff) as u32,
        sent: ((hop.tx_bytes / 128) & 0xf_ffff) as u32,
        queue: (hop.backlog / 80).min(u16::MAX.into()) as u16,
    };
    let hops: Vec<telemetry::Hop> = hops[..count].iter().map(entry).collect();
    telemetry::octets(&hops)
}
