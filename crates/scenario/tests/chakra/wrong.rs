//! What is wrong with traces, and what is doubtful.

use super::write::*;

#[test]
fn what_is_wrong_with_a_file_is_said() {
    let folder = Folder::new("broken");
    let nodes = [compute(0, 1), collective(1, ALL_REDUCE, 2_000)];
    let whole = trace("1.0.0", &nodes);
    folder.file("job.0.et", &whole);
    let of = |bytes: &[u8]| {
        folder.file("job.1.et", bytes);
        folder.wrong(2, "")[0].clone()
    };
    assert_eq!(of(b""), "`job.1.et`: it is empty");
    let cut = of(&whole[..whole.len() - 1]);
    let length = nodes[1].0.len();
    let at = whole.len() - length - 1;
    let left = length - 1;
    assert_eq!(
        cut,
        format!(
            "`job.1.et`: message 2, at byte {at}, has {length} bytes, of which {left} are there"
        )
    );
    let mut more = whole.clone();
    more.push(0x80);
    let end = whole.len();
    assert_eq!(
        of(&more),
        format!("`job.1.et`: the length of message 3, at byte {end}, is cut off")
    );
    for (text, message) in [
        ("{}{\"type\": 4, \"id\": \"x\"}", "message 1 is no node: \"x\" is no number of 64 bits"),
        (
            "{}{\"attr\": [{\"name\": \"comm_size\", \"int64Val\": true}]}",
            "message 1 is no node: true is no value of kind int64Val, of attribute comm_size",
        ),
        ("{\"version\": \"0.0.2\"}", "its schema has version `0.0.2`"),
        ("{}{\"id\": 3}", "node 3 has type 0 (INVALID_NODE)"),
    ] {
        assert_eq!(of(text.as_bytes()), format!("`job.1.et`: {message}"));
    }
    let unknown = of(b"{}{\"type\": \"COMM_NODE\"}");
    assert!(
        unknown.contains("\"COMM_NODE\" is no type of a node; they are: INVALID_NODE,"),
        "{unknown}"
    );
    assert!(of(b"{\"version\": }").contains("it cannot be read as JSON"));
    assert!(of(b"{\"workload_graph\": [{}]}").contains("workload_graph is no list of nodes"));
    assert!(of(b"\x03\x0a\x05hello").contains("does not begin with a GlobalMetadata"));
    assert_eq!(of(&trace("0.0.3", &nodes)), "`job.1.et`: its schema has version `0.0.3`");
    let twice = [compute(4, 1), collective(4, ALL_REDUCE, 2_000)];
    assert_eq!(
        of(&trace("1.0.0", &twice)),
        "`job.1.et`: two nodes have the identifier 4: \"work\" and \"gradients\""
    );
    for (node, message) in [
        (node(3, "", 0), "node 3 has type 0 (INVALID_NODE)"),
        (node(3, "odd", 12), "node 3 \"odd\" has type 12, which is not known"),
        (node(3, "", COLL), "node 3 has no comm_type"),
        (node(3, "", COLL).whole("comm_type", 0), "node 3 has no comm_size"),
        (collective(3, 10, 5), "node 3 \"gradients\" has comm_type = 10, which is no collective"),
        (
            node(3, "", COLL).text("comm_type", "ring"),
            "node 3 has an attribute comm_type that is no whole number",
        ),
        (node(3, "", SEND).whole("comm_size", 5), "node 3 has no comm_dst"),
        (node(3, "", RECV).whole("comm_size", 5), "node 3 has no comm_src"),
        (
            message(3, SEND, [0, 1], 5),
            "node 3 \"message\" has comm_src = 0, and the file is that of rank 1",
        ),
        (message(3, SEND, [1, u64::MAX], 5), "node 3 \"message\" has comm_dst = -1"),
        (collective(3, 0, 5).on_cpu(), "node 3 \"gradients\" communicates on the CPU (is_cpu_op)"),
        (
            collective(3, 0, 5).with(octets(
                10,
                &[octets(1, b"involved_dim"), octets(28, &octets(1, &[1, 0]))].concat(),
            )),
            "node 3 \"gradients\" leaves out dimensions of a topology (involved_dim)",
        ),
    ] {
        assert_eq!(of(&trace("", &[node])), format!("`job.1.et`: {message}"));
    }
    // All that GlobalMetadata may say.
    for version in ["", "0.0.4", "1.0.0", "1.2", "1.0.2-chakra.0.0.4"] {
        folder.file("job.1.et", &trace(version, &nodes));
        assert!(folder.scenario(2, "").is_ok(), "{version}");
    }
}

