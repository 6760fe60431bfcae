//! A ring of nodes that pass on tokens: a program with its own kind of node, without switches, hosts or
//! packets.
//!
//! A token takes the delay of a link, and a node holds it for a fixed time, so the position of every
//! token at any time has a closed form. On any number of threads every node must see the same tokens at
//! the same times.

mod crew;

use std::sync::atomic::AtomicBool;

use floodway_engine::{
    Done, Frame, Layout, Limits, Node, Over, Part, Portable, Ranks, Steps, Stop, Timers, Window,
    Windows, Wire, run, run_governed, run_over,
};
use floodway_model::{Duration, Instant, NodeId, PortIx};

/// Time from sending to arrival.
const DELAY: u64 = 1_000;

/// Time from arrival to sending.
const HOLD: u64 = 300;

#[derive(Clone, Copy, Debug)]
struct Token {
    number: u32,
    ingress: PortIx,
}

impl Frame for Token {
    fn ingress(&self) -> PortIx {
        self.ingress
    }

    fn is_one_hop(&self) -> bool {
        false
    }
}

impl Portable for Token {
    const OCTETS: usize = 6;

    fn write(&self, octets: &mut [u8]) {
        octets[..4].copy_from_slice(&self.number.to_le_bytes());
        octets[4..].copy_from_slice(&self.ingress.0.to_le_bytes());
    }

    fn read(octets: &[u8]) -> Self {
        let (number, ingress) = octets.split_at(4);
        Self {
            number: u32::from_le_bytes(number.try_into().unwrap()),
            ingress: PortIx(u16::from_le_bytes(ingress.try_into().unwrap())),
        }
    }
}

/// Holds any number of tokens, each with its own timer, and records all tokens that it has seen.
struct Relay {
    id: NodeId,
    next: NodeId,
    timers: Timers,
    seen: Vec<(Instant, u32)>,
}

/// Context of a relay: the wire, and a count of frames sent.
struct Reach {
    wire: Wire<Token>,
    sent: u64,
}

impl Node<Reach> for Relay {
    type Frame = Token;

    fn arrive(&mut self, token: &mut Token, now: Instant, _: &mut Reach) {
        self.seen.push((now, token.number));
        self.timers.set(token.number as usize, now + Duration(HOLD));
    }

    fn next_wake(&self) -> Instant {
        self.timers.next()
    }

    fn wake(&mut self, now: Instant, reach: &mut Reach) {
        let slot = self.timers.next_slot();
        self.timers.set(slot, Instant::NEVER);
        let token = Token { number: slot as u32, ingress: PortIx(0) };
        reach
            .wire
            .send(self.next, now + Duration(DELAY), &token, |token| token.ingress = PortIx(1));
        reach.sent += 1;
    }
}

struct Relays {
    /// By block.
    blocks: Vec<Vec<Relay>>,
    reach: Reach,
    /// Start times of the windows.
    windows: Vec<Instant>,
    /// When tokens are counted.
    marks: &'static [u64],
    /// Number of tokens seen, for each mark that has passed.
    counts: Vec<usize>,
}

impl Relays {
    fn nodes(&self) -> impl Iterator<Item = &Relay> {
        self.blocks.iter().flatten()
    }
}

impl Part for Relays {
    type Frame = Token;
    type Attached = ();

    fn nodes(&self) -> Vec<NodeId> {
        self.nodes().map(|node| node.id).collect()
    }

    fn wakes(&self) -> Vec<Vec<Instant>> {
        let block = |block: &Vec<Relay>| block.iter().map(Node::next_wake).collect();
        self.blocks.iter().map(block).collect()
    }

    fn wire(&mut self) -> &mut Wire<Token> {
        &mut self.reach.wire
    }

    fn run(&mut self, block: usize, window: &mut Window<'_, Token>) {
        window.run(&mut self.blocks[block], &mut self.reach);
    }

    /// A token that reaches a relay with an even number is a flow that ends.
    fn done(&self) -> Done {
        let ended =
            self.nodes().filter(|node| node.id.0.is_multiple_of(2)).map(|node| node.seen.len());
        Done { hops: self.reach.sent, flows: ended.sum::<usize>() as u64, awaited: 0 }
    }

