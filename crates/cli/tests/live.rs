//! Runs that a page steers: what the server takes and refuses, and that a run can be repeated from its log.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{Said, command, floodway, place, said, word};

/// A run, which ends with the test whatever happens.
pub struct Running {
    child: Option<Child>,
    address: String,
    out: PathBuf,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Running {
    fn begin(name: &str, options: &[&str]) -> Self {
        let out = place(name);
        let words = ["live", "live.toml", "--port", "0", "--out", word(&out)];
        Self::start(command(&[&words[..], options].concat()), out)
    }

    /// Starts a program, which has the folder `out` for its results.
    pub fn start(mut command: Command, out: PathBuf) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix('/'));
        let address = address.unwrap_or_else(|| panic!("no address: {line}")).to_owned();
        assert!(address.starts_with("127.0.0.1:"), "{address}");
        Self { child: Some(child), address, out }
    }

    /// Sends bytes, and gives status and body of the response; status 0 if there is none.
    fn send(&self, bytes: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        if stream.write_all(bytes).is_err() {
            return (0, String::new());
        }
        let mut answer = String::new();
        if stream.read_to_string(&mut answer).is_err() || answer.is_empty() {
            return (0, String::new());
        }
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head[9..12].parse().unwrap(), body.to_owned())
    }

    pub fn get(&self, path: &str) -> (u16, String) {
        let host = &self.address;
        self.send(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())
    }

    pub fn post(&self, body: &str) -> (u16, String) {
        let (host, length) = (&self.address, body.len());
        let head = format!(
            "POST /do HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        self.send((head + body).as_bytes())
    }

    pub fn state(&self, query: &str) -> Value {
        let (status, body) = self.get(&format!("/state{query}"));
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    /// Waits until the simulated time has come.
    pub fn wait(&self, time_s: f64) -> Value {
        let begun = Instant::now();
        loop {
            let state = self.state("");
            if state["now"]["time_s"].as_f64().unwrap() >= time_s {
                return state;
            }
            assert!(begun.elapsed() < Duration::from_secs(600), "time stands still: {state}");
            sleep(Duration::from_millis(10));
        }
    }

    /// Ends the run.
    pub fn end(self) -> (Said, PathBuf) {
        assert_eq!(self.post("{\"end\":null}"), (200, "{}".to_owned()));
        assert_eq!(self.state("?since=0")["now"]["ended"], true);
        self.ended()
    }

    /// Waits for its end.
    pub fn ended(mut self) -> (Said, PathBuf) {
        let child = self.child.take().unwrap();
        (said(child.wait_with_output().unwrap()), self.out.clone())
    }
}

fn log(out: &Path) -> Vec<Value> {
    let text = fs::read_to_string(out.join("actions.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_run_is_steered_and_repeated() {
    let run = Running::begin("live-steered", &["--speed", "20", "--until", "3600s"]);
    let state = run.state("");
    let fixed = &state["fixed"];
    assert_eq!(
        fixed["kinds"][1],
        json!({ "name": "scalable", "congestion": "dctcp", "linux": false })
    );
    assert_eq!(
        fixed["managements"][1],
        json!({ "name": "dualq", "aqm": "dualq", "refused": null })
    );
    let refused = fixed["managements"][2]["refused"].as_str().unwrap();
    assert_eq!(refused, "its hosts differ, and only queue management can change");
    assert_eq!(state["now"]["flows"], json!([1, 0]));
    run.wait(2.0);
    assert_eq!(run.post(r#"{"flows":{"kind":"scalable","count":2}}"#).0, 200);
    let time = run.state("")["now"]["time_s"].as_f64().unwrap();
    let state = run.wait(time + 3.0);
    assert_eq!(state["now"]["flows"], json!([1, 2]));
    assert_eq!(
        state["actions"][0]["action"],
        json!({ "flows": { "kind": "scalable", "count": 2 } })
    );
    assert_eq!(run.post(r#"{"management":"dualq"}"#).0, 200);
    assert_eq!(run.post(r#"{"pause":true}"#).0, 200);
    let paused = run.state("");
    assert_eq!((&paused["now"]["paused"], &paused["now"]["management"]), (&json!(true), &json!(1)));
    // Time stands still, and only what is new is said.
    let next = paused["next"].as_u64().unwrap();
    let later = run.state(&format!("?since={next}"));
    assert_eq!(later["now"]["time_s"], paused["now"]["time_s"]);
    assert_eq!((&later["samples"], later["next"].as_u64()), (&json!([]), Some(next)));
    assert!(later.get("fixed").is_none());
    assert_eq!(run.post(r#"{"pause":false}"#).0, 200);
    let until = paused["now"]["time_s"].as_f64().unwrap() + 5.0;
    let state = run.wait(until);
    let last = state["samples"].as_array().unwrap().last().unwrap();
    // 40 Mb/s are full; three flows have 1430 of 1500 bytes.
    assert!(last["utilization"].as_f64().unwrap() > 0.9, "{last}");
    let rates = last["flows"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|of| of["rates_mbps"].as_array().unwrap());
    let sum: f64 = rates.map(|rate| rate.as_f64().unwrap()).sum();
    assert!((sum - 40.0 * 1430.0 / 1500.0).abs() < 4.0, "{last}");
    assert!(last["queues"][0]["mean_ms"].as_f64().unwrap() < 1.5, "{last}");

    let (said, out) = run.end();
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(
        said.err.contains("were simulated, with 2 actions; tables and log are in"),
        "{}",
        said.err
    );
    assert!(out.join("flows.csv").is_file());
    let lines = log(&out);
    assert_eq!(lines.len(), 4);
    let fingerprint = lines[3]["end"].as_str().unwrap();

    // Again, on two threads, into a folder of its own.
    let (replay, path) = (place("live-replay"), out.join("actions.jsonl"));
    let words =
        ["live", "live.toml", "--until", "3600s", "--replay", word(&path), "--out", word(&replay)];
    let said = floodway(&[&words[..], &["--threads", "2"]].concat());
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.err.contains(&format!("fingerprint {fingerprint}")), "{}", said.err);
    for table in ["flows.csv", "queues.csv"] {
        let of = |folder: &Path| fs::read(folder.join(table)).unwrap();
        assert!(of(&out) == of(&replay), "{table}");
    }
    // Other settings are another run.
    let said = floodway(&[&words[..], &["--force", "--set", "seed=2"]].concat());
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("the log is of another version of the scenario"), "{}", said.err);
    // A log that somebody has changed.
    let changed = fs::read_to_string(&path).unwrap().replace("\"count\":2", "\"count\":1");
    fs::write(&path, changed).unwrap();
    let said = floodway(&[&words[..], &["--force"]].concat());
    assert_eq!(said.code, Some(1));
    assert!(
        said.err.contains(&format!(
            "the run had the fingerprint {fingerprint}, and its repetition has"
        )),
        "{}",
        said.err
    );
}

#[test]
fn what_is_no_request_does_no_harm() {
    let run = Running::begin("live-hostile", &["--speed", "5", "--quiet"]);
    let host = run.address.clone();
    let says = |body: &str| run.post(body);
    assert_eq!(says("").0, 400);
    assert_eq!(
        says("{\"flows\":"),
        (400, "EOF while parsing a value at line 1 column 9: expected a command such as {\"pause\": true}".to_owned())
    );
    assert!(
        says(r#"{"reboot":true}"#)
            .1
            .starts_with("unknown variant `reboot`, expected one of `flows`")
    );
    assert!(
        says(r#"{"flows":{"kind":"cubic","count":-1}}"#)
            .1
            .starts_with("invalid value: integer `-1`")
    );
    assert_eq!(
        says(r#"{"flows":{"kind":"cubic","count":4000000000}}"#),
        (400, "4000000000 flows of kind `cubic` are too many: at most 200 are possible".to_owned())
    );
    assert!(
        says(r#"{"management":"reno"}"#)
            .1
            .starts_with("switches cannot be those of `reno`: its hosts differ")
    );
    assert_eq!(says(r#"{"port":9999}"#).0, 400);
    assert_eq!(
        says(r#"{"speed":1e99}"#),
        (400, format!("the speed is {}: it must be from 0.01 to 1000", 1e99))
    );
    assert_eq!(run.get("/state?since=-1").0, 400);
    // A number beyond the last sample: nothing is new.
    assert_eq!(run.state("?since=18446744073709551615")["samples"], json!([]));
    assert_eq!(
        (run.get("/etc/passwd").0, run.get("/../Cargo.toml").0, run.get("/do").0),
        (404, 404, 405)
    );
    for path in ["/", "/live.js", "/live.css", "/uplot.js", "/uplot.css"] {
        assert_eq!(run.get(path).0, 200, "{path}");
    }
    // A page of another site, directly or by a name that points here, may not steer.
    let post = |host: &str, more: &str| {
        let text = format!(
            "POST /do HTTP/1.1\r\nHost: {host}\r\nContent-Length: 12\r\n{more}\r\n{{\"end\":null}}"
        );
        run.send(text.as_bytes()).0
    };
    assert_eq!(post("example.org", "Content-Type: application/json\r\n"), 403);
    assert_eq!(
        post(&host, "Content-Type: application/json\r\nOrigin: http://example.org\r\n"),
        403
    );
    assert_eq!(post(&host, "Content-Type: text/plain\r\n"), 403);
    assert_eq!(run.send(b"\x16\x03\x01\x00\xff\x01\x00\r\n\r\n").0, 400);
    // Too long; the rest is not read, so that the response may not arrive.
    for text in
        [vec![b'a'; 20_000], [b"GET / HTTP/1.1\r\nX: ".as_slice(), &[b'a'; 20_000]].concat()]
    {
        let status = run.send(&text).0;
        assert!([0, 413].contains(&status), "{status}");
    }
    // Connections that send nothing, or not all, and stay, and one that goes away; the run goes on meanwhile.
    let stays: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(&host).unwrap()).collect();
    let mut half = TcpStream::connect(&host).unwrap();
    half.write_all(format!("POST /do HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{{").as_bytes()).unwrap();
    drop(TcpStream::connect(&host).unwrap());
    let time = run.state("")["now"]["time_s"].as_f64().unwrap();
    run.wait(time + 1.0);
    drop((stays, half));
    // Nothing of this was an action.
    assert_eq!(run.state("")["actions"], json!([]));
    let (said, out) = run.end();
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert_eq!(log(&out).len(), 2);
}

#[test]
fn what_cannot_begin_is_refused() {
    let says = |words: &[&str]| {
        let said = floodway(&[&["live"], words].concat());
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{}", said.err);
        said.err
    };
    let run = Running::begin("live-port", &["--speed", "0.01", "--quiet"]);
    let port = run.address.rsplit_once(':').unwrap().1;
    let other = place("live-other");
    let err = says(&["live.toml", "--port", port, "--out", word(&other)]);
    assert!(
        err.contains(&format!(
            "port {port} of this machine is in use; choose another one with `--port`"
        )),
        "{err}"
    );
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("mine.txt"), "mine").unwrap();
    let err = says(&["live.toml", "--out", word(&other)]);
    assert!(
        err.contains(
            "has files already; choose another folder with `--out`, or replace them with `--force`"
        ),
        "{err}"
    );
    let err = says(&[
        "live.toml",
        "--replay",
        word(&other.join("mine.txt")),
        "--out",
        word(&place("live-none")),
    ]);
    assert!(err.contains("mine.txt`, line 1: expected value at line 1 column 1"), "{err}");
    let err = says(&["live.toml", "--replay", "nothing.jsonl", "--out", word(&place("live-none"))]);
    assert!(err.contains("cannot read `nothing.jsonl`"), "{err}");
    let err = says(&["live.toml", "--speed", "0"]);
    assert!(err.contains("expected a number from 0.01 to 1000, or `max`"), "{err}");
    let err = says(&["live.toml", "--variant", "tail", "--variant", "dualq"]);
    assert!(err.contains("give `--variant` once"), "{err}");
    let err = says(&["live.toml", "--until", "soon"]);
    assert!(err.contains("soon"), "{err}");
    let err = says(&["tiny.toml", "--out", word(&place("live-none"))]);
    assert!(err.contains("has long-lived flows that could come and go"), "{err}");
    // Beside a long-lived flow, three thousand million others: they are refused before they are made.
    let many = "workload=[{ long_flows = { count = 1, from = \"0\", to = \"4\" } }, { poisson = { \
                flows_per_second = 5000000, from = \"1\", to = \"2\", sizes = \"web_search\", max_size = \"1KB\" } }]";
    let fast = "topology.dumbbell.host_rate=\"50Gbps\"";
    // What the third variant changes is in workloads that are not there now.
    let text = fs::read_to_string(crate::common::scenarios().join("live.toml")).unwrap();
    let text = text.split("[variants.reno").next().unwrap();
    let file = other.join("many.toml");
    fs::write(&file, text).unwrap();
    let err =
        says(&[word(&file), "--out", word(&place("live-none")), "--set", many, "--set", fast]);
    assert!(err.contains("1 run needs roughly"), "{err}");
    assert_eq!(run.end().0.code, Some(0));
}

/// It also ends at its time limit, and with a signal, and keeps its results.
#[test]
#[cfg(unix)]
fn a_run_ends_by_itself_and_with_a_signal() {
    let mut run = Running::begin("live-limit", &["--speed", "max", "--until", "2s"]);
    let said = said(run.child.take().unwrap().wait_with_output().unwrap());
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.err.contains("2s were simulated, with 0 actions"), "{}", said.err);
    assert_eq!(log(&run.out)[1]["at_ns"], 2_000_000_000_u64);
    let mut run = Running::begin("live-signal", &[]);
    run.wait(0.2);
    let child = run.child.take().unwrap();
    crate::common::send("-INT", &child);
    let said = crate::common::said(child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(run.out.join("actions.jsonl").is_file());
}
