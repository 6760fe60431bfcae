//! Captures of runs, read back by tshark, which knows nothing of this repository.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{floodway, json, place, word};

/// What tshark says of a file with these options; `None` if there is no tshark, which is an error if `FLOODWAY_INSIST`
/// asks for all tests.
pub fn tshark(file: &Path, options: &[&str]) -> Option<String> {
    let run = Command::new("tshark")
        // It guesses that payload without meaning is a remote procedure call.
        .args(["--disable-protocol", "rpcordma", "-n", "-r"])
        .arg(file)
        .args(options)
        .output();
    let Ok(output) = run else {
        assert_ne!(env::var("FLOODWAY_INSIST").as_deref(), Ok("1"), "there is no tshark");
        eprintln!("not tested: there is no tshark");
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The values of fields, frame by frame, of the frames that a filter lets pass.
fn fields(file: &Path, filter: &str, names: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut options = vec!["-Y", filter, "-T", "fields"];
    names.iter().for_each(|name| options.extend(["-e", name]));
    let text = tshark(file, &options)?;
    Some(text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

const VARIANTS: [&str; 15] = [
    "plain",
    "pfc",
    "pause",
    "isolation",
    "qcn",
    "source",
    "drc",
    "backpressure",
    "credit",
    "telemetry",
    "trimming",
    "pull",
    "indication",
    "tcp",
    "udp",
];

/// Runs all variants with a capture of everything.
fn captured(test: &str) -> PathBuf {
    let out = place(test);
    let said = floodway(&["run", "frames.toml", "--pcap", "all", "--quiet", "--out", word(&out)]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    out
}

fn capture(results: &Path, variant: &str) -> PathBuf {
    results.join("runs").join(variant).join("0/capture.pcapng")
}

/// All checksums are right, no frame is malformed, and every frame has the length that it has in the simulation: a
/// comment would say so otherwise.
fn assert_sound(file: &Path) {
    let wrong = "_ws.malformed || eth.fcs.status == 0 || ip.checksum.status == 0 || \
                 tcp.checksum.status == 0 || udp.checksum.status == 0 || frame.comment contains \"octets in\"";
    let mut options = vec!["-Y", wrong];
    for preference in [
        "eth.check_fcs:TRUE",
        "ip.check_checksum:TRUE",
        "tcp.check_checksum:TRUE",
        "udp.check_checksum:TRUE",
    ] {
        options.extend(["-o", preference]);
    }
    let Some(wrong) = tshark(file, &options) else { return };
    assert_eq!(wrong, "", "{}", file.display());
    // What comes with tshark can write it again, which is the remedy for captures that are cut off.
    let again = file.with_extension("again");
    let said = Command::new("editcap").args([file, &again]).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
}

/// How many frames each filter lets pass, at all ports together.
fn assert_present(file: &Path, filters: &[&str]) {
    for filter in filters {
        let Some(frames) = fields(file, filter, &["frame.number"]) else { return };
        assert!(!frames.is_empty(), "{filter} in {}", file.display());
    }
}

#[test]
fn every_kind_of_frame_is_read_by_tshark() {
    let folder = captured("pcap-kinds");
    for variant in VARIANTS {
        assert_sound(&capture(&folder, variant));
    }
    const DATA: &str = "infiniband.bth.opcode == 1 && infiniband.bth.destqp >= 0x100000";
    const ACK: &str = "infiniband.bth.opcode == 17 && infiniband.aeth.syndrome == 0x1f";
    for (variant, filters) in [
        ("plain", &[DATA, ACK, "frame.comment contains \"dropped: queue_full\""][..]),
        ("plain", &["infiniband.bth.opcode == 17 && infiniband.aeth.syndrome == 0x60"]),
        ("pfc", &["macc.opcode == 0x0101", "infiniband.bth.opcode == 0x81"]),
        ("pause", &["macc.opcode == 0x0001"]),
        ("isolation", &["eth.type == 0x89a2 && frame.len == 84"]),
        ("qcn", &["vlan.priority == 6 && vlan.etype == 0x22e9"]),
        ("source", &["udp.dstport == 50684 && frame.len == 74"]),
        ("drc", &["macc.opcode == 0x0dc0"]),
        ("backpressure", &["eth.type == 0x88b5 && frame[14:1] == 01"]),
        ("credit", &["eth.type == 0x88b5 && frame[14:1] == 02"]),
        ("indication", &["eth.type == 0x88b5 && frame[14:1] == 03"]),
        (
            "trimming",
            &["infiniband.bth.opcode == 0xc2", "frame.comment contains \"header of a trimmed\""],
        ),
        ("pull", &["infiniband.bth.opcode == 0xc1"]),
        ("telemetry", &["infiniband.bth.opcode == 1 && frame.len == 1128"]),
        ("udp", &["udp.dstport == 5001 && frame.len == 1518"]),
    ] {
        assert_present(&capture(&folder, variant), filters);
    }
}

/// The numbers of a flow's packets and acknowledgements, in order, at its source.
#[test]
fn sequence_numbers_are_those_of_the_simulation() {
    let folder = captured("pcap-numbers");
    let file = capture(&folder, "pfc");
    let sent = "infiniband.bth.opcode <= 4 && infiniband.bth.destqp == 0x100000 && frame.packet_flags_direction == 2 \
                && frame.interface_name contains host";
    let names = ["infiniband.bth.psn", "infiniband.bth.opcode", "frame.len", "udp.srcport"];
    let Some(frames) = fields(&file, sent, &names) else { return };
    // 100,001 bytes are 97 packets of 1,024 and one of 673, with 62 bytes of headers each.
    assert_eq!(frames.len(), 98);
    for (psn, frame) in frames.iter().enumerate() {
        let (opcode, length) = match psn {
            0 => ("0", 1_024 + 62),
            97 => ("2", 673 + 62),
            _ => ("1", 1_024 + 62),
        };
        assert_eq!(*frame, [&psn.to_string(), opcode, &length.to_string(), "49152"]);
    }
    let acked = "infiniband.bth.opcode == 17 && infiniband.bth.destqp == 0x100000 && \
                 frame.packet_flags_direction == 1 && frame.interface_name contains host";
    let frames = fields(&file, acked, &["infiniband.bth.psn", "infiniband.aeth.msn"]).unwrap();
    let expected =
        (0..98).map(|psn: u32| [psn.to_string(), u32::from(psn == 97).to_string()].to_vec());
    assert_eq!(frames, expected.collect::<Vec<_>>());
}

/// TCP counts octets from 1 after the SYN, and what accurate ECN feedback says is in flags and option.
#[test]
fn tcp_numbers_octets() {
    let folder = captured("pcap-tcp");
    let file = capture(&folder, "tcp");
    let sent = "tcp.srcport == 49152 && frame.packet_flags_direction == 2 && frame.interface_name contains host";
    let raw = ["-o", "tcp.relative_sequence_numbers:FALSE"];
    let mut options = vec!["-Y", sent, "-T", "fields"];
    options.extend(raw);
    for name in ["tcp.seq", "tcp.len", "tcp.ack", "tcp.flags.syn", "ip.dsfield.ecn"] {
        options.extend(["-e", name]);
    }
    let Some(text) = tshark(&file, &options) else { return };
    let rows: Vec<Vec<u64>> = text
        .lines()
        .map(|line| line.split('\t').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    assert_eq!(rows[0], [0, 0, 0, 1, 0], "SYN, not ECN-capable");
    let mut next = 1;
    for row in &rows[1..] {
        assert_eq!(row[2..], [1, 0, 1], "ECT(1)");
        if row[0] == next {
            next += row[1];
        }
    }
    assert_eq!(next, 100_002, "everything was sent in order at least once");
    // RFC 9768: the SYN offers with all three flags, and counting begins at 5.
    let offer = fields(&file, "tcp.flags == 0x1c2", &["tcp.flags.ae"]).unwrap();
    assert!(!offer.is_empty());
    let counts = fields(&file, "tcp.flags.ace == 5", &["tcp.flags.ace"]).unwrap();
    assert!(!counts.is_empty());
    let marked =
        fields(&file, "tcp.options.acc_ecn.eceb > 0", &["tcp.options.acc_ecn.eceb"]).unwrap();
    assert!(!marked.is_empty());
    assert!(
        marked.iter().all(|row| row[0].parse::<u64>().unwrap().is_multiple_of(1_448)),
        "{marked:?}"
    );
}

/// Messages of a page go on with the numbers of their connection, in both directions, and so do acknowledgements.
#[test]
fn octets_of_a_page_are_numbered_in_a_row() {
    let out = place("pcap-pages");
    let words = ["run", "pages.toml", "--pcap", "all", "--quiet", "--out", word(&out)];
    let said = floodway(&words);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    let file = out.join("runs/base/0/capture.pcapng");
    assert_sound(&file);
    for (host, total) in [("0", 5_000 + 23_000), ("1", 0)] {
        let sent = format!(
            "tcp && frame.packet_flags_direction == 2 && frame.interface_name contains \"host {host}\""
        );
        let mut options = vec!["-Y", &sent, "-T", "fields"];
        options.extend(["-o", "tcp.relative_sequence_numbers:FALSE"]);
        for name in ["tcp.seq", "tcp.len", "tcp.flags.syn", "tcp.ack"] {
            options.extend(["-e", name]);
        }
        let Some(text) = tshark(&file, &options) else { return };
        let number = |cell: &str| cell.parse::<u64>().unwrap();
        let rows: Vec<Vec<u64>> =
            text.lines().map(|line| line.split('\t').map(number).collect()).collect();
        let mut next = 1;
        for row in rows.iter().filter(|row| row[1] > 0) {
            assert_eq!(row[0], next, "{text}");
            next += row[1];
        }
        // The server also sends its part of TLS.
        assert!(next > total, "{next}");
        if host == "1" {
            let highest = rows.iter().map(|row| row[3]).max();
            assert!(highest > Some(28_000), "{highest:?}");
        }
    }
}

/// A capture changes nothing of a run, and does so on any number of threads.
#[test]
fn a_capture_is_no_result() {
    let folder = place("pcap-same");
    let run = |name: &str, more: &[&str]| {
        let out = folder.join(name);
        let mut words = vec![
            "run",
            "frames.toml",
            "--variant",
            "pfc",
            "--json",
            "--quiet",
            "--out",
            word(&out),
        ];
        words.extend(more);
        json(&words);
        let manifest = fs::read_to_string(out.join("manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
        let capture = fs::read(out.join("runs/pfc/0/capture.pcapng"));
        (
            manifest["runs"][0]["fingerprint"].clone(),
            manifest["runs"][0]["key"].clone(),
            capture.ok(),
        )
    };
    let (fingerprint, key, none) = run("without", &[]);
    assert_eq!(none, None);
    let one = run("one", &["--pcap", "all", "--threads", "1"]);
    assert_eq!((&one.0, &one.1), (&fingerprint, &key));
    let bytes = one.2.expect("there is a capture");
    assert_eq!(run("two", &["--pcap", "all", "--threads", "2"]).2, Some(bytes));
}

/// Bounds: the first frames of a port, one flow, few octets; what is left out is counted.
#[test]
fn a_capture_is_bounded() {
    let out = place("pcap-bounds");
    let said = floodway(&[
        "run",
        "frames.toml",
        "--variant",
        "pfc",
        "--out",
        word(&out),
        "--pcap",
        "host 0",
        "--pcap",
        "host 1:0",
        "--pcap-frames",
        "5",
        "--pcap-flow",
        "0",
        "--pcap-snaplen",
        "64",
    ]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("captures in "), "{}", said.out);
    let file = out.join("runs/pfc/0/capture.pcapng");
    let names = ["frame.interface_name", "frame.cap_len"];
    let Some(frames) = fields(&file, "frame", &names) else { return };
    let of = |name: &str| frames.iter().filter(|frame| frame[0] == name).count();
    assert_eq!(of("host 0:0"), 5, "flow 0 has more there");
    // The second host has nothing to do with the flow, but is paused.
    let paused = fields(&file, "frame.interface_name == \"host 1:0\" && !macc", &["frame.len"]);
    assert_eq!(paused, Some(Vec::new()));
    assert!((1..=5).contains(&of("host 1:0")));
    assert!(frames.iter().all(|frame| frame[1] == "64"));
}

#[test]
fn what_is_not_there_is_refused_before_anything_runs() {
    let out = place("pcap-refused");
    for (words, message) in [
        (
            &["--pcap", "hots 1"][..],
            "error: variant `plain`: there is no node `hots 1` in the network; did you mean `host 1`?\n",
        ),
        (
            &["--pcap", "host 1:4"],
            "error: variant `plain`: `host 1` has no port `4`; its ports are numbered from 0 to 0\n",
        ),
        (
            &["--pcap", "all", "--pcap-flow", "3"],
            "error: variant `plain`: there is no flow 3: the run has 3 flows, numbered from 0\n",
        ),
    ] {
        let mut all = vec!["run", "frames.toml", "--out", word(&out)];
        all.extend(words);
        let said = floodway(&all);
        assert_eq!((said.code, said.err.as_str()), (Some(2), message));
        assert!(!out.exists());
    }
    let said = floodway(&["run", "frames.toml", "--out", word(&out), "--pcap-frames", "3"]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("--pcap <WHERE>"), "{}", said.err);
}

/// A file of somebody else with the name of a capture is not replaced.
#[test]
fn a_file_that_is_there_stays() {
    let out = place("pcap-there");
    let run = |more: &[&str]| {
        let mut words =
            vec!["run", "frames.toml", "--variant", "udp", "--quiet", "--out", word(&out)];
        words.extend(more);
        floodway(&words)
    };
    assert_eq!(run(&[]).code, Some(0));
    let theirs = out.join("runs/udp/0/capture.pcapng");
    fs::write(&theirs, "theirs").unwrap();
    let said = run(&["--force", "--pcap", "all"]);
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.err.contains("capture.pcapng` is in the way"), "{}", said.err);
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs");
    // Once it is out of the way, a run that is there is made again for its capture.
    fs::remove_file(&theirs).unwrap();
    assert_eq!(run(&["--resume", "--pcap", "all"]).code, Some(0));
    assert!(fs::metadata(&theirs).unwrap().len() > 1_000);
}

/// What a run has sent is what its capture says.
#[test]
fn a_capture_of_a_run_becomes_its_flows() {
    let folder = captured("pcap-import");
    for (variant, transport) in
        [("pfc", "rocev2"), ("tcp", "tcp"), ("udp", "udp"), ("plain", "rocev2")]
    {
        let out = folder.join(format!("imported-{variant}"));
        let file = capture(&folder, variant);
        let said = floodway(&["import", "pcap", word(&file), "--out", word(&out), "--force"]);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
        let flows = fs::read_to_string(out.join(format!("flows-{transport}.csv"))).unwrap();
        let rows: Vec<&str> = flows.lines().filter(|line| !line.starts_with('#')).collect();
        // Three hosts send 100,001 bytes each to the fourth; go-back-N does not count twice.
        assert_eq!(rows.len(), 4, "{flows}");
        for row in &rows[1..] {
            let cells: Vec<&str> = row.split(',').collect();
            assert_eq!((cells[2], cells[3]), ("100001", "0"), "{variant}: {flows}");
        }
        assert!(said.out.starts_with("Taken over: 3 flows between 4 hosts in "), "{}", said.out);
        assert!(said.out.contains("were seen before at another interface"), "{}", said.out);
        let again = out.join("again");
        let scenario = out.join("scenario.toml");
        let said = floodway(&["run", word(&scenario), "--quiet", "--out", word(&again)]);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    }
}

#[test]
fn what_is_no_capture_is_refused_with_a_remedy() {
    let folder = place("pcap-broken");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("file.pcap");
    let out = folder.join("out");
    let header = |link: u8| {
        let mut octets = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0];
        octets.extend([0; 8]);
        octets.extend([0xff, 0xff, 0, 0, link, 0, 0, 0]);
        octets
    };
    let packet = [1, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 9, 9, 9, 9];
    // UDP with one octet, from 10.0.0.1 to 10.0.0.2.
    let datagram = |seconds: u32| {
        let mut octets = seconds.to_le_bytes().to_vec();
        octets.extend([0, 0, 0, 0, 29, 0, 0, 0, 29, 0, 0, 0]);
        octets.extend([0x45, 0, 0, 29, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        octets.extend([0, 7, 0, 7, 0, 9, 0, 0, 1]);
        octets
    };
    for (octets, message) in [
        (
            b"no capture at all, but text".to_vec(),
            "it is neither pcap nor pcapng; name a file that Wireshark or tcpdump has written",
        ),
        (
            Vec::new(),
            "it is neither pcap nor pcapng; name a file that Wireshark or tcpdump has written",
        ),
        (
            [header(1), packet[..18].to_vec()].concat(),
            "it ends in the middle of a block, after frame 0; there is nothing to take from it",
        ),
        (
            [header(127), packet.to_vec()].concat(),
            "frame 1 has link type 127, and these are known: Ethernet (1), IP (12, 14, 101, 228, 229), Linux cooked \
             (113, 276) and loopback (0, 108); capture at an interface that has one of them",
        ),
        (
            [header(1), packet.to_vec()].concat(),
            "none of its 1 frames has payload of TCP, UDP or RoCEv2 from one host to another, so there are no flows \
             (1 end within their headers, or have malformed ones)",
        ),
        (
            [header(101), datagram(1), datagram(600_000_001)].concat(),
            "its flows begin within 600000000 s of each other, and a scenario has at most 1844673 s for that; if the clock \
             was set while frames were captured, take those before or after it with: editcap -A START -B END CAPTURE \
             PART",
        ),
    ] {
        fs::write(&file, octets).unwrap();
        let said = floodway(&["import", "pcap", word(&file), "--out", word(&out)]);
        let expected = format!("error: {}: {message}\n", file.display());
        assert_eq!(
            (said.code, said.err.replace('\n', " ").trim()),
            (Some(2), expected.replace('\n', " ").trim())
        );
        assert!(!out.exists());
    }
    let said = floodway(&["import", "pcap", word(&file), "--idle", "0s"]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("--idle 0s: every frame would be a flow; give "), "{}", said.err);
    let missing = folder.join("missing.pcap");
    let said = floodway(&["import", "pcap", word(&missing)]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("missing.pcap: it cannot be read: No such file"), "{}", said.err);
}

/// The dissectors that are shipped read what Wireshark does not know.
#[test]
fn the_dissectors_read_what_wireshark_does_not_know() {
    let folder = captured("pcap-lua");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/wireshark/floodway.lua");
    let script = format!("lua_script:{}", word(&script));
    let read = |variant: &str, filter: &str, names: &[&str]| {
        let mut options = vec!["-X", &script, "-Y", filter, "-T", "fields"];
        names.iter().for_each(|name| options.extend(["-e", name]));
        let text = tshark(&capture(&folder, variant), &options)?;
        let lines = text.lines().map(|line| line.split('\t').map(str::to_owned).collect());
        Some(lines.collect::<Vec<Vec<String>>>())
    };
    // Messages are about flows of the three senders to the host that has 10.0.0.3.
    for (variant, filter, names, first) in [
        (
            "qcn",
            "cn.feedback > 0",
            &["cn.destination", "cn.octets"][..],
            &["02:00:0a:00:00:03", "0"][..],
        ),
        (
            "isolation",
            "cim",
            &["cim.destination", "cim.octets", "cim.version"],
            &["02:00:0a:00:00:03", "48", "0"],
        ),
        (
            "source",
            "sfc",
            &["sfc.destination", "sfc.protocol", "sfc.destination_port"],
            &["10.0.0.3", "17", "4791"],
        ),
        ("drc", "drc", &["drc.group", "frame.len"], &["0", "64"]),
        ("drc", "drc.worst > 0", &["drc.group"], &["0"]),
        ("backpressure", "floodway.stop == 1", &["floodway.kind"], &["1"]),
        ("credit", "floodway.limit > 0", &["floodway.kind"], &["2"]),
        ("indication", "floodway.severity > 0", &["floodway.kind"], &["3"]),
        // What it knows goes on as before.
        ("pause", "macc.opcode == 1", &["frame.len"], &["64"]),
    ] {
        let Some(frames) = read(variant, filter, names) else { return };
        assert!(
            frames.iter().any(|frame| frame == first),
            "{variant} {filter}: {:?}",
            frames.first()
        );
    }
    // The column of information has another name from version to version.
    let listed =
        tshark(&capture(&folder, "pfc"), &["-X", &script, "-Y", "infiniband.bth.opcode == 0x81"])
            .expect("it has read the others");
    assert!(
        listed.lines().count() > 0 && listed.lines().all(|line| line.contains("CNP QP=0x10000"))
    );
}