#[test]
fn what_is_wrong_with_a_job_is_said() {
    let folder = Folder::new("wrong");
    let coll = |id: u64| collective(id, ALL_REDUCE, 2_000);
    let of = |ranks: &[Vec<Node>], with: &str| folder.traces(ranks).wrong(ranks.len() as u32, with);
    let send = message(0, SEND, [0, 1], 100);
    let receive = message(5, RECV, [0, 1], 100);
    assert_eq!(
        of(&[vec![send.clone()], vec![coll(0)]], ""),
        [
            "node 0 \"message\" of rank 0 sends to rank 1 with tag 7, which does not receive it",
            "add a COMM_RECV_NODE to rank 1, or remove the send",
        ]
    );
    assert_eq!(
        of(&[vec![coll(0)], vec![receive.clone()]], "")[0],
        "node 5 \"message\" of rank 1 receives from rank 0 with tag 7, which does not send it"
    );
    let other = node(5, "", RECV).whole("comm_src", 0).whole("comm_size", 100).whole("comm_tag", 8);
    assert_eq!(
        of(&[vec![send.clone()], vec![other]], "")[1],
        "rank 1 receives one with tag 8: write the same tag in both"
    );
    assert_eq!(
        of(&[vec![send.clone()], vec![message(5, RECV, [0, 1], 99)]], "")[0],
        "node 5 \"message\" of rank 1 receives 99 bytes, and node 0 \"message\" of rank 0 sends 100"
    );
    assert_eq!(
        of(&[vec![message(0, SEND, [0, 2], 5)], vec![]], "")[0],
        "node 0 \"message\" of rank 0 sends to rank 2, and there are 2 ranks"
    );
    assert_eq!(
        of(&[vec![message(0, SEND, [0, 0], 5)], vec![]], "")[0],
        "node 0 \"message\" of rank 0 sends to its own rank"
    );
    assert_eq!(
        of(&[vec![coll(0), coll(1)], vec![coll(0)]], "")[0],
        "node 1 \"gradients\" of rank 0 is collective 2 of group `0`, in which rank 1 has 1"
    );
    assert_eq!(
        of(&[vec![coll(0)], vec![collective(4, ALL_GATHER, 2_000)]], "")[0],
        "node 4 \"gradients\" of rank 1 is all_gather of 2000 bytes, and node 0 \"gradients\" of rank 0 is \
         all_reduce of 2000 bytes"
    );
    let in_group = |group: &str| vec![coll(0).text("pg_name", group)];
    assert_eq!(
        of(&[in_group("tp"), in_group("tp")], ""),
        [
            "node 0 \"gradients\" of rank 0 is in group `tp`, which is not defined",
            "name a file in `groups` that has its ranks, like {\"tp\": [0, 1]}; the groups are: 0",
        ]
    );
    let groups = "groups = \"groups.json\"\n";
    folder.file("groups.json", b"{\"tp\": [0]}");
    assert_eq!(
        of(&[in_group("tp"), in_group("tp")], groups)[0],
        "node 0 \"gradients\" of rank 1 is in group `tp`, to which the rank does not belong"
    );
    for (text, message) in [
        ("{\"tp\": [0, 2]}", "group `tp` has rank 2, and there are traces of 2 ranks"),
        ("{\"tp\": [0, 0]}", "group `tp` has rank 0 twice"),
        ("{\"tp\": []}", "group `tp` has no ranks"),
    ] {
        folder.file("groups.json", text.as_bytes());
        assert_eq!(of(&both(&in_group("tp")), groups)[0], message);
    }
    folder.file("groups.json", b"{\"tp\": [0, 1], \"dp\": [0, 1], \"tp\": [1, 0]}");
    assert_eq!(
        of(&both(&in_group("tp")), groups),
        [
            "`groups.json`: it lists group `tp` twice",
            "list every group once, with all of its ranks"
        ]
    );
    folder.file("groups.json", b"[1]");
    assert!(
        of(&both(&in_group("tp")), groups)[0].starts_with("`groups.json`: it lists no groups: ")
    );
    assert_eq!(
        of(&both(&[coll(0), compute(1, 5).data(&[3])]), ""),
        [
            "node 1 \"work\" of rank 0 depends on node 3, which its trace does not have",
            "complete the trace, or remove the dependency",
        ]
    );
    // Only dependencies that count are sought.
    folder.traces(&both(&[coll(0), compute(1, 5).control(&[3])]));
    assert!(folder.scenario(2, "dependencies = \"data\"\n").is_ok());
    let three = vec![vec![coll(0)]; 3];
    assert_eq!(
        of(&three, "all_reduce = \"halving_doubling\"\n"),
        [
            "node 0 \"gradients\" of rank 0 has a group of 3, which cannot be halved down to one",
            "choose all_reduce = \"ring\"",
        ]
    );
    assert_eq!(of(&three, "all_gather = \"tree\"\n")[0], "there is no all_gather by tree");
    assert_eq!(of(&three, "ranks = \"0-1\"\n")[0], "the job has 3 ranks and 2 hosts");
    assert_eq!(of(&both(&[compute(0, 1)]), "")[0], "the job has 2 ranks and no message");
    assert_eq!(
        of(&both(&[coll(0)]), "sends = \"acknowledged\"\n")[0],
        "`ethernet` acknowledges nothing"
    );
    let long = compute(0, u64::MAX);
    assert_eq!(of(&both(&[long, coll(1)]), "")[0], "rank 0 computes for longer than any run");
}