    fn observe(&mut self, start: Instant, _: Instant, _: u64) {
        self.windows.push(start);
        while self.next_observation(0) <= start {
            let count = self.nodes().map(|node| node.seen.len()).sum();
            self.counts.push(count);
        }
    }

    fn next_observation(&self, _: u64) -> Instant {
        self.marks.get(self.counts.len()).map_or(Instant::NEVER, |&mark| Instant(mark))
    }
}

/// Runs `relays` relays until `end`, on `threads` threads, with token t starting at relay t at time 7 t;
/// `look` returns the number of working threads.
fn turns(
    relays: u32,
    tokens: u32,
    threads: usize,
    end: u64,
    look: Option<&mut dyn FnMut() -> usize>,
) -> (Vec<Relay>, u64) {
    let layout = layout(relays, (1, threads));
    let parts = parts(&layout, relays, tokens);
    let stop = AtomicBool::new(false);
    let limits = limits(end, &stop);
    let (parts, stop, now) = match look {
        None => run(parts, &layout, &limits),
        Some(look) => run_governed(parts, &layout, &limits, |_| Some(look())),
    };
    assert_eq!((stop, now), (Stop::TimeLimit, Instant(end)));
    results(parts)
}

fn layout(relays: u32, threads: (usize, usize)) -> Layout {
    layout_with(relays, threads, 1)
}

/// A frame takes so many windows.
fn layout_with(relays: u32, threads: (usize, usize), reach: u64) -> Layout {
    let windows = Windows::new(Duration(DELAY / reach), 2);
    let groups: Vec<Vec<NodeId>> = (0..relays).map(|node| vec![NodeId(node)]).collect();
    let ports = vec![2; relays as usize];
    let work = vec![2; relays as usize];
    Layout::new(&ports, &work, &groups, windows, Duration(DELAY), threads)
}

fn limits(end: u64, stop: &AtomicBool) -> Limits<'_> {
    let end = Instant(end);
    Limits { end, flows: 0, until_acknowledged: false, stop, watch: &|_| {} }
}

/// The parts of the layout, at the beginning.
fn parts(layout: &Layout, relays: u32, tokens: u32) -> Vec<Relays> {
    let mut parts: Vec<Relays> = (0..layout.parts())
        .map(|part| Relays {
            blocks: (0..layout.blocks(part)).map(|_| Vec::new()).collect(),
            reach: Reach { wire: layout.wire(part), sent: 0 },
            windows: Vec::new(),
            marks: &[],
            counts: Vec::new(),
        })
        .collect();
    for node in 0..relays {
        let mut timers = Timers::new(tokens as usize);
        if node < tokens {
            timers.set(node as usize, Instant(7 * u64::from(node)));
        }
        let (id, next) = (NodeId(node), NodeId((node + 1) % relays));
        let block = &mut parts[layout.part(id)].blocks[layout.block(id)];
        block.push(Relay { id, next, timers, seen: Vec::new() });
    }
    parts
}

/// The relays in order, and the number of frames sent.
fn results(parts: Vec<Relays>) -> (Vec<Relay>, u64) {
    let begun = parts[0].windows.clone();
    assert!(begun.is_sorted() && parts.iter().all(|part| part.windows == begun));
    let sent = parts.iter().map(|part| part.reach.sent).sum();
    let mut nodes: Vec<Relay> = parts.into_iter().flat_map(|part| part.blocks).flatten().collect();
    nodes.sort_by_key(|node| node.id);
    (nodes, sent)
}

/// Token t leaves relay t at 7 t and reaches relay t + k at 7 t + k DELAY + (k - 1) HOLD.
fn expected(relays: u32, tokens: u32, end: u64) -> Vec<Vec<(Instant, u32)>> {
    let mut seen = vec![Vec::new(); relays as usize];
    for token in 0..tokens {
        let mut at = 7 * u64::from(token) + DELAY;
        let mut node = (token + 1) % relays;
        while at < end {
            seen[node as usize].push((Instant(at), token));
            (at, node) = (at + HOLD + DELAY, (node + 1) % relays);
        }
    }
    seen.iter_mut().for_each(|seen| seen.sort());
    seen
}

