use std::sync::Arc;

use floodway_model::program::{Edge, On};
use proptest::prelude::*;

use super::*;

/// Both kinds of dependencies, two cpus, and all that may be left out.
const TEXT: &str = "num_ranks 2

rank 0 {
a: calc 100 cpu 0
b: send 4096b to 1 tag 7 cpu 0 nic 0
b requires a
c: recv 64b from 1 tag 8
c irequires b
d: calc 50 cpu 1
d requires c
}

rank 1 {
a: recv 4096b from 0 tag 7
b: send 64b to 0 tag 8
b requires a
}
";

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source::new("job.goal", text.to_owned()))
}

fn job(text: &str) -> Result<Job, Failure> {
    let source = source(text);
    let (ranks, places) = text::read(&source)?;
    let places = Places::Text(source, places);
    matching::matched(ranks, &places).map_err(|fault| places.failure(fault))
}

fn read(text: &str) -> Job {
    match job(text) {
        Ok(job) => job,
        Err(Failure::Text(problem)) => panic!("{}", problem.plain()),
        Err(Failure::File(_)) => unreachable!("it is a text"),
    }
}

/// Line, column, word and cause.
fn wrong(text: &str) -> String {
    let Err(Failure::Text(problem)) = job(text) else { panic!("it is wrong") };
    assert!(!problem.help.is_empty());
    match problem.place.position() {
        Some(at) => {
            format!("{}:{} {}: {}", at.line, at.column, problem.place.word(), problem.message)
        }
        None => problem.message.clone(),
    }
}

/// What is wrong in rank 0 of two, the other one of which is empty.
fn wrong_in(operations: &str) -> String {
    wrong(&format!("num_ranks 2\nrank 0 {{\n{operations}\n}}\nrank 1 {{\n}}\n"))
}

fn end(peer: u32, bytes: u64, tag: u32) -> End {
    End { peer, bytes, tag }
}

fn step(action: Action, cpu: u8, line: u32) -> Step {
    Step { action, cpu, nic: 0, line }
}

#[test]
fn a_text_by_hand() {
    let job = read(TEXT);
    assert_eq!(
        job.ranks[0].steps,
        [
            step(Action::Compute(100), 0, 4),
            step(Action::Send(end(1, 4_096, 7)), 0, 5),
            step(Action::Receive(end(1, 64, 8)), 0, 7),
            step(Action::Compute(50), 1, 9),
        ]
    );
    let edge = |from, to, on| Edge { from, to, on };
    assert_eq!(
        job.ranks[0].edges,
        [edge(0, 1, On::Finished), edge(1, 2, On::Begun), edge(2, 3, On::Finished)]
    );
    assert_eq!(job.ranks[1].edges, [edge(0, 1, On::Finished)]);
    assert_eq!(
        job.messages,
        [
            Message { from: (0, 1), to: (1, 0), bytes: 4_096 },
            Message { from: (1, 1), to: (0, 2), bytes: 64 },
        ]
    );
}

#[test]
fn comments_blanks_and_labels_may_stand_or_not() {
    let text = "/* of\nseveral */ num_ranks 3 // three\n\nrank 0 { calc 5// no blank before\n\
                \tx : send 1b to 2 /* in between */ tag 4294967294\n} rank 1{}\r\n\
                rank 2 {\nrecv 1b from 0 cpu 255 tag 4294967294}";
    let job = read(text);
    assert_eq!(
        job.ranks[0].steps,
        [step(Action::Compute(5), 0, 4), step(Action::Send(end(2, 1, u32::MAX - 1)), 0, 5)]
    );
    assert_eq!(job.ranks[1], Rank::default());
    assert_eq!(job.ranks[2].steps, [step(Action::Receive(end(0, 1, u32::MAX - 1)), 255, 8)]);
}

#[test]
fn messages_are_matched_in_order_by_their_ends_and_tag() {
    let text = "num_ranks 2\nrank 0 {\nsend 1b to 1\nsend 2b to 1 tag 5\nsend 3b to 1\n}\n\
                rank 1 {\nrecv 2b from 0 tag 5\nrecv 1b from 0\nrecv 3b from 0\n}\n";
    let message = |from, to, bytes| Message { from: (0, from), to: (1, to), bytes };
    assert_eq!(read(text).messages, [message(0, 1, 1), message(1, 0, 2), message(2, 2, 3)]);
}