#[test]
fn who_waits_for_whom_in_a_cycle_is_said() {
    let folder = Folder::new("cycles");
    let of = |ranks: &[Vec<Node>]| folder.traces(ranks).wrong(ranks.len() as u32, "")[0].clone();
    let coll = |id: u64, group: &str| collective(id, ALL_REDUCE, 2_000).text("pg_name", group);
    // Within a rank.
    let own = vec![compute(0, 1).data(&[2]), coll(2, "").control(&[0])];
    assert_eq!(
        of(&[own, vec![coll(2, "")]]),
        "node 0 \"work\" of rank 0 waits for node 2 \"gradients\" of rank 0, which waits for node 0 \"work\" \
         of rank 0"
    );
    assert_eq!(
        of(&[vec![coll(2, "").data(&[2])], vec![coll(2, "")]]),
        "node 2 \"gradients\" of rank 0 waits for itself"
    );
    // Each rank receives before it sends.
    let rank = |own: u64, other: u64| {
        vec![message(0, RECV, [other, own], 9), message(1, SEND, [own, other], 9).data(&[0])]
    };
    assert_eq!(
        of(&[rank(0, 1), rank(1, 0)]),
        "node 0 \"message\" of rank 0 waits for node 1 \"message\" of rank 1, which waits for node 0 \"message\" \
         of rank 1, which waits for node 1 \"message\" of rank 0, which waits for node 0 \"message\" of rank 0"
    );
    // Two collectives of two groups in different order.
    folder.file("groups.json", b"{\"a\": [0, 1], \"b\": [0, 1]}");
    let rank = |first: &str, second: &str| vec![coll(0, first), coll(1, second).data(&[0])];
    folder.traces(&[rank("a", "b"), rank("b", "a")]);
    let [message, help] = folder.wrong(2, "groups = \"groups.json\"\n");
    assert_eq!(
        message,
        "node 0 \"gradients\" of rank 0 waits for node 1 \"gradients\" of rank 1, which waits for node 0 \
         \"gradients\" of rank 1, which waits for node 1 \"gradients\" of rank 0, which waits for node 0 \
         \"gradients\" of rank 0"
    );
    assert!(help.starts_with("none of this cycle of 4 nodes can ever finish"), "{help}");
    // The root of a broadcast does not wait for the others.
    let cast = |id: u64| collective(id, 5, 2_000);
    folder.traces(&[
        vec![cast(0), message_from_root().data(&[0])],
        vec![message_to_leaf(), cast(1).data(&[0])],
    ]);
    assert!(folder.scenario(2, "").is_ok());
}

fn message_from_root() -> Node {
    message(1, SEND, [0, 1], 9)
}

fn message_to_leaf() -> Node {
    message(0, RECV, [0, 1], 9)
}

#[test]
fn what_is_doubtful_is_a_warning() {
    let folder = Folder::new("doubtful");
    let nodes = [
        compute(0, 20_000),
        node(1, "weights", MEM_LOAD).whole("tensor_size", 64),
        collective(2, ALL_REDUCE, 2_000),
    ];
    let scenario = folder.traces(&both(&nodes)).scenario(2, "").unwrap();
    let warnings: Vec<&str> = scenario.warnings().iter().map(|of| &*of.message).collect();
    assert_eq!(
        warnings,
        [
            "the GPU of rank 0 is busy for 20 ms, and the run ends 10 ms after the start of the job",
            "messages wait for others to arrive, and `ethernet` does not repeat what is lost",
            "node 1 \"weights\" of rank 0 accesses a memory and has no duration",
        ]
    );
}
