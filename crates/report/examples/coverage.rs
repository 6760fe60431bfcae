#[path = "../tests/coverage/experiments.rs"]
mod experiments;
fn main() { print!("{}", experiments::dump(std::env::args().nth(1).map_or(4000, |n| n.parse().unwrap()))); }