#[test]
fn tokens_are_where_division_says_on_any_number_of_threads() {
    let (relays, tokens, end) = (13, 5, 1_000_000);
    let expected = expected(relays, tokens, end);
    // Each token is sent 1 + floor((end - 1 - 7 t) / 1300) times.
    let sends: u64 = (0..5).map(|token| 1 + (end - 1 - 7 * token) / (HOLD + DELAY)).sum();
    for threads in [1, 2, 3, 8, 40] {
        let (nodes, sent) = turns(relays, tokens, threads, end, None);
        assert_eq!(sent, sends, "{threads} threads");
        for (node, expected) in nodes.iter().zip(&expected) {
            assert_eq!(&node.seen, expected, "{} on {threads} threads", node.id.0);
        }
    }
}

#[test]
fn it_does_not_matter_how_many_threads_work_when() {
    let expected = expected(13, 5, 300_000);
    for threads in 2..5 {
        let mut looks = 0;
        let mut look = || {
            looks += 1;
            1 + looks * 7 / 3 % threads
        };
        let (nodes, _) = turns(13, 5, threads, 300_000, Some(&mut look));
        assert!(looks > 20, "{looks}");
        let seen: Vec<_> = nodes.into_iter().map(|node| node.seen).collect();
        assert_eq!(seen, expected, "{threads} threads");
    }
}

#[test]
fn ranks_have_the_same_tokens() {
    let (relays, tokens, end) = (13, 5, 300_000);
    for (ranks, threads) in [(2, 1), (3, 2), (13, 1)] {
        let shares = crew::on(ranks, |member| {
            let layout = layout(relays, (ranks, threads));
            let all = parts(&layout, relays, tokens);
            let nodes: Vec<Vec<NodeId>> = all.iter().map(Part::nodes).collect();
            let others: Vec<usize> = (0..ranks).filter(|&rank| rank != member.rank()).collect();
            let over = Over { ranks: member, nodes: &nodes, neighbors: &others };
            let mine = all.into_iter().skip(member.rank() * threads).take(threads).collect();
            let stop = AtomicBool::new(false);
            let (parts, stop, now) = run_over(mine, &layout, &limits(end, &stop), &over);
            assert_eq!((stop, now), (Stop::TimeLimit, Instant(end)));
            parts
        });
        let (nodes, _) = results(shares.into_iter().flatten().collect());
        let seen: Vec<_> = nodes.into_iter().map(|node| node.seen).collect();
        assert_eq!(seen, expected(relays, tokens, end), "{ranks} ranks of {threads} threads");
    }
}

/// Windows that a frame takes.
const REACHES: [u64; 4] = [1, 2, 5, 8];

/// Each of them with each of these, threads and ports of a block.
fn with_reaches(shapes: &[(usize, usize)]) -> impl Iterator<Item = (u64, (usize, usize))> {
    REACHES.into_iter().flat_map(|reach| shapes.iter().map(move |shape| (reach, *shape)))
}

/// A layout in blocks of at most so many ports, in which a frame takes `reach` windows. Relays with even and odd
/// numbers alternate, so that each is a group with a side of its own.
fn in_blocks(relays: u32, threads: (usize, usize), (most_ports, reach): (usize, u64)) -> Layout {
    let layout = layout_with(relays, threads, reach);
    let groups: Vec<Vec<NodeId>> = (0..relays).map(|node| vec![NodeId(node)]).collect();
    let sides: Vec<u8> = (0..relays).map(|node| (node % 2) as u8).collect();
    layout.in_blocks(&vec![2; relays as usize], &groups, &sides, (most_ports, reach))
}

