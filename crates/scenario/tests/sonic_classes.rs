//! Traffic classes of configurations of SONiC: the maps from DSCP to queue, and what queues have of their own. The
//! expected values are worked out by hand from `tests/sonic/classes/config_db.json`.

use floodway_model::Bytes;
use floodway_scenario::import::sonic::Fate;
use floodway_sim::switch::buffer::shared::OfQueues;
use floodway_sim::switch::{aqm, buffer, classify, scheduler};

use crate::sonic::{fixture, imported, refused};

/// Queue 6 has strict priority and is class 0; the queues 0 to 5 are the classes 1 to 6.
#[test]
fn classes_have_what_their_queues_have() {
    let (imported, settings) = imported(&[fixture("classes")]);
    let switch = &settings.switch;
    assert_eq!(switch.queue.count, 7);
    let scheduler::Spec::Drr(drr) = &switch.scheduler else { panic!("deficit round robin") };
    assert_eq!((drr.strict, drr.weights.as_slice()), (1, &[1, 14, 14, 14, 28, 28, 14][..]));
    let classify::Spec::Dscp(dscp) = &switch.classify else { panic!("classes by DSCP") };
    let queues: Vec<(u8, Vec<u8>)> = (dscp.queues.entries().iter())
        .map(|of| (of.queue, of.dscp.iter().map(|marking| marking.dscp().0).collect()))
        .collect();
    // DSCPs of no entry are in traffic class 0, like 8; 33 goes to queue 1 by traffic class 8. Two of three ports put 5
    // into queue 2.
    let expected = [
        (0, vec![48]),
        (2, vec![0, 1, 33]),
        (3, vec![5]),
        (4, vec![3]),
        (5, vec![4]),
        (6, vec![46]),
    ];
    assert_eq!((dscp.default, queues.as_slice()), (1, &expected[..]));

    let buffer::Spec::Shared(shared) = &switch.buffer else { panic!("a shared buffer") };
    let base = shared.ingress.as_ref().unwrap();
    // Of the lossless classes 3 and 4 as many groups have one as the other: the lower alpha and guarantee are for all.
    assert_eq!((base.alpha, base.guaranteed), (Some(0.25), Bytes(2_000)));
    let lossless_3 = OfQueues { queues: vec![4], ingress_alpha: Some(1.0), ..OfQueues::default() };
    let lossless_4 = OfQueues {
        queues: vec![5],
        ingress_guaranteed: Some(Bytes(3_000)),
        egress_alpha: Some(0.5),
        ..OfQueues::default()
    };
    // Queue 2 shares the lossy pool, and an entry has one set of shares: that of most queues of the pool.
    let lossy = OfQueues {
        queues: vec![0, 1, 2, 3, 6],
        ingress_alpha: Some(8.0),
        ingress_guaranteed: Some(Bytes(0)),
        egress_alpha: Some(8.0),
        egress_guaranteed: Some(Bytes(1_664)),
        egress_pool: Some(Bytes(9_000_000)),
    };
    assert_eq!(shared.by_queue, [lossy, lossless_3, lossless_4]);
    let egress = shared.egress.as_ref().unwrap();
    assert_eq!((egress.alpha, egress.guaranteed), (None, Bytes(1_518)));

    let aqm::Spec::Ramp(ramp) = &switch.aqm else { panic!("the curve of WRED") };
    assert_eq!(ramp.queues, [2, 4, 5]);
    assert_eq!((ramp.kmin, ramp.kmax, ramp.pmax), (Bytes(100_000), Bytes(400_000), 0.2));
    let own = aqm::ramp::OfQueues {
        queues: vec![2],
        kmin: Bytes(30_000),
        kmax: Bytes(30_000),
        pmax: 1.0,
    };
    assert_eq!(ramp.by_queue, [own]);
    let pfc = switch.flow_control.pfc.as_ref().unwrap();
    assert_eq!(pfc.queues, [4, 5]);

    assert_eq!(imported.fields, imported.accounted);
    let fate = |key: &str, value: &str| {
        let mut rows = imported.rows.iter();
        let found = rows.find(|row| row.key.starts_with(key) && row.value.starts_with(value));
        found.map(|row| (row.fate, row.meaning.as_str())).unwrap_or_else(|| panic!("{key} {value}"))
    };
    for (key, value, expected, meaning) in [
        (
            "BUFFER_PROFILE egress_background dynamic_th",
            "-2",
            Fate::Differs,
            "`switch.buffer.shared.by_queue.egress_alpha`, 2 to this power is another one for all ports: what most of \
             them have, or the largest need",
        ),
        (
            "BUFFER_PROFILE ingress_background static_th",
            "12000000",
            Fate::Differs,
            "`switch.buffer.shared.by_queue.ingress_alpha` is another one for all ports: what most of them have, or the \
             largest need",
        ),
        (
            "BUFFER_PROFILE pg_4 size",
            "3000",
            Fate::Kept,
            "`switch.buffer.shared.by_queue.ingress_guaranteed`",
        ),
        (
            "BUFFER_PROFILE egress_4 dynamic_th",
            "-1",
            Fate::Kept,
            "`switch.buffer.shared.by_queue.egress_alpha`, 2 to this power",
        ),
        (
            "DSCP_TO_TC_MAP UPLINK 5",
            "1",
            Fate::Differs,
            "most ports put it into another queue, and here all do: `switch.classify.dscp`",
        ),
        ("DSCP_TO_TC_MAP TUNNEL", "1", Fate::Nothing, "no port has this map"),
        ("TC_TO_QUEUE_MAP AZURE 7", "7", Fate::Nothing, "no DSCP leads to this traffic class"),
        (
            "TC_TO_PRIORITY_GROUP_MAP AZURE 3",
            "3",
            Fate::Kept,
            "the priority group of lossless queue 3",
        ),
        (
            "TC_TO_PRIORITY_GROUP_MAP AZURE 0",
            "0",
            Fate::Differs,
            "classes of one priority group share a threshold, and here each class has one",
        ),
        (
            "WRED_PROFILE LOSSY green_min_threshold",
            "30000",
            Fate::Kept,
            "`switch.aqm.ramp.by_queue.kmin`",
        ),
    ] {
        assert_eq!(fate(key, value), (expected, meaning), "{key}");
    }
}