#[test]
fn what_is_wrong_is_found_where_it_stands() {
    let of = wrong;
    assert_eq!(of(""), "the file has no `num_ranks`");
    assert_eq!(of("num_ranks"), "1:1 num_ranks: `num_ranks` has one number");
    assert_eq!(of("num_ranks 0"), "1:11 0: there are no ranks");
    assert_eq!(of("num_ranks x"), "1:11 x: the number of ranks is `x`, not a whole number");
    assert_eq!(of("num_ranks 2\nnum_ranks 2"), "2:1 num_ranks: `num_ranks` is there twice");
    assert_eq!(of("rank 0 {"), "1:6 0: nothing says how many ranks there are");
    assert_eq!(of("num_ranks 1\nrank 0"), "2:1 rank: a rank begins with its number and `{`");
    assert_eq!(of("num_ranks 1\nrank 0 {"), "2:6 0: rank 0 does not end");
    assert_eq!(of("num_ranks 1\nrank 1 {"), "2:6 1: there is no rank 1: `num_ranks` is 1");
    assert_eq!(of("num_ranks 3\nrank 1 {"), "2:6 1: rank 1 stands where rank 0 is missing");
    assert_eq!(of("num_ranks 3\nrank 0 {\n}\n"), "1:11 3: `num_ranks` is 3, and rank 1 is missing");
    assert_eq!(of("num_ranks 1\n}"), "2:1 }: no rank is open here");
    assert_eq!(of("num_ranks 1\ncalc 5"), "2:1 calc: `calc` stands outside of a rank");
    assert_eq!(of("num_ranks 1 /* x"), "1:13 /*: the comment does not end");
}

#[test]
fn operations_are_complete_and_have_known_options() {
    let of = wrong_in;
    assert_eq!(of("clac 5"), "3:1 clac: `clac` is no operation");
    assert_eq!(of("calc"), "3:1 calc: `calc` is not complete");
    assert_eq!(of("send 5b 1"), "3:1 send: `send` is not complete");
    assert_eq!(of("send 5b from 1"), "3:1 send: `send` is not complete");
    assert_eq!(of("calc -5"), "3:6 -5: the time is `-5`, not a whole number");
    assert_eq!(of("send 5 to 1"), "3:6 5: the size is `5`");
    assert_eq!(of("send xb to 1"), "3:6 x: the size is `x`, not a whole number");
    assert_eq!(of("calc 5 tag 1"), "3:8 tag: `calc` has no `tag`");
    assert_eq!(of("calc 5 cpu"), "3:8 cpu: `cpu` has no number");
    assert_eq!(of("calc 5 cpu 256"), "3:12 256: `cpu` is 256");
    assert_eq!(of("calc 5 cpu 1 cpu 1"), "3:14 cpu: `cpu` is there twice");
    assert_eq!(of("send 5b to 1 tag 4294967295"), "3:18 4294967295: the tag is 4294967295");
    assert_eq!(of("a:"), "3:1 a: the label has no operation");
    assert_eq!(of("1a: calc 5"), "3:1 1a: `1a` is no label");
    assert_eq!(of("a: calc 5\na: calc 6"), "4:1 a: there are two operations `a` in this rank");
    assert_eq!(
        of("a: calc 5\na requires b"),
        "4:12 b: there is no operation `b` above in this rank"
    );
    assert_eq!(of("a: calc 5\na requires"), "4:1 a: `a` is no operation");
}

#[test]
fn both_ends_of_a_message_are_there() {
    let of = wrong_in;
    assert_eq!(
        of("b: send 5b to 2"),
        "3:4 send 5b to 2: `b` of rank 0 sends to rank 2, and there are 2 ranks"
    );
    assert_eq!(
        of("b: recv 5b from 0"),
        "3:4 recv 5b from 0: `b` of rank 0 receives from its own rank"
    );
    assert_eq!(of("recv 5b from -1"), "3:1 recv 5b from -1: line 3 of rank 0 matches any rank");
    assert_eq!(
        of("recv 5b from 1 tag -1"),
        "3:1 recv 5b from 1 tag -1: line 3 of rank 0 matches any tag"
    );
    assert_eq!(
        of("b: send 5b to 1"),
        "3:4 send 5b to 1: `b` of rank 0 sends to rank 1 with tag 0, which does not receive it"
    );
    assert_eq!(
        of("b: recv 5b from 1 tag 3"),
        "3:4 recv 5b from 1 tag 3: `b` of rank 0 receives from rank 1 with tag 3, which does not send it"
    );
    let pair = |send: &str, receive: &str| {
        format!("num_ranks 2\nrank 0 {{\na: {send}\n}}\nrank 1 {{\nb: {receive}\n}}\n")
    };
    assert_eq!(
        wrong(&pair("send 5b to 1", "recv 6b from 0")),
        "6:4 recv 6b from 0: `b` of rank 1 receives 6 bytes, and `a` of rank 0 sends 5"
    );
    let Err(Failure::Text(problem)) = job(&pair("send 5b to 1 tag 3", "recv 5b from 0 tag 4"))
    else {
        panic!("the tags differ")
    };
    assert_eq!(problem.help, "rank 1 receives one with tag 4: write the same tag in both");
}

