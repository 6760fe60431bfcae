//! The process of a kernel: User Mode Linux in a directory of its own, with a process group of its own, which ends with it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::script::{COMMAND, CONSOLE, HOSTS, OUTPUT, SCRIPT, STATUS};

/// Memory of a kernel. It takes of this what it uses.
const MEMORY: &str = "mem=512M";
/// Sockets in its directory: its clock and its NIC.
const CLOCK: &str = "clock";
const NIC: &str = "nic";
/// What a kernel says of each console and serial line that it does not have.
const NO_CONSOLE: [&str; 2] =
    ["Using a channel type which is configured out of UML", "setup_one_line failed for device"];
/// How much of a text is in messages.
const SHOWN: usize = 600;

/// A directory that is removed at the end.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// A new one for temporary files, that nobody else can read.
    pub fn new() -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("floodway-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match fs::create_dir(&path) {
                Ok(()) => {
                    fs::set_permissions(&path, fs::Permissions::from_mode(0o700))?;
                    return Ok(Self(path));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed stays among the temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A kernel that runs.
#[derive(Debug)]
pub struct Process {
    child: Child,
    folder: Folder,
    /// Where it connects its clock and its NIC.
    pub clock: UnixListener,
    /// The same for its NIC.
    pub nic: UnixListener,
}

/// What a kernel is started with.
#[derive(Debug)]
pub struct Start<'a> {
    /// The directory of the kernel's programs.
    pub kernel: &'a Path,
    /// Its first program, the table of hosts, and the command.
    pub script: &'a str,
    /// The table of hosts.
    pub hosts: &'a str,
    /// The command.
    pub command: &'a str,
    /// Words of its command line that make its random numbers others than those of other kernels.
    pub words: [String; 2],
}

impl Process {
    /// Starts a kernel.
    pub fn start(start: &Start<'_>) -> io::Result<Self> {
        let folder = Folder::new()?;
        let path = folder.path();
        fs::write(path.join(SCRIPT), start.script)?;
        fs::set_permissions(path.join(SCRIPT), fs::Permissions::from_mode(0o755))?;
        fs::write(path.join(HOSTS), start.hosts)?;
        fs::write(path.join(COMMAND), start.command)?;
        fs::copy(start.kernel.join("endpoint"), path.join("endpoint"))?;
        let clock = UnixListener::bind(path.join(CLOCK))?;
        let nic = UnixListener::bind(path.join(NIC))?;
        let console = File::create(path.join(CONSOLE))?;
        // The command line is part of the seed of the kernel's random numbers, so it has no path of this run.
        let child = Command::new(start.kernel.join("linux"))
            .args([MEMORY, "rootfstype=hostfs", "rootflags=/", "ro", "panic=-1"])
            .arg(format!("time-travel=ext:0:{CLOCK}"))
            .arg(format!("virtio_uml.device={NIC}:1"))
            .arg(format!("init=/proc/self/cwd/{SCRIPT}"))
            .args(["umid=kernel", "uml_dir=./"])
            .args(&start.words)
            .current_dir(path)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(console.try_clone()?)
            .stderr(console)
            .process_group(0)
            .spawn()?;
        Ok(Self { child, folder, clock, nic })
    }

    /// How it has ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// The same, of one that has closed its sockets and may be about to end.
    pub fn ends(&mut self) -> Option<ExitStatus> {
        for _ in 0..100 {
            if let Some(status) = self.ended() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }

    /// A file of its directory; what is not UTF-8 is replaced.
    fn text(&self, name: &str) -> String {
        let octets = fs::read(self.folder.path().join(name)).unwrap_or_default();
        String::from_utf8_lossy(&octets).into_owned()
    }

    /// What it has printed, without its complaints about consoles that it does not have.
    pub fn console(&self) -> String {
        let text = self.text(CONSOLE);
        let lines = text.lines().map(str::trim_end);
        let said = lines.filter(|line| !NO_CONSOLE.iter().any(|words| line.starts_with(words)));
        said.flat_map(|line| [line, "\n"]).collect()
    }

    /// What its command has printed.
    pub fn output(&self) -> String {
        self.text(OUTPUT)
    }

    /// The exit status of its command; `None` if that has not ended.
    pub fn status(&self) -> Option<i32> {
        self.text(STATUS).trim().parse().ok()
    }
}

/// The end of a text, on one line.
pub fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut shown = String::new();
    for line in lines.iter().rev() {
        if shown.len() + line.len() > SHOWN {
            break;
        }
        shown = if shown.is_empty() { (*line).to_owned() } else { format!("{line} | {shown}") };
    }
    shown
}

impl Drop for Process {
    fn drop(&mut self) {
        // The group has the processes of the kernel's programs too. That it is gone already is no error.
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_the_last_whole_lines() {
        assert_eq!(tail("first\n\n  second  \nthird\n"), "first | second | third");
        let long = format!("{}\nlast", "x".repeat(SHOWN));
        assert_eq!(tail(&long), "last");
        assert_eq!(tail(""), "");
    }

    #[test]
    fn folders_are_apart_and_removed() {
        let (one, other) = (Folder::new().unwrap(), Folder::new().unwrap());
        let paths = [one.path().to_owned(), other.path().to_owned()];
        assert_ne!(paths[0], paths[1]);
        assert!(paths.iter().all(|path| path.is_dir()));
        drop((one, other));
        assert!(!paths.iter().any(|path| path.exists()));
    }
}
