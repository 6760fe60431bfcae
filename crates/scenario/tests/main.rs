//! Scenarios, good and bad: one file for each subject, and one program for all of them, because linking takes longer
//! than testing.

mod buffer;
mod collectives;
mod composability;
mod custom;
mod deadlock;
mod derive;
mod derived;
mod device;
mod extremes;
mod failure;
mod families;
mod fct;
mod files;
mod hpcc_case_b;
mod import;
mod large;
mod line;
mod lint;
mod linux;
mod messages;
mod named;
mod overlays;
mod patterns;
mod pings;
mod profiles;
mod ranks;
mod renamed;
mod runs;
mod saturated;
mod schema;
mod shipped;
mod sonic;
mod sonic_classes;
mod source_flow_control;
mod traffic;
