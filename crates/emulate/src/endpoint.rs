//! The backend of a host that is a kernel.

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use floodway_lab::Started;
use floodway_lab::capture::Addresses;
use floodway_model::{Instant, NodeId};
use floodway_sim::Spec;
use floodway_sim::kernel::{Backend, Kernel, Order, Outgoing};
use floodway_wire::{Mac, ip};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::Trouble;
use crate::clock::{Clock, EPOCH};
use crate::control::{self, Said};
use crate::frame;
use crate::nic::{Asks, Nic};
use crate::process::{Process, Start, tail};
use crate::report::{Account, files};
use crate::script::{Neighbor, hosts, script};

type Result<T> = std::result::Result<T, String>;

/// Starts the kernels of a simulation.
pub fn start(kernel: &Path, spec: &Spec, trouble: &Arc<Trouble>) -> Result<Started> {
    let addresses = Addresses::of(&spec.graph);
    let numbers: BTreeMap<NodeId, u32> = spec.graph.first_ports().zip(0..).collect();
    let of = |kernel: &Kernel| {
        let (ip, mac) = (addresses.ip(kernel.host), addresses.mac(kernel.host));
        Neighbor { number: numbers[&kernel.host], ip, mac }
    };
    let neighbors: Vec<Neighbor> = spec.kernels.iter().map(of).collect();
    let macs: Arc<BTreeMap<Mac, NodeId>> =
        Arc::new(neighbors.iter().zip(&spec.kernels).map(|(of, one)| (of.mac, one.host)).collect());
    let ips: Arc<BTreeMap<NodeId, Ipv4Addr>> =
        Arc::new(neighbors.iter().zip(&spec.kernels).map(|(of, one)| (one.host, of.ip)).collect());
    let table = hosts(&neighbors);
    let accounts: Arc<Mutex<Vec<Account>>> = Arc::default();
    let mut backends: Vec<Box<dyn Backend>> = Vec::new();
    for (here, one) in neighbors.iter().zip(&spec.kernels) {
        let name = spec.graph.node(one.host).name.clone();
        let failed =
            |error: &dyn std::fmt::Display| format!("{name}: the kernel does not start: {error}");
        let start = Start {
            kernel,
            script: &script(one, here.number, &neighbors, EPOCH),
            hosts: &table,
            command: &one.command,
            words: [format!("seed={}", spec.seed), format!("host={}", here.number)],
        };
        let process = Process::start(&start).map_err(|error| failed(&error))?;
        let account = Account {
            host: name.clone(),
            number: here.number,
            address: Some(here.ip),
            command: one.command.clone(),
            ..Account::default()
        };
        let hosts = Hosts { here: *here, macs: macs.clone(), ips: ips.clone() };
        let endpoint = Endpoint::new(process, hosts, account, accounts.clone(), trouble.clone());
        backends.push(Box::new(endpoint.map_err(|error| failed(&error))?));
    }
    let files = Box::new(move || {
        let mut accounts = accounts.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.sort_by_key(|one| one.number);
        files(&accounts)
    });
    Ok(Started { backends, files })
}

/// The hosts that are kernels.
#[derive(Debug)]
struct Hosts {
    /// The one that this is.
    here: Neighbor,
    macs: Arc<BTreeMap<Mac, NodeId>>,
    ips: Arc<BTreeMap<NodeId, Ipv4Addr>>,
}

/// A kernel, its clock and its NIC.
#[derive(Debug)]
struct Endpoint {
    clock: Clock,
    nic: Option<Nic>,
    process: Process,
    /// When it wants to run next, in nanoseconds; `None` if never.
    request: Option<u64>,
    /// Buffers of frames that have not left the NIC of the simulation.
    held: VecDeque<u16>,
    /// Whether it waits for word of frames that were not sent.
    refused: bool,
    /// Whether its program can be asked for long-lived flows.
    takes_orders: bool,
    hosts: Hosts,
    /// What it has sent since the last call.
    sent: Vec<Outgoing>,
    account: Account,
    accounts: Arc<Mutex<Vec<Account>>>,
    trouble: Arc<Trouble>,
    failed: bool,
}

