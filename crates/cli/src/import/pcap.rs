//! `floodway import pcap`: writes the scenario and the files of flows, and says what became of the frames.

use std::path::PathBuf;

use floodway_model::Duration;
use floodway_model::check::count_of;
use floodway_scenario::import::pcap::{self, Account, Imported, SCENARIO, Transport, Unfit};
use floodway_scenario::{Overrides, Scenario};

use super::{name, write};
use crate::failure::Failure;
use crate::options::PcapOptions;
use crate::{output, selection};

/// Imports a capture.
pub fn import(options: &PcapOptions) -> Result<(), Failure> {
    let stem = || options.file.file_stem().unwrap_or_default().into();
    let folder: PathBuf = options.out.clone().unwrap_or_else(stem);
    if options.idle == Duration(0) {
        return Err(Failure::Unknown(
            "--idle 0s: every frame would be a flow; give the time after which a connection is \
             idle, such as 1s"
                .to_owned(),
        ));
    }
    let read = pcap::import(&options.file, &name(&folder, "capture"), options.idle);
    let imported = read.map_err(|Unfit(problem)| Failure::Unknown(problem))?;
    let inputs = [options.file.clone()];
    let Imported { scenario, files, .. } = &imported;
    let path = write(&folder, (SCENARIO, scenario), files, &inputs, options.force)?;
    selection::warn(Scenario::load(&path, &Overrides::default())?.warnings());
    let shown = output::path(&path);
    output::print(&format!("{}{shown}: run it with `floodway run {shown}`\n", words(&imported)))
}

/// What was taken over and what was not.
fn words(imported: &Imported) -> String {
    let Imported { flows, hosts, account, .. } = imported;
    let mut text = format!(
        "Taken over: {} between {} in {} of {} frames\n",
        count_of(flows.len() as u64, "flow"),
        count_of(hosts.len() as u64, "host"),
        account.of_flows,
        account.frames
    );
    for transport in Transport::ALL {
        let of = flows.iter().filter(|flow| flow.transport == transport);
        let (count, bytes) =
            of.fold((0_u64, 0), |(count, bytes), flow| (count + 1, bytes + flow.bytes));
        if count > 0 {
            let name = transport.name();
            text += &format!("  {name:6}  {}, {bytes} bytes\n", count_of(count, "flow"));
        }
    }
    text + &left_out(account)
}

fn left_out(account: &Account) -> String {
    let rows = account.left_out();
    let rows: Vec<_> = rows.iter().filter(|(count, _)| *count > 0).collect();
    if rows.is_empty() {
        return String::new();
    }
    let lines = rows.iter().map(|(count, what)| format!("  {count} frames {what}\n"));
    format!(
        "Left out, with the network and its reactions to congestion\n{}\n",
        lines.collect::<String>()
    )
}
