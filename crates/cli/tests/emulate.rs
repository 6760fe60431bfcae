//! Linux kernels as hosts. Without a kernel only what is refused is tested, and that is said.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::Duration;

use crate::common::{Said, command, floodway, place, said, send, word};

/// Whether there is a kernel; if not, that is said, and an error if `FLOODWAY_INSIST` asks for all tests with `kernel`.
pub fn kernel() -> bool {
    static THERE: LazyLock<bool> = LazyLock::new(|| {
        let out = place("emulate-probe");
        let said = floodway(&["emulate", "linux.toml", "--out", word(&out), "--quiet"]);
        cfg!(target_os = "linux") && !said.err.contains("there is no Linux kernel")
    });
    if !*THERE {
        assert_ne!(env::var("FLOODWAY_INSIST").as_deref(), Ok("kernel"), "there is no kernel");
        eprintln!("not tested: there is no kernel (oracle/build --endpoint)");
    }
    *THERE
}

/// Runs kernels with these settings; nothing of them is left afterwards.
pub fn emulate(name: &str, settings: &[&str], options: &[&str]) -> (Said, String) {
    emulate_until(name, settings, options, |_| ())
}

/// The same; `end` may end the program.
fn emulate_until(
    name: &str,
    settings: &[&str],
    options: &[&str],
    end: impl FnOnce(&Child),
) -> (Said, String) {
    let (out, temporary) = (place(name), place(&format!("{name}-tmp")));
    fs::create_dir_all(&temporary).unwrap();
    let mut words = vec!["emulate", "linux.toml", "--quiet", "--out", word(&out)];
    settings.iter().for_each(|setting| words.extend(["--set", setting]));
    words.extend(options);
    let mut program = command(&words);
    program.env("TMPDIR", &temporary).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = program.spawn().unwrap();
    end(&child);
    let said = said(child.wait_with_output().unwrap());
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "temporary files are left");
    let of_kernels = |entry: &fs::DirEntry| {
        fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&temporary))
    };
    let left = fs::read_dir("/proc").unwrap().flatten().filter(of_kernels).count();
    assert_eq!(left, 0, "processes are left");
    let output = fs::read_to_string(out.join("runs/base/0/output.txt")).unwrap_or_default();
    (said, output)
}

/// The table of kernels, by host: sent, received, not received, to nobody, exit status, hash.
fn table(name: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).join("runs/base/0/kernels.csv");
    let text = fs::read_to_string(path).unwrap();
    let row = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().skip(1).map(row).collect()
}