/// Waits until one of these has something to be read. Returns its place. Fails if the run is to stop.
fn wait(sockets: &[BorrowedFd<'_>], trouble: &Trouble) -> Result<usize> {
    let mut polled: Vec<PollFd<'_>> =
        sockets.iter().map(|socket| PollFd::from_borrowed_fd(*socket, PollFlags::IN)).collect();
    let (patience, begun) = (trouble.patience, std::time::Instant::now());
    // The flag that stops runs is looked at in between.
    let moment = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    loop {
        match poll(&mut polled, Some(&moment)) {
            Ok(0) if trouble.is_stopped() => return Err("the run was stopped".to_owned()),
            Ok(0) if begun.elapsed().as_secs() < patience.into() => continue,
            Ok(0) => {
                return Err(format!(
                    "it computes for {patience} s already, which takes no simulated time; end the program that does, or \
                     allow more with `--patience SECONDS`"
                ));
            }
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(format!("it cannot be waited for: {error}")),
        }
        let ready = polled.iter().position(|one| !one.revents().is_empty());
        return ready.ok_or_else(|| "it cannot be waited for".to_owned());
    }
}

/// The next connection.
fn accept(listener: &UnixListener, patience: u32, process: &mut Child<'_>) -> Result<UnixStream> {
    // It may end before it connects, which no socket shows.
    for _ in 0..patience.saturating_mul(10) {
        let mut polled = [PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN)];
        let moment = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        if matches!(poll(&mut polled, Some(&moment)), Ok(1..)) {
            let connected =
                listener.accept().map_err(|error| format!("it cannot connect: {error}"))?;
            return Ok(connected.0);
        }
        if let Some(status) = process() {
            return Err(format!("it has ended with {status}"));
        }
    }
    Err(format!("it has not connected to its clock for {patience} s"))
}

/// How a process has ended, if it has.
type Child<'a> = dyn FnMut() -> Option<std::process::ExitStatus> + 'a;

impl Endpoint {
    /// Lets a kernel boot until it waits for its first turn.
    fn new(
        mut process: Process,
        hosts: Hosts,
        account: Account,
        accounts: Arc<Mutex<Vec<Account>>>,
        trouble: Arc<Trouble>,
    ) -> Result<Self> {
        let listener = process.clock.try_clone().map_err(|error| error.to_string())?;
        let stream = accept(&listener, trouble.patience, &mut || process.ended());
        let clock =
            stream.and_then(Clock::greet).map_err(|error| Self::explain(&process, &error))?;
        let mut endpoint = Self {
            clock,
            nic: None,
            process,
            request: None,
            held: VecDeque::new(),
            refused: false,
            takes_orders: false,
            hosts,
            sent: Vec::new(),
            account,
            accounts,
            trouble,
            failed: false,
        };
        let waits = endpoint.until_it_waits();
        waits.map_err(|error| Self::explain(&endpoint.process, &error))?;
        Ok(endpoint)
    }

    /// An error with the end of the console.
    fn explain(process: &Process, error: &str) -> String {
        match tail(&process.console()) {
            console if console.is_empty() => error.to_owned(),
            console => format!("{error}; its console ends with: {console}"),
        }
    }

    /// Serves the kernel until it waits.
    fn until_it_waits(&mut self) -> Result<()> {
        while !self.clock.waiting {
            self.serve()?;
        }
        self.request = self.clock.request()?;
        Ok(())
    }

    /// Handles a message. Those of the NIC come first, because the kernel waits for their answers.
    fn serve(&mut self) -> Result<()> {
        let nic = match &self.nic {
            Some(nic) => nic.socket(),
            None => self.process.nic.as_fd(),
        };
        if wait(&[nic, self.clock.socket()], &self.trouble)? == 1 {
            return self.clock.serve();
        }
        let Some(nic) = &mut self.nic else {
            let (stream, _) = self
                .process
                .nic
                .accept()
                .map_err(|error| format!("its NIC cannot connect: {error}"))?;
            self.nic = Some(Nic::new(stream, self.hosts.here.mac));
            return Ok(());
        };
        if let Asks::Kick(answer) = nic.serve()? {
            self.take_frames()?;
            // What follows from the frames comes at the earliest now.
            self.clock.hold(self.clock.now)?;
            if let Some(nic) = &mut self.nic {
                nic.answer_kick(answer)?;
            }
        }
        Ok(())
    }

    /// Takes what the kernel sends now.
    fn take_frames(&mut self) -> Result<()> {
        let now = self.clock.read()?;
        let Some(nic) = &mut self.nic else { return Ok(()) };
        while let Some((head, octets)) = nic.take()? {
            if let Some(said) = control::said(&octets) {
                nic.give_back(head)?;
                self.refused = true;
                match said {
                    Said::Ready => self.takes_orders = true,
                    Said::Trouble(text) => {
                        self.trouble.report(format!("{}: {text}", self.account.host));
                    }
                    Said::Nothing => {}
                }
                continue;
            }
            let Some(header) = frame::header(&octets, &self.hosts.macs) else {
                self.account.counters.unaddressed += 1;
                nic.give_back(head)?;
                self.refused = true;
                continue;
            };
            let counters = &mut self.account.counters;
            count(&mut counters.sent, &octets);
            counters.add(&now.to_le_bytes());
            counters.add(&octets);
            self.held.push_back(head);
            let at = Instant(now.saturating_mul(1_000));
            self.sent.push(Outgoing { at, octets: octets.into(), header });
        }
        Ok(())
    }

