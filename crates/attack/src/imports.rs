//! The importers of configurations, as readers: what they make has to be valid.

use std::fs;
use std::path::{Path, PathBuf};

use floodway_scenario::import::{hpcc, sonic};
use floodway_scenario::{Overrides, Scenario};

use crate::readers::{checked, explained, scratch, write};

/// Writes files into a new folder: the first has the given name, and after a line `---- NAME` follows another.
fn divided(bytes: &[u8], folder: &str, first: &str) -> Vec<PathBuf> {
    let folder = scratch().join(folder);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder for temporary files takes folders");
    let mut paths = vec![folder.join(first)];
    let mut file = Vec::new();
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let name = str::from_utf8(line).ok().and_then(|line| line.trim_end().strip_prefix("---- "));
        match name.and_then(|name| Path::new(name).file_name()) {
            Some(name) => {
                let _ = fs::write(&paths[paths.len() - 1], std::mem::take(&mut file));
                paths.push(folder.join(name));
            }
            None => file.extend_from_slice(line),
        }
    }
    let _ = fs::write(&paths[paths.len() - 1], file);
    paths
}

/// A configuration of the HPCC simulator. After a line `---- NAME` follows another file.
pub fn import_hpcc(bytes: &[u8]) {
    let folder = scratch().join("import");
    divided(bytes, "import", "config.txt");
    match hpcc::import(&folder.join("config.txt"), "imported") {
        Ok(imported) => {
            imported.warnings.iter().for_each(|warning| assert!(!warning.plain().is_empty()));
            for (name, text) in &imported.files {
                write(
                    &folder.join(Path::new(name).file_name().expect("it is a name")),
                    text.as_bytes(),
                );
            }
            let path = folder.join("imported.toml");
            write(&path, imported.scenario.as_bytes());
            let read = Scenario::load(&path, &Overrides::default());
            if let Err(error) = &read {
                panic!("what was imported is not valid: {}", error.plain());
            }
            checked(&read);
        }
        Err(error) => explained(&error),
    }
}

/// Configurations of switches with SONiC. After a line `---- NAME` follows another file. What is imported
/// changes nothing in the configurations that it is from.
pub fn import_sonic(bytes: &[u8]) {
    switches(&divided(bytes, "sonic", "config_db.json"));
}

/// A minigraph beside the configurations of two switches.
pub fn minigraph(bytes: &[u8]) {
    beside_switches("minigraph.xml", bytes);
}

/// What `lldpctl` prints as JSON, of one of two switches.
pub fn lldp_json(bytes: &[u8]) {
    beside_switches("leaf-1.lldp.json", bytes);
}

/// What `show lldp table` prints, of one of two switches.
pub fn lldp_table(bytes: &[u8]) {
    beside_switches("leaf-1.lldp.txt", bytes);
}

/// Two switches, of which the second names the first as its neighbor.
const LEAF: &str = include_str!("../../scenario/tests/sonic/right/leaf/config_db.json");
const SPINE: &str = include_str!("../../scenario/tests/sonic/right/spine/config_db.json");

fn beside_switches(name: &str, bytes: &[u8]) {
    let folder = scratch().join("neighbors");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder for temporary files takes folders");
    let leaf = LEAF.replace("DEVICE_NEIGHBOR", "NOT_READ");
    let files = [("leaf.json", leaf.as_bytes()), ("spine.json", SPINE.as_bytes()), (name, bytes)];
    let paths = files.map(|(name, bytes)| {
        let path = folder.join(name);
        write(&path, bytes);
        path
    });
    switches(&paths);
}

/// Imports switches. What is imported is valid, has a row for every field, and is no change of what it is from.
fn switches(paths: &[PathBuf]) {
    let options = sonic::Options::default();
    match sonic::import(paths, "imported", options) {
        Ok(imported) => {
            imported.warnings.iter().for_each(|warning| assert!(!warning.plain().is_empty()));
            assert_eq!(imported.fields, imported.accounted, "a field has no row");
            let read = Scenario::parse(&imported.scenario, "imported.toml", &Overrides::default());
            let scenario = match &read {
                Ok(scenario) => scenario,
                Err(error) => panic!("what was imported is not valid: {}", error.plain()),
            };
            let settings = &scenario.variants()[0].settings;
            let patches = sonic::patch::patches(settings, paths, options);
            let patches = patches.expect("what was read is read again");
            assert!(patches.switches.iter().all(|(_, operations)| operations.is_empty()));
            assert!(patches.unsaid.is_empty(), "{:?}", patches.unsaid);
            checked(&read);
        }
        Err(error) => explained(&error),
    }
}
