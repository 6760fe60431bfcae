#![no_main]

use floodway_attack::readers;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| readers::flows_csv(bytes));