#[test]
fn a_cycle_is_named_from_its_first_operation() {
    // Each receives before it sends.
    let ring = "num_ranks 3\nrank 0 {\na: recv 1b from 2\nb: send 1b to 1\nb requires a\n}\n\
                rank 1 {\na: recv 1b from 0\nb: send 1b to 2\nb requires a\n}\n\
                rank 2 {\na: recv 1b from 1\nb: send 1b to 0\nb requires a\n}\n";
    assert_eq!(
        wrong(ring),
        "3:4 recv 1b from 2: `a` of rank 0 waits for `b` of rank 2, which waits for `a` of rank 2, which \
         waits for `b` of rank 1, which waits for `a` of rank 1, which waits for `b` of rank 0, which waits \
         for `a` of rank 0"
    );
    // It is enough that one does not.
    read(&ring.replacen("b requires a\n", "", 1));
    read(&ring.replacen("b requires a\n", "b irequires a\n", 1));
    assert_eq!(
        wrong_in("calc 1\na: calc 5\na requires a"),
        "4:4 calc 5: `a` of rank 0 waits for itself"
    );
    assert_eq!(
        wrong_in("a: calc 5\nb: calc 5\na irequires b\nb irequires a"),
        "3:4 calc 5: `a` of rank 0 waits for `b` of rank 0, which waits for `a` of rank 0"
    );
    // What only waits for a cycle is not part of it, and a long one is cut.
    let mut long = "z: calc 1\n".to_owned();
    (0..10).for_each(|step| long += &format!("x{step}: calc 1\n"));
    (0..10).for_each(|step| long += &format!("x{step} requires x{}\n", (step + 1) % 10));
    let message = wrong_in(&format!("{long}z requires x3"));
    assert!(
        message.starts_with("4:5 calc 1: `x0` of rank 0 waits for `x1` of rank 0, which"),
        "{message}"
    );
    assert!(
        message.ends_with(
            "`x6` of rank 0, which waits for 3 more, the last of them for `x0` of rank 0"
        )
    );
}

/// The binary form of a job, made from the description of the format.
fn binary(ranks: &[Rank]) -> Vec<u8> {
    let mut parts = Vec::new();
    for rank in ranks {
        let waits = |node: u32| rank.edges.iter().filter(|edge| edge.to == node).count() as u32;
        let nodes = rank.steps.len() as u32;
        let roots: Vec<u32> = (0..nodes).filter(|&node| waits(node) == 0).collect();
        let mut part: Vec<u8> = Vec::new();
        part.extend(nodes.to_le_bytes());
        part.extend((roots.len() as u32).to_le_bytes());
        roots.iter().for_each(|root| part.extend(root.to_le_bytes()));
        let mut list: Vec<u32> = Vec::new();
        for (node, step) in (0..).zip(&rank.steps) {
            let (kind, End { peer, bytes, tag }) = match step.action {
                Action::Send(end) => (1u8, end),
                Action::Receive(end) => (2, end),
                Action::Compute(time) => (3, end(0, time, 0)),
            };
            part.extend(waits(node).to_le_bytes());
            part.push(kind);
            part.extend(peer.to_le_bytes());
            part.extend(bytes.to_le_bytes());
            part.extend(tag.to_le_bytes());
            part.extend([step.cpu, step.nic]);
            for on in [On::Finished, On::Begun] {
                let of = rank.edges.iter().filter(|edge| edge.from == node && edge.on == on);
                let first = list.len() as u32;
                list.extend(of.map(|edge| edge.to));
                part.extend((list.len() as u32 - first).to_le_bytes());
                part.extend(first.to_le_bytes());
            }
        }
        list.iter().for_each(|node| part.extend(node.to_le_bytes()));
        parts.push(part);
    }
    let steps = || ranks.iter().flat_map(|rank| &rank.steps);
    let mut bytes = 4_223u64.to_le_bytes().to_vec();
    bytes.extend((ranks.len() as u32).to_le_bytes());
    bytes.push(steps().map(|step| step.cpu).max().unwrap_or(0));
    bytes.push(steps().map(|step| step.nic).max().unwrap_or(0));
    let mut at = (bytes.len() + 16 * ranks.len() - 8) as u64;
    for part in &parts {
        bytes.extend(at.to_le_bytes());
        at += part.len() as u64;
        bytes.extend(at.to_le_bytes());
    }
    parts.iter().for_each(|part| bytes.extend(part));
    bytes
}

fn without_lines(mut ranks: Vec<Rank>) -> Vec<Rank> {
    ranks.iter_mut().flat_map(|rank| &mut rank.steps).for_each(|step| step.line = 0);
    ranks.iter_mut().for_each(|rank| {
        rank.edges.sort_by_key(|edge| (edge.from, edge.on == On::Begun, edge.to));
    });
    ranks
}