#[test]
fn blocks_are_of_one_side_and_one_part() {
    // Three parts have relays 0, 3, 6, 9; 1, 4, 7, 10; and 2, 5, 8, 11. Each has two ports.
    for (most_ports, blocks) in [(4, 2), (3, 4)] {
        let layout = in_blocks(12, (1, 3), (most_ports, 1));
        for part in 0..3 {
            assert_eq!(layout.blocks(part), blocks);
            let mine: Vec<NodeId> =
                (0..12).map(NodeId).filter(|&node| layout.part(node) == part).collect();
            let of = |side: u32| mine.iter().filter(move |node| node.0 % 2 == side);
            let found = of(0).chain(of(1)).map(|&node| layout.block(node));
            let expected = if blocks == 2 { [0, 0, 1, 1] } else { [0, 1, 2, 3] };
            assert_eq!(found.collect::<Vec<_>>(), expected);
        }
    }
}

/// With one token most windows are empty, and are skipped.
#[test]
fn blocks_do_not_change_where_tokens_are() {
    let (relays, end) = (12, 200_500);
    let shapes = [(1, 1), (1, 4), (1, 7), (1, 1_000), (2, 2), (2, 6), (3, 4)];
    for tokens in [1, 5, 12] {
        let expected = expected(relays, tokens, end);
        for (reach, (threads, most_ports)) in with_reaches(&shapes) {
            let layout = in_blocks(relays, (1, threads), (most_ports, reach));
            let (parts, stop) = (parts(&layout, relays, tokens), AtomicBool::new(false));
            let (parts, stop, now) = run(parts, &layout, &limits(end, &stop));
            assert_eq!((stop, now), (Stop::TimeLimit, Instant(end)));
            let (nodes, _) = results(parts);
            let seen: Vec<_> = nodes.into_iter().map(|node| node.seen).collect();
            assert_eq!(seen, expected, "{tokens}, {threads} threads, {most_ports} ports, {reach}");
        }
    }
}

#[test]
fn ranks_have_the_same_tokens_in_blocks() {
    let (relays, tokens, end) = (12, 5, 300_000);
    for (ranks, threads, most_ports, reach) in [(2, 1, 4, 1), (3, 2, 2, 1), (2, 2, 4, 8)] {
        let shares = crew::on(ranks, |member| {
            let layout = in_blocks(relays, (ranks, threads), (most_ports, reach));
            let all = parts(&layout, relays, tokens);
            let nodes: Vec<Vec<NodeId>> = all.iter().map(Part::nodes).collect();
            let others: Vec<usize> = (0..ranks).filter(|&rank| rank != member.rank()).collect();
            let over = Over { ranks: member, nodes: &nodes, neighbors: &others };
            let mine = all.into_iter().skip(member.rank() * threads).take(threads).collect();
            let stop = AtomicBool::new(false);
            run_over(mine, &layout, &limits(end, &stop), &over).0
        });
        let (nodes, _) = results(shares.into_iter().flatten().collect());
        let seen: Vec<_> = nodes.into_iter().map(|node| node.seen).collect();
        assert_eq!(seen, expected(relays, tokens, end), "{ranks} ranks of {threads} threads");
    }
}

/// Where tokens are counted all relays have run the same windows, whichever side is ahead before.
#[test]
fn all_nodes_are_observed_at_the_same_time() {
    // Window 0; 1; in 2, so before 3; before 4; two in a row; far apart.
    const MARKS: [u64; 8] = [0, 1_000, 2_001, 4_000, 31_000, 32_000, 100_000, 149_999];
    let (relays, end) = (12, 200_000);
    for tokens in [1, 7] {
        let arrivals: Vec<Instant> =
            expected(relays, tokens, end).into_iter().flatten().map(|(at, _)| at).collect();
        let before = |mark: u64, window: u64| {
            let start = Instant(mark.next_multiple_of(window));
            arrivals.iter().filter(|at| **at < start).count()
        };
        let shapes = [(1, 4), (2, 2), (3, 1_000)];
        for (reach, (threads, most_ports)) in with_reaches(&shapes) {
            let layout = in_blocks(relays, (1, threads), (most_ports, reach));
            let mut parts = parts(&layout, relays, tokens);
            parts.iter_mut().for_each(|part| part.marks = &MARKS);
            let stop = AtomicBool::new(false);
            let (parts, ..) = run(parts, &layout, &limits(end, &stop));
            for (number, mark) in MARKS.into_iter().enumerate() {
                let count: usize = parts.iter().map(|part| part.counts[number]).sum();
                let expected = before(mark, DELAY / reach);
                assert_eq!(count, expected, "{mark}, {tokens} tokens, {threads} threads, {reach}");
            }
        }
    }
}