#[test]
fn what_cannot_be_emulated_is_refused() {
    let refuse = |words: &[&str]| {
        let said = floodway(words);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{}", said.err);
        said.err.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        refuse(&["run", "linux.toml"]),
        "error: hosts of variant `base` are Linux kernels ([workload.linux]), which are not simulated; run it with \
         `floodway emulate linux.toml`"
    );
    assert_eq!(
        refuse(&["emulate", "tiny.toml"]),
        "error: no host of variant `without-ci` is a Linux kernel; add [workload.linux] to a [[workload]], or simulate it \
         with `floodway run tiny.toml`"
    );
    assert_eq!(
        refuse(&["emulate", "linux.toml", "--resume"]),
        "error: `--resume` keeps runs whose settings have not changed, and what kernels do depends on files of this \
         machine too; replace all with `--force`"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_kernel_that_is_missing_is_reported_with_how_to_build_one() {
    let empty = place("emulate-empty");
    fs::create_dir_all(&empty).unwrap();
    let how = "`oracle/build --endpoint linux-source-6.12` in the sources of floodway builds one and prints its \
               directory (ten minutes, once); name another one with `--kernel DIR`";
    let text = |said: Said| {
        assert_eq!(said.code, Some(2));
        said.err.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let asked = floodway(&["emulate", "linux.toml", "--kernel", word(&empty)]);
    assert_eq!(text(asked), format!("error: `{}` has no program `linux`; {how}", empty.display()));
    let mut none = command(&["emulate", "linux.toml"]);
    let none = said(none.env("FLOODWAY_ORACLE", &empty).output().unwrap());
    assert_eq!(
        text(none),
        format!("error: there is no Linux kernel in `{}`; {how}", empty.display())
    );
}

/// Over three links of 40 Mb/s: 122 octets on each take 24,400 ns; with delays of 2 ms, 2 · (3 · 24,400 + 2,000,000).
/// The clock of the kernel has steps of 256 ns, and reading it takes one, before the request is sent and after the answer.
#[test]
fn a_ping_is_exact_to_the_nanosecond() {
    if !kernel() {
        return;
    }
    let (said, output) = emulate("emulate-ping", &[], &["--pcap", "host 0"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    let exact = 2 * (3 * 24_400 + 2_000_000);
    for line in output.lines().filter(|line| line.starts_with("ping ")) {
        let ns: u64 = line.split(' ').nth(2).unwrap().parse().unwrap();
        assert!((exact..exact + 3 * 256).contains(&ns), "{line}");
    }
    assert_eq!(output.matches("ping ").count() - output.matches("endpoint ping ").count(), 3);
    let rows = table("emulate-ping");
    let counted = |row: &[String]| row[3..10].join(",");
    assert_eq!(counted(&rows[0]), "3,294,3,294,0,0,0");
    assert_eq!(counted(&rows[1]), "3,294,3,294,0,0,");
    // On the wire, where a request begins and its answer ends.
    let capture =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulate-ping/runs/base/0/capture.pcapng");
    let fields =
        ["-T", "fields", "-e", "frame.time_epoch", "-e", "icmp.type", "-e", "icmp.checksum.status"];
    let Some(text) = crate::pcap::tshark(&capture, &fields) else { return };
    let frame = |line: &str| {
        let words: Vec<&str> = line.split('\t').collect();
        assert_eq!(words[2], "1", "the checksum is good: {line}");
        let digits: String = words[0].chars().filter(char::is_ascii_digit).collect();
        (words[1].to_owned(), digits.parse::<u64>().unwrap())
    };
    let frames: Vec<(String, u64)> = text.lines().map(frame).collect();
    assert_eq!(frames.len(), 6);
    for pair in frames.chunks(2) {
        assert_eq!((pair[0].0.as_str(), pair[1].0.as_str()), ("8", "0"));
        assert_eq!(pair[1].1 - pair[0].1, exact);
    }
}

/// A bulk flow from host 0 to host 2, with this congestion control.
fn bulk(name: &str, control: &str, settings: &[&str], threads: &str) -> (String, Vec<Vec<String>>) {
    let run = format!("workload.0.linux.run=\"endpoint send host-2 1.8 {control}\"");
    let serve = format!("workload.1.linux.run=\"endpoint serve 5001 {control}\"");
    let mut all = vec![run.as_str(), &serve];
    all.extend(settings);
    let (said, output) = emulate(name, &all, &["--threads", threads]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    (output, table(name))
}

/// A number of the line that says what came of a flow.
fn value(output: &str, before: &str, after: &str) -> f64 {
    let (_, rest) = output.split_once(before).unwrap_or_else(|| panic!("{output}"));
    rest.split_once(after).unwrap().0.trim().parse().unwrap_or_else(|_| panic!("{output}"))
}

/// 1448 octets of every 1538 are payload: 37.659 Mb/s. It takes a few round trips until the line is full.
#[test]
fn cubic_fills_a_line_the_same_on_one_thread_and_on_two() {
    if !kernel() {
        return;
    }
    let (output, once) = bulk("emulate-cubic", "cubic", &[], "1");
    let rate = value(&output, "cubic: ", " Mb/s");
    assert!((37.0..37.66).contains(&rate), "{output}");
    let (_, again) = bulk("emulate-cubic-again", "cubic", &[], "1");
    let (_, on_two) = bulk("emulate-cubic-two", "cubic", &[], "2");
    assert_eq!(once, again);
    assert_eq!(once, on_two);
    let (_, other) = bulk("emulate-cubic-seed", "cubic", &["seed=2"], "2");
    assert_ne!(once, other, "the seed changes the random numbers of kernels");
}

#[test]
fn dctcp_gets_the_marks_of_a_switch() {
    if !kernel() {
        return;
    }
    let step = ["topology.dumbbell.host_rate=1Gbps", "switch.aqm.step.threshold=15KB"];
    let (output, _) = bulk("emulate-dctcp", "dctcp", &step, "1");
    assert!(output.contains("ecn yes"), "{output}");
    assert!((36.0..37.66).contains(&value(&output, "dctcp: ", " Mb/s")), "{output}");
    assert!(value(&output, "again, ", " marked") > 100.0, "{output}");
    assert_eq!(value(&output, "segments sent, ", " again"), 0.0, "{output}");
}

#[test]
fn simulated_flows_cross_the_same_switches() {
    if !kernel() {
        return;
    }
    let out = place("emulate-mixed");
    let text = fs::read_to_string(crate::common::scenarios().join("linux.toml")).unwrap();
    let mixed = text
        + "[[workload]]\nname = \"simulated\"\n[workload.long_flows]\ncount = 1\nfrom = \"1\"\nto = \"3\"\n\
           [workload.transport.udp]\n[workload.congestion.constant_rate]\nrate = \"60Mbps\"\n";
    let file = out.with_extension("toml");
    fs::write(&file, mixed).unwrap();
    let run = "workload.0.linux.run=\"endpoint ping host-2 10 100 64 || true\"";
    let said = floodway(&["emulate", word(&file), "--set", run, "--quiet", "--out", word(&out)]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let output = fs::read_to_string(out.join("runs/base/0/output.txt")).unwrap();
    // Alone it would take 4,146,400 ns and up to 768 ns in the kernel: it waits for datagrams.
    assert!(value(&output, "ping 1 ", " ns") > 4_147_168.0, "{output}");
}

/// A failure ends the run, with what the kernel or the command has said.
#[test]
fn failures_of_kernels_and_commands_are_reported() {
    if !kernel() {
        return;
    }
    let fail = |name: &str, settings: &[&str], options: &[&str]| {
        let (said, _) = emulate(name, settings, options);
        assert_eq!(said.code, Some(1), "{}", said.err);
        let text = said.err.split_whitespace().collect::<Vec<_>>().join(" ");
        text.split_once("error: ").unwrap().1.to_owned()
    };
    assert_eq!(
        fail("emulate-status", &["workload.0.linux.run=\"echo hello; exit 3\""], &[]),
        "host 0: the command has ended with status 3; its output ends with: hello"
    );
    assert_eq!(
        fail("emulate-setting", &["workload.0.linux.congestion=nosuch"], &[]),
        "host 0: the command has ended with status 1; its output ends with: floodway: the kernel refuses the setting \
         net.ipv4.tcp_congestion_control"
    );
    let hangs = ["workload.0.linux.run=\"while :; do :; done\""];
    let text = fail("emulate-hang", &hangs, &["--patience", "2"]);
    let expected = "host 0: the kernel has failed: it computes for 2 s already, which takes no simulated time; end the \
                    program that does, or allow more with `--patience SECONDS`";
    assert!(text.starts_with(expected), "{text}");
    let text = fail("emulate-off", &["workload.0.linux.run=\"endpoint off\""], &[]);
    assert!(text.starts_with("host 0: the kernel has ended with "), "{text}");
    assert!(text.contains("its console ends with: ") && text.contains("Power down"), "{text}");
}

/// One that computes need not be waited for.
#[test]
fn an_interrupted_kernel_ends_at_once() {
    if !kernel() {
        return;
    }
    let busy = ["workload.0.linux.run=\"while :; do :; done\""];
    let (said, _) = emulate_until("emulate-interrupted", &busy, &[], |child| {
        sleep(Duration::from_secs(4));
        send("-TERM", child);
    });
    assert_eq!(said.code, Some(130), "{}", said.err);
    assert!(
        said.err.contains("note: interrupted: 0 of 1 runs ended by themselves"),
        "{}",
        said.err
    );
}
