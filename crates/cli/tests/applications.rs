//! Web pages and video of Linux kernels: the HTTP server and its two clients in oracle/endpoint-http.c. What they say of their
//! arguments, and what they do on this machine, needs a compiler for C; times on a line need a kernel.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::Duration as StdDuration;

use floodway_model::{Duration, Instant, Rate};
use floodway_sim::host::application::video::abr::{self, View};
use floodway_sim::host::application::video::playback::Playback;
use floodway_sim::host::application::video::{Segment, Spec};

use crate::common::{Said, said};
use crate::emulate::{emulate, kernel};

/// The program, compiled as `oracle/build` does it, but not static; `None` without a compiler, which is said.
fn endpoint() -> Option<&'static Path> {
    static PROGRAM: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../oracle");
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("endpoint");
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program);
        compiler.args(["endpoint.c", "endpoint-http.c"].map(|name| sources.join(name))).arg("-lm");
        let Ok(output) = compiler.output() else {
            eprintln!("not tested: there is no compiler for C");
            return None;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(program)
    });
    cfg!(target_os = "linux").then_some(PROGRAM.as_deref()?)
}

fn run(program: &Path, words: &[&str]) -> Said {
    said(Command::new(program).args(words).stdin(Stdio::null()).output().unwrap())
}

#[test]
fn arguments_that_are_wrong_are_reported() {
    let Some(program) = endpoint() else { return };
    let page = "there are connections, pages, tls_round_trips, parsing, think, request, port and control, each as NAME=VALUE";
    let video = "there are segment, buffer, startup, rebuffer, ladder, abr (throughput or buffer), samples, safety, reservoir, \
                 cushion, request, port and control, each as NAME=VALUE";
    let sizes = "write it like 350B, 60KB or 2MB";
    for (words, expected) in [
        ("page 10.0.0.1 60K", format!("`60K` is no size: {sizes}")),
        ("page 10.0.0.1 1KB//2KB", format!("`` is no size: {sizes}")),
        ("page 10.0.0.1 1KB/", format!("`` is no size: {sizes}")),
        ("page 10.0.0.1 1KB,-2KB", format!("`-2KB` is no size: {sizes}")),
        (
            "page 10.0.0.1 0B",
            "a size of 0 bytes is not possible: sizes have 1B to 1000MB".to_owned(),
        ),
        (
            "page 10.0.0.1 1001MB",
            "a size of 1001000000 bytes is not possible: sizes have 1B to 1000MB".to_owned(),
        ),
        ("page 10.0.0.1 1KB think=3", "`3` is no time: write it like 500ms or 2s".to_owned()),
        ("page 10.0.0.1 1KB connections=0", "`0` is no number from 1 to 1000".to_owned()),
        ("page 10.0.0.1 1KB color=red", format!("`color=red` is no parameter; {page}")),
        ("video 10.0.0.1 60", "`60` is no time: write it like 500ms or 2s".to_owned()),
        ("video 10.0.0.1 60s abr=best", format!("`abr=best` is no parameter; {video}")),
        ("video 10.0.0.1 60s safety=1.5", "`1.5` is no fraction above 0 and at most 1".to_owned()),
        (
            "video 10.0.0.1 60s ladder=1000",
            "`1000` is no rate: write it like 750Kbps or 3Mbps".to_owned(),
        ),
        (
            "video 10.0.0.1 60s ladder=3Mbps,1Mbps",
            "a ladder has bitrates from the lowest to the highest, at most 64".to_owned(),
        ),
        (
            "video 10.0.0.1 60s buffer=3s",
            "a segment has at least 100ms, the cushion is above 0, and the buffer has room for whole segments of at least \
             `startup` and `rebuffer`"
                .to_owned(),
        ),
        (
            "page nowhere 1KB",
            "there is no host `nowhere`: hosts that are kernels are called host-0, host-1, ...".to_owned(),
        ),
    ] {
        let said = run(program, &words.split(' ').collect::<Vec<_>>());
        assert_eq!(said.code, Some(2), "{words}: {}", said.err);
        assert_eq!(said.err, format!("endpoint: {expected}\n"), "{words}");
    }
    let usage = run(program, &["page", "10.0.0.1"]);
    assert_eq!(usage.code, Some(2));
    assert!(usage.err.contains("page HOST LEVELS | video HOST TIME"), "{}", usage.err);
}

