//! The program as a user has it: one file for each subject, and one program for all of them, because linking takes
//! longer than testing.

#[cfg(unix)]
mod applications;
mod budget;
mod chart;
mod claims;
mod commands;
mod common;
mod compare;
#[cfg(unix)]
mod crash;
#[cfg(unix)]
mod emulate;
mod fct;
mod guide;
mod headroom;
mod hostile;
mod import;
mod live;
mod live_kernels;
mod new;
mod new_algorithm;
#[cfg(unix)]
mod ownership;
mod pages;
mod pcap;
mod peers;
mod profile;
mod results;
mod resume;
mod shell;
#[cfg(unix)]
mod signals;
#[cfg(target_os = "linux")]
mod streams;
mod study;
mod sweep;
mod why;
