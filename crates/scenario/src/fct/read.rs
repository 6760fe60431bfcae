//! The reader.

use std::path::Path;
use std::sync::Arc;

use floodway_machine::printable::short;

use super::{Completion, LARGEST_NODE, address};
use crate::files::{Word, lines};
use crate::read::text_file;
use crate::text::{Error, Problem, Source};

const LINE: &str = "write the addresses of source and destination, their ports, bytes, and start, \
                    completion time and standalone time in nanoseconds: \
                    0b000001 0b000101 10000 100 1000 2000000000 4383 4252";

/// Reads a file.
pub fn load(path: &Path) -> Result<Vec<Completion>, Error> {
    let text = text_file(path, "completion", ".txt")?;
    let source = Arc::new(Source::new(path.display().to_string(), text));
    Ok(read(&source)?)
}

/// Reads the text of a file. One without any line has no flows: none has completed.
pub fn read(source: &Arc<Source>) -> Result<Vec<Completion>, Problem> {
    // What is written at last is cut if the simulator is ended while it writes.
    let whole = source.inner().is_empty() || source.inner().ends_with('\n');
    let all: Vec<_> = lines(source).collect();
    let mut completions = Vec::with_capacity(all.len());
    for (place, line) in all.iter().enumerate() {
        if !whole && place + 1 == all.len() {
            let message = "the last line has no end, so it may have been cut";
            let help =
                "remove it if the simulator was ended while it ran, or end it with a line feed";
            return Err(line.all.problem(message, help));
        }
        let words: Vec<Word<'_>> = line.words().collect();
        let &[src, dst, src_port, dst_port, bytes, start, fct, standalone] = words.as_slice()
        else {
            let message = format!("a completion has 8 numbers, and the line has {}", words.len());
            return Err(line.all.problem(message, LINE));
        };
        let completion = Completion {
            src: node(src, "the source")?,
            dst: node(dst, "the destination")?,
            src_port: src_port.whole("the source port")?,
            dst_port: dst_port.whole("the destination port")?,
            bytes: bytes.whole("the size")?,
            start_ns: start.whole("the start")?,
            fct_ns: fct.whole("the completion time")?,
            standalone_ns: standalone.whole("the standalone time")?,
        };
        if completion.fct_ns == 0 {
            let help = "no flow completes when it starts: check that the columns are in order";
            return Err(fct.problem("the completion time is 0", help));
        }
        if completion.start_ns.checked_add(completion.fct_ns).is_none() {
            let help = "check that the columns are in order";
            return Err(fct.problem("the end of the flow is beyond 2^64 ns", help));
        }
        completions.push(completion);
    }
    Ok(completions)
}

/// The node of an address.
fn node(word: Word<'_>, what: &str) -> Result<u32, Problem> {
    let digits = word.text.len() == 8 && word.text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let read = u32::from_str_radix(word.text, 16).ok().filter(|_| digits);
    let node = read.map(|ip| (ip >> 8) & LARGEST_NODE);
    node.filter(|&node| Some(address(node)) == read).ok_or_else(|| {
        let message = format!("{what} is `{}`, not the address of a node", short(word.text));
        let help = "write 0b, the number of the node in four hexadecimal digits, and 01: \
                    0b000301 is node 3";
        word.problem(message, help)
    })
}
