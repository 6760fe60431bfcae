//! The profiles that are part of the program: the files in `profiles`.

use std::sync::{Arc, LazyLock};

use super::DeviceProfile;
use crate::text::{Source, suggest};

macro_rules! files {
    ($($folder:literal: $($name:literal)+;)+) => {
        &[$($(($name, include_str!(concat!("../../../../profiles/", $folder, "/", $name, ".toml"))),)+)+]
    };
}

/// Names and texts.
const FILES: &[(&str, &str)] = files! {
    "switch": "arista-7050cx3" "arista-7060cx" "arista-7060x6" "arista-7260cx3" "dell-s6100" "dell-z9332f"
        "mellanox-sn2700" "mellanox-sn4600c" "nexthop-4010" "nexthop-4210" "nvidia-sn5610n";
    "nic": "connectx-4-lx" "connectx-5" "connectx-6-dx" "connectx-7";
};

static SHIPPED: LazyLock<Vec<DeviceProfile>> = LazyLock::new(|| {
    let read = |(name, text): &(&str, &str)| {
        let source = Arc::new(Source::new(format!("profile {name}"), (*text).to_owned()));
        match DeviceProfile::parse(name, &source) {
            Ok(profile) => profile,
            Err(error) => panic!("{}", error.plain()),
        }
    };
    FILES.iter().map(read).collect()
});

/// All of them: switches, then NICs.
pub fn shipped() -> &'static [DeviceProfile] {
    &SHIPPED
}

/// The profile of a name. Fails with what is wrong and the remedy.
pub fn find(name: &str) -> Result<DeviceProfile, (String, String)> {
    let found = shipped().iter().find(|profile| profile.name == name);
    found.cloned().ok_or_else(|| {
        let names: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        let help = suggest::remedy(name, "profiles", &names);
        (
            format!("there is no profile `{name}`"),
            format!("{help}. A file of your own ends in .toml"),
        )
    })
}