    /// Interrupts the kernel, which waits, if it wants that.
    fn interrupt(&mut self, received: bool, now: u64) -> Result<()> {
        let Some(nic) = &mut self.nic else { return Ok(()) };
        let Some(queue) = nic.wants_interrupt(received)? else { return Ok(()) };
        self.clock.set(now)?;
        nic.interrupt(queue)?;
        loop {
            let Some(back) = nic.back() else { return Ok(()) };
            if wait(&[self.clock.socket(), back], &self.trouble)? == 1 {
                break;
            }
            self.clock.serve()?;
        }
        nic.interrupted()?;
        self.request = self.clock.request()?;
        Ok(())
    }

    fn try_run(&mut self, limit: Instant) -> Result<()> {
        let Some(at) = self.request else { return Ok(()) };
        self.clock.run(at.max(self.clock.now), limit.0.div_ceil(1_000))?;
        self.until_it_waits()?;
        let now = self.clock.read()?;
        match std::mem::take(&mut self.refused) {
            true => self.interrupt(false, now),
            false => Ok(()),
        }
    }

    fn try_receive(&mut self, octets: &[u8], marked: bool, now: u64) -> Result<()> {
        let mut octets = octets.to_vec();
        if marked {
            ip::mark(&mut octets);
        }
        let counters = &mut self.account.counters;
        counters.add(&now.to_le_bytes());
        counters.add(&octets);
        let delivered = match &mut self.nic {
            Some(nic) => nic.deliver(&octets)?,
            None => false,
        };
        if !delivered {
            counters.no_buffer += 1;
            return Ok(());
        }
        count(&mut counters.received, &octets);
        self.interrupt(true, now)
    }

    fn try_transmitted(&mut self, now: u64) -> Result<()> {
        let (Some(head), Some(nic)) = (self.held.pop_front(), &mut self.nic) else { return Ok(()) };
        nic.give_back(head)?;
        self.interrupt(false, now)
    }

    fn try_order(&mut self, order: Order, now: u64) -> Result<()> {
        if !self.takes_orders {
            return Err(
                "it was asked for a long-lived flow before it was up: give it a later `start`"
                    .to_owned(),
            );
        }
        let (Order::Start(flow) | Order::Stop(flow)) = order;
        let octets = control::frame_of(order, self.hosts.ips[&flow.to], self.hosts.here);
        let counters = &mut self.account.counters;
        counters.add(&now.to_le_bytes());
        counters.add(&octets);
        let delivered = match &mut self.nic {
            Some(nic) => nic.deliver(&octets)?,
            None => false,
        };
        if !delivered {
            return Err("it has no room for a request for a long-lived flow".to_owned());
        }
        self.interrupt(true, now)
    }

    /// Ends the run if something is wrong.
    fn judge(&mut self, result: Result<()>) {
        let Err(error) = result else { return };
        self.failed = true;
        // Somebody has interrupted the run, or another kernel has failed and is reported.
        if self.trouble.is_stopped() {
            return;
        }
        // A kernel that has ended is known by its closed sockets.
        let ended = self.process.ends().map(|status| format!("the kernel has ended with {status}"));
        let error = ended.unwrap_or_else(|| format!("the kernel has failed: {error}"));
        let text = Self::explain(&self.process, &error);
        self.trouble.report(format!("{}: {text}", self.account.host));
    }
}

fn count(counters: &mut (u64, u64), octets: &[u8]) {
    counters.0 += 1;
    counters.1 += octets.len() as u64;
}

impl Backend for Endpoint {
    fn next(&self) -> Instant {
        match self.request {
            Some(at) if !self.failed && at < u64::MAX / 1_000 => Instant(at * 1_000),
            _ => Instant::NEVER,
        }
    }

    fn run(&mut self, limit: Instant, sent: &mut Vec<Outgoing>) {
        let result = self.try_run(limit);
        self.judge(result);
        sent.append(&mut self.sent);
    }

    fn receive(&mut self, octets: &[u8], marked: bool, now: Instant) {
        if !self.failed {
            let result = self.try_receive(octets, marked, now.0 / 1_000);
            self.judge(result);
        }
    }

    fn transmitted(&mut self, now: Instant) {
        if !self.failed {
            let result = self.try_transmitted(now.0 / 1_000);
            self.judge(result);
        }
    }

    fn order(&mut self, order: Order, now: Instant) {
        if !self.failed {
            let result = self.try_order(order, now.0 / 1_000);
            self.judge(result);
        }
    }

    /// A command that has failed is reported.
    fn look(&mut self) {
        let failed = self.process.status().filter(|status| *status != 0 && !self.failed);
        let Some(status) = failed else { return };
        let said = match tail(&self.process.output()) {
            output if output.is_empty() => "it has printed nothing".to_owned(),
            output => format!("its output ends with: {output}"),
        };
        self.trouble.report(format!(
            "{}: the command has ended with status {status}; {said}",
            self.account.host
        ));
    }
}

impl Drop for Endpoint {
    /// The run has ended: what the command has said so far is kept.
    fn drop(&mut self) {
        self.look();
        let mut account = std::mem::take(&mut self.account);
        account.status = self.process.status();
        account.output = self.process.output();
        account.console = self.process.console();
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner).push(account);
    }
}