/// An HTTP server on this machine, which ends with the test.
struct Server(Child, u16);

impl Server {
    fn start(program: &Path) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Command::new(program).args(["http", &port.to_string()]).spawn().unwrap();
        let server = Self(server, port);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            sleep(StdDuration::from_millis(10));
        }
        server
    }

    /// The head of an answer, and the number of octets of its body.
    fn ask(&self, head: &str, body: u64) -> (String, u64) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.1)).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut answer = String::new();
        while !answer.ends_with("\r\n\r\n") {
            assert_ne!(reader.read_line(&mut answer).unwrap(), 0, "{answer}");
        }
        let mut octets = Vec::new();
        (answer, reader.take(body).read_to_end(&mut octets).unwrap() as u64)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_server_answers_as_http_has_it() {
    let Some(program) = endpoint() else { return };
    let server = Server::start(program);
    let found = |size: u64, more: &str| {
        (format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n{more}\r\n"), size)
    };
    let close = "Connection: close\r\n";
    let get = |path: &str, version: &str, fields: &str| {
        format!("GET {path} HTTP/{version}\r\nHost: x\r\n{fields}\r\n")
    };
    assert_eq!(server.ask(&get("/100000", "1.1", ""), 100_000), found(100_000, ""));
    assert_eq!(server.ask(&get("/0", "1.1", close), u64::MAX), found(0, close));
    assert_eq!(server.ask(&get("/7", "1.0", ""), u64::MAX), found(7, close));
    assert_eq!(server.ask(&get("/7", "1.1", "connection: Close\r\n"), u64::MAX), found(7, close));
    let missing = (format!("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n{close}\r\n"), 0);
    for head in [get("/x", "1.1", ""), get("/7x", "1.1", ""), get("/-1", "1.1", "")] {
        assert_eq!(server.ask(&head, u64::MAX), missing, "{head}");
    }
    assert_eq!(server.ask("POST /7 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", u64::MAX), missing);
    // Two requests on one connection, the second of which closes it.
    let both = get("/3", "1.1", "") + &get("/4", "1.1", close);
    let (head, body) = server.ask(&both, u64::MAX);
    assert_eq!(head, found(3, "").0);
    assert_eq!(body, 3 + found(4, close).0.len() as u64 + 4);
}

#[test]
fn clients_load_all_that_they_are_asked_to() {
    let Some(program) = endpoint() else { return };
    let server = Server::start(program);
    let port = format!("port={}", server.1);
    let page = |levels: &str, more: &[&str]| {
        let words =
            [&["page", "127.0.0.1", levels, &port, "parsing=1ms", "think=1ms"], more].concat();
        let said = run(program, &words);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
        let lines = said.out.lines().map(|line| line.split_once(" ns: ").unwrap().1.to_owned());
        lines.collect::<Vec<_>>()
    };
    // One connection for the document, and five more for the seven objects of the second level.
    let levels = "60KB/1B,2B,3B,4B,5B,6B,7B/1MB";
    assert_eq!(page(levels, &[]), ["9 objects, 1060028 bytes, 6 connections"]);
    let twice = page(levels, &["connections=3", "pages=2", "tls_round_trips=0", "request=1KB"]);
    assert_eq!(twice, ["9 objects, 1060028 bytes, 3 connections"; 2]);
    assert_eq!(page("1B", &["tls_round_trips=2"]), ["1 objects, 1 bytes, 1 connections"]);

    // Nothing is known before the first segment, so it has the lowest bitrate. Then the time of this machine decides.
    let words = [
        "video",
        "127.0.0.1",
        "1s",
        "segment=200ms",
        "buffer=1s",
        "startup=200ms",
        "rebuffer=200ms",
        &port,
    ];
    let said = run(program, &words);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    let segments = said.out.lines().filter(|line| line.starts_with("segment ")).count();
    assert!(said.out.starts_with("segment 0 235000 b/s 5875 bytes requested "), "{}", said.out);
    assert!(said.out.contains(&format!("\nvideo {segments} segments, startup ")), "{}", said.out);

    drop(server);
    let refused = run(program, &["page", "127.0.0.1", "1B", &port]);
    assert_eq!(refused.code, Some(1));
    assert_eq!(refused.err, "endpoint: 127.0.0.1: Connection refused\n");
}

/// The number after a word of a line.
fn after(line: &str, word: &str) -> u64 {
    let rest = line.split_once(word).unwrap_or_else(|| panic!("{line}")).1.trim_start();
    rest.split(' ').next().unwrap().parse().unwrap_or_else(|_| panic!("{line}"))
}

/// A download of 100,000 octets over three links of 40 Mb/s with 2 ms of delay, by hand. On each link a SYN takes 19.6 µs, an
/// acknowledgment 18 µs, the request of 350 octets 88 µs and a full segment 307.6 µs.
///
/// - SYN and SYN/ACK: 2 · (3 · 19.6 + 2000) = 4117.6 µs.
/// - The request begins behind the acknowledgment of the SYN/ACK: 18 + 3 · 88 + 2000 = 2282 µs.
/// - The server acknowledges the request by itself before it answers: 18 µs.
/// - The answer has 43 octets of head: 69 full segments and one of 131 octets, 44.2 µs. The initial window of ten segments
///   takes 3076 µs, and the first acknowledgment comes after 3 · 307.6 + 2000 + 3 · 18 + 2000 = 4976.8 µs. From then on each
///   lets two segments go, and the line has no gap: the last full one has left it after 4976.8 + 59 · 307.6 µs.
/// - It takes two more links and the delay, and the last one is behind it: 2 · 307.6 + 44.2 + 2000 µs.
///
/// Linux has a gap of one segment, because it defers the segments of the second acknowledgment until the third, to send a larger
/// burst (`tcp_tso_should_defer`), unless the NIC says that a burst is one segment.
#[test]
fn a_download_is_what_slow_start_on_paper_takes() {
    if !kernel() {
        return;
    }
    let client = "workload.0.linux.run=\"for n in 1 2; do endpoint page host-2 100KB tls_round_trips=0; sleep 0.5; done\"";
    let server =
        "workload.1.linux.run=\"endpoint http & sleep 0.3; ip link set eth0 gso_max_segs 1\"";
    let (said, output) = emulate("applications-page", &[client, server], &[]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    let times: Vec<u64> = output
        .lines()
        .filter(|line| line.starts_with("page 0 "))
        .map(|line| after(line, "took "))
        .collect();
    let last = 59 * 307_600 + 2 * 307_600 + 44_200 + 2_000_000;
    let by_hand = 4_117_600 + 2_282_000 + 18_000 + 4_976_800 + last;
    // The clock has steps of 256 ns, and the program reads it after several that it has caused.
    for (time, expected) in times.iter().zip([by_hand + 307_600, by_hand]) {
        assert!((expected..expected + 2_048).contains(time), "{expected}: {output}");
    }
    assert_eq!(times.len(), 2, "{output}");
}

/// Segments of a run with these parameters, over a line of 3 Mb/s on which a flow of Cubic joins for a while.
fn segments(name: &str, abr: &str) -> String {
    let client = format!(
        "workload.0.linux.run=\"endpoint serve & endpoint video host-2 29s segment=1s buffer=6s startup=1s rebuffer=1s {abr}\""
    );
    let server = "workload.1.linux.run=\"endpoint http & sleep 8; endpoint send host-0 8 cubic\"";
    let line = "topology.dumbbell.bottleneck_rate=3Mbps";
    let settings = [&client, server, line, "arrivals=30s", "limit=30001ms"];
    let (said, output) = emulate(name, &settings, &[]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    output
}

/// The player of the simulation gets the segments of a kernel when they have come, and would have made the same choices.
#[test]
fn a_kernel_chooses_bitrates_as_the_simulation_does() {
    if !kernel() {
        return;
    }
    let by_buffer = abr::buffer::Spec {
        reservoir: Duration::from_ms(2_000),
        cushion: Duration::from_ms(3_000),
    };
    for (name, words, rule) in [
        ("applications-throughput", "abr=throughput samples=5", {
            abr::Spec::Throughput(abr::throughput::Spec { samples: 5, safety: 0.85 })
        }),
        ("applications-buffer", "abr=buffer reservoir=2s cushion=3s", abr::Spec::Buffer(by_buffer)),
    ] {
        let second = Duration::from_ms(1_000);
        let spec = Spec {
            segment: second,
            buffer: Duration::from_ms(6_000),
            startup: second,
            rebuffer: second,
            abr: rule,
            ..Spec::default()
        };
        let output = segments(name, words);
        let at = |ns: u64| Instant::ZERO + Duration(1_000 * ns);
        // Until something is played, time does not matter.
        let mut playback = Playback::new(Instant::ZERO);
        let (mut past, mut free) = (Vec::new(), 0);
        let (mut stalls, mut stalled) = (0, Duration::ZERO);
        for line in output.lines().filter(|line| line.starts_with("segment ")) {
            let (requested, arrived) = (after(line, "requested "), after(line, "arrived "));
            // Reading the clock takes steps of 256 ns.
            assert!(past.is_empty() || (free..free + 2_000).contains(&requested), "{free}: {line}");
            let mut advance = |playback: &mut Playback, ns: u64| {
                let played = playback.advance(at(ns));
                (stalls, stalled) = (stalls + u64::from(played.ran_dry), stalled + played.stalled);
            };
            advance(&mut playback, requested);
            let view = View { ladder: &spec.ladder, past: &past, buffer: playback.content() };
            let expected = spec.abr.choose(view);
            let bitrate = Rate(after(line, &format!("segment {} ", past.len())));
            assert_eq!(bitrate, expected, "{line}");
            let bytes = after(line, " b/s ");
            assert_eq!(bytes, bitrate.bytes_in(second).0);
            advance(&mut playback, arrived);
            playback.arrive(&spec);
            assert_eq!(playback.content(), Duration(1_000 * after(line, "buffer ")), "{line}");
            let full = playback.content() + second;
            free = arrived + full.0.saturating_sub(spec.buffer.0) / 1_000;
            past.push(Segment {
                requested: at(requested),
                bitrate,
                bytes,
                last: 0,
                acknowledged: Some(at(arrived)),
            });
        }
        let rates: Vec<u64> = past.iter().map(|segment| segment.bitrate.0).collect();
        let switches = rates.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let mean = rates.iter().sum::<u64>() as f64 / rates.len() as f64 / 1e3;
        assert!(switches >= 3 && past.len() >= 10, "{output}");
        let last = output.lines().find(|line| line.starts_with("video ")).unwrap();
        assert!(last.starts_with(&format!("video {} segments, startup ", past.len())), "{last}");
        let stalls = format!(
            ", {stalls} stalls, {:.3} ms stalled, mean bitrate {mean:.1} kb/s, {switches} switches",
            stalled.as_ns() / 1e6
        );
        assert!(last.ends_with(&stalls), "{stalls}\n{output}");
    }
}

/// A server and a client that have nothing to do with floodway.
#[test]
fn python_serves_what_curl_loads() {
    if !kernel() {
        return;
    }
    if let Some(missing) =
        ["/usr/bin/python3", "/usr/bin/curl"].iter().find(|path| fs::metadata(path).is_err())
    {
        eprintln!("not tested: there is no {missing}");
        return;
    }
    let client = "workload.0.linux.run=\"curl -s -o got -w '%{http_code} %{size_download} %{time_total}' \
                  http://host-2:8000/object; cmp got /run/host/endpoint && echo ' equal'\"";
    let server = "workload.1.linux.run=\"cp /run/host/endpoint object; exec python3 -m http.server 8000 --bind host-2\"";
    let start = "workload.0.linux.start=200ms";
    let (said, output) = emulate("applications-curl", &[client, server, start], &[]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    let line =
        output.lines().find(|line| line.ends_with(" equal")).unwrap_or_else(|| panic!("{output}"));
    let words: Vec<f64> = line.split(' ').take(3).map(|word| word.parse().unwrap()).collect();
    assert_eq!(words[0], 200.0, "{output}");
    // Not faster than the line has room for payload, and a few round trips of 5 ms more.
    let least = words[1] * 8.0 * 1_538.0 / 1_448.0 / 40e6;
    assert!((least + 0.004..least + 0.025).contains(&words[2]), "{least}: {output}");
    assert!(output.contains("\"GET /object HTTP/1.1\" 200"), "{output}");
}