/// The run ends before the first window in which anything happens once a multiple of the longest stretch has been run,
/// which is twice as long as a frame takes.
#[test]
fn flows_end_a_run_in_blocks_after_whole_stretches() {
    let (relays, tokens) = (12, 5);
    let seen = expected(relays, tokens, 400_000);
    let arrivals = || seen.iter().flatten().map(|(at, _)| at.0);
    let even = seen.iter().step_by(2).flatten().map(|(at, _)| at.0);
    let mut ends: Vec<u64> = even.collect();
    ends.sort_unstable();
    for flows in [1, 2, 17, 100, 101, 102, 103, 104] {
        let stopped = (ends[flows - 1] + 1).next_multiple_of(2 * DELAY);
        // A relay has an event when a token arrives, and when it sends it.
        let events = arrivals().flat_map(|at| [at, at + HOLD]);
        let next = events.filter(|at| *at >= stopped).min().unwrap();
        let shapes = [(1, 4), (1, 1_000), (2, 2), (3, 4)];
        for (reach, (threads, most_ports)) in with_reaches(&shapes) {
            let next = next / (DELAY / reach) * (DELAY / reach);
            let layout = in_blocks(relays, (1, threads), (most_ports, reach));
            let (parts, stop) = (parts(&layout, relays, tokens), AtomicBool::new(false));
            let limits = Limits { flows: flows as u64, ..limits(400_000, &stop) };
            let (parts, stop, now) = run(parts, &layout, &limits);
            assert_eq!(
                (stop, now),
                (Stop::FlowsDone, Instant(next)),
                "{flows} on {threads}, {reach}"
            );
            let (nodes, _) = results(parts);
            for (node, seen) in nodes.iter().zip(&seen) {
                let until = seen.iter().filter(|(at, _)| at.0 < stopped).copied();
                assert_eq!(node.seen, until.collect::<Vec<_>>(), "{flows}, relay {}", node.id.0);
            }
        }
    }
}

/// Between two steps one more token is put into relay 0, where no other of its number is at that time.
#[test]
fn a_run_may_be_taken_forward_in_steps() {
    let (relays, tokens, end) = (13, 5, 300_000);
    // With all threads from the beginning of each step, as soon as the clock is read, and never.
    let alone = [0, 1, 60_000_000_000].map(std::time::Duration::from_nanos);
    let all = [(1, 0), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (3, 2)];
    for (threads, alone) in all.map(|(threads, number)| (threads, alone[number])) {
        let layout = layout(relays, (1, threads));
        let mut steps = Steps::new(parts(&layout, relays, tokens), &layout);
        steps.alone_for(alone);
        let stop = AtomicBool::new(false);
        for at in [1, 999, 1_000, 7_777, 7_900, 120_000, 250_000] {
            let until = steps.window_end(Instant(at));
            assert_eq!(until, Instant(at / 1_000 * 1_000 + 1_000));
            assert_eq!(steps.advance(&limits(until.0, &stop)), (Stop::TimeLimit, until));
            assert!(steps.simulated() <= until);
        }
        let late = Instant(260_000);
        let first = steps.parts_mut().flat_map(|part| &mut part.blocks).flatten();
        first.filter(|node| node.id.0 == 0).for_each(|node| node.timers.set(3, late));
        steps.wakes_have_changed();
        let ended = steps.advance(&limits(end, &stop));
        assert_eq!(ended, (Stop::TimeLimit, Instant(end)));
        let (nodes, _) = results(steps.finish());
        let mut expected = expected(relays, tokens, end);
        let (mut at, mut node) = (late.0 + DELAY, 1);
        while at < end {
            expected[node].push((Instant(at), 3));
            expected[node].sort();
            (at, node) = (at + HOLD + DELAY, (node + 1) % relays as usize);
        }
        let seen: Vec<_> = nodes.into_iter().map(|node| node.seen).collect();
        assert_eq!(seen, expected, "{threads} threads, {alone:?}");
    }
}