#[test]
fn the_binary_form_is_that_of_txt2bin() {
    // What txt2bin makes of TEXT, up to the first edge of rank 0 (source: measured with LogGOPSim).
    let begins = "7f10000000000000 02000000 01 00 2600000000000000 da00000000000000 da00000000000000 \
                  3801000000000000 04000000 01000000 00000000 00000000 03 00000000 6400000000000000 \
                  00000000 00 00 01000000 00000000 00000000 01000000 01000000 01 01000000 \
                  0010000000000000 07000000 00 00 00000000 01000000 01000000 01000000 01000000 02 \
                  01000000 4000000000000000 08000000 00 00 01000000 02000000 00000000 03000000 \
                  01000000 03 00000000 3200000000000000 00000000 01 00 00000000 03000000 00000000 \
                  03000000 01000000 02000000 03000000 02000000 01000000 00000000";
    let digits: String = begins.split_whitespace().collect();
    let begins: Vec<u8> = (0..digits.len() / 2)
        .map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    let ranks = without_lines(read(TEXT).ranks);
    let bytes = binary(&ranks);
    assert_eq!(bytes.len(), 320);
    assert_eq!(bytes[..begins.len()], begins);
    assert!(binary::is_binary(&bytes) && !binary::is_binary(TEXT.as_bytes()));
    assert_eq!(without_lines(binary::read(&bytes).unwrap()), ranks);
}

#[test]
fn what_is_wrong_in_the_binary_form_is_found() {
    let bytes = binary(&read(TEXT).ranks);
    let of = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        binary::read(&bytes).unwrap_err().0
    };
    let consumed = "a simulator has overwritten the file while it ran (--save-mem)";
    assert_eq!(of(&|bytes| bytes[..2].copy_from_slice(&2_342u16.to_le_bytes())), consumed);
    assert_eq!(of(&|bytes| bytes.truncate(10)), "the header is cut off");
    assert_eq!(of(&|bytes| bytes.truncate(40)), "it has 40 bytes, which are no 2 ranks");
    assert_eq!(of(&|bytes| bytes.truncate(300)), "rank 1 does not stand behind the one before it");
    assert_eq!(of(&|bytes| bytes.push(0)), "1 bytes stand behind the last rank");
    assert_eq!(of(&|bytes| bytes[14] = 0), "rank 0 does not stand behind the one before it");
    assert_eq!(
        of(&|bytes| bytes[12] = 0),
        "node 3 of rank 0 has cpu 1 and nic 0, and the highest are 0 and 0"
    );
    // Rank 0 begins at byte 46: nodes, roots, one root, and the first node.
    assert_eq!(of(&|bytes| bytes[46] = 200), "rank 0: its part of the file is cut off");
    assert_eq!(
        of(&|bytes| bytes[54] = 1),
        "rank 0: the list of nodes without dependencies is not right"
    );
    assert_eq!(of(&|bytes| bytes[58] = 1), "rank 0: node 0 has 0 dependencies and counts 1");
    assert_eq!(of(&|bytes| bytes[62] = 4), "rank 0: node 0 is of type 4, which is none of 1 to 3");
    assert_eq!(
        of(&|bytes| bytes[81] = 9),
        "rank 0: its nodes have more dependencies than the 3 listed"
    );
    assert_eq!(
        of(&|bytes| bytes[81] = 0),
        "rank 0: its nodes have 2 dependencies, and 3 are listed"
    );
}

fn any_rank() -> impl Strategy<Value = Rank> {
    let action = prop_oneof![
        any::<u64>().prop_map(Action::Compute),
        any::<(u32, u64, u32)>().prop_map(|(peer, bytes, tag)| Action::Send(end(peer, bytes, tag))),
        any::<(u32, u64, u32)>()
            .prop_map(|(peer, bytes, tag)| Action::Receive(end(peer, bytes, tag))),
    ];
    let step = (action, any::<u8>(), any::<u8>()).prop_map(|(action, cpu, nic)| Step {
        action,
        cpu,
        nic,
        line: 0,
    });
    let steps = prop::collection::vec(step, 0..8);
    (steps, prop::collection::vec((0u32..8, 0u32..8, any::<bool>()), 0..10)).prop_map(
        |(steps, pairs)| {
            let count = steps.len() as u32;
            let edges = pairs.into_iter().filter(|(from, to, _)| *from < count && *to < count);
            let edges = edges.map(|(from, to, begun)| Edge {
                from,
                to,
                on: if begun { On::Begun } else { On::Finished },
            });
            Rank { edges: edges.collect(), steps }
        },
    )
}

proptest! {
    #[test]
    fn the_binary_form_reads_back(ranks in prop::collection::vec(any_rank(), 1..4)) {
        let ranks = without_lines(ranks);
        let read = binary::read(&binary(&ranks)).map(without_lines);
        prop_assert_eq!(read, Ok(ranks));
    }
}