/// Without a map of DSCPs all flows are in one class, and the account says so.
#[test]
fn without_a_map_there_is_one_class() {
    let text = std::fs::read_to_string(fixture("classes").join("config_db.json")).unwrap();
    let text = text.replace("\"dscp_to_tc_map\": \"AZURE\", ", "");
    let text = text.replace("\"dscp_to_tc_map\": \"UPLINK\", ", "");
    let text = text.replace("{\"dscp_to_tc_map\": \"AZURE\"}", "{}");
    let folder = crate::sonic::folder("no_dscps", &[("config_db.json", &text)]);
    let (imported, settings) = imported(&[folder]);
    let classify::Spec::Single(single) = &settings.switch.classify else { panic!("one class") };
    assert_eq!((single.queue, settings.workload.len()), (4, 1));
    let said = "no port has a map of DSCPs: all flows are in queue 3 of the switches";
    assert!(imported.rows.iter().any(|row| row.fate == Fate::Differs && row.meaning == said));
}

#[test]
fn maps_that_are_wrong_are_shown_at_their_places() {
    let qos = |maps: &str| {
        format!(
            "{{\"PORT_QOS_MAP\": {{\"Ethernet0,Ethernet4\": {{\"pfc_enable\": \"3\", \"dscp_to_tc_map\": \"A\",\n\
             \"tc_to_queue_map\": \"A\", \"pfc_to_queue_map\": \"A\"}}}},\n{maps}}}"
        )
    };
    let dscp = |dscp: &str, class: &str| {
        format!("\"DSCP_TO_TC_MAP\": {{\"A\": {{\"3\": \"3\", \"{dscp}\": \"{class}\"}}}}")
    };
    let queue = "\"TC_TO_QUEUE_MAP\": {\"A\": {\"0\": \"0\", \"3\": \"3\"}}";
    let pfc = "\"MAP_PFC_PRIORITY_TO_QUEUE\": {\"A\": {\"3\": \"3\"}}";
    let case = |test: &str, maps: &[&str], expected: &str, help: &str| {
        let said = refused(test, &[("qos.json", &qos(&maps.join(",\n")))]);
        assert!(said.contains(expected), "{test}: {said}");
        assert!(said.contains("qos.json:") && said.contains(help), "{test}: {said}");
    };
    case(
        "no_dscp_map",
        &[queue, pfc],
        "there is no `DSCP_TO_TC_MAP|A`",
        "give the file with the table `DSCP_TO_TC_MAP` too",
    );
    case(
        "no_queue_map",
        &[&dscp("0", "0"), "\"TC_TO_QUEUE_MAP\": {\"AZ\": {}}", pfc],
        "there is no `TC_TO_QUEUE_MAP|A`",
        "did you mean `AZ`?",
    );
    case(
        "large_dscp",
        &[&dscp("64", "0"), queue, pfc],
        "`DSCP_TO_TC_MAP|A` has \"64\", which is no DSCP",
        "write numbers from 0 to 63",
    );
    case(
        "large_class",
        &[&dscp("5", "16"), queue, pfc],
        "`5` of `DSCP_TO_TC_MAP|A` is 16, above 15",
        "write a number from 0 to 15",
    );
    case(
        "class_without_queue",
        &[&dscp("5", "9"), queue, pfc],
        "DSCP 5 is in traffic class 9, and `TC_TO_QUEUE_MAP|A` has no queue for it",
        "write its queue there, like \"9\": \"0\", or another traffic class here",
    );
    case(
        "large_queue",
        &[&dscp("0", "0"), "\"TC_TO_QUEUE_MAP\": {\"A\": {\"0\": \"8\", \"3\": \"3\"}}", pfc],
        "`0` of `TC_TO_QUEUE_MAP|A` is 8, above 7",
        "write a number from 0 to 7",
    );
    case(
        "priority_without_queue",
        &[&dscp("0", "0"), queue, "\"MAP_PFC_PRIORITY_TO_QUEUE\": {\"A\": {\"4\": \"4\"}}"],
        "priority 3 of Ethernet0 is lossless, and `MAP_PFC_PRIORITY_TO_QUEUE|A` does not have it",
        "add \"3\" to that map, or leave it out of `pfc_enable`",
    );
    let bare = "{\"PORT_QOS_MAP\": {\"Ethernet0,Ethernet4\": {\"dscp_to_tc_map\": \"A\"}},\n\
                \"DSCP_TO_TC_MAP\": {\"A\": {\"3\": \"8\"}}}";
    let said = refused("class_alone", &[("qos.json", bare)]);
    let expected = "DSCP 3 is in traffic class 8, and Ethernet0 has no `tc_to_queue_map`";
    assert!(
        said.contains(expected) && said.contains("write a traffic class from 0 to 7"),
        "{said}"
    );
}
