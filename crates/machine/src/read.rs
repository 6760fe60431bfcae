//! Reads files with a limit on their size. Anything but a regular file has no size that is known
//! before it is read, and a FIFO may never end.

use std::fs::{self, File, FileType};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use crate::memory;

/// Largest file size, in bytes, that can be read if its content takes `factor` times as much
/// memory: limited by the memory available to the process, or 1 TB if that is unknown.
pub fn limit(factor: u64) -> u64 {
    memory::room().map_or(1_000_000_000_000, |room| room.bytes / factor)
}

/// The bytes of a regular file of at most `limit` bytes. Errors say what is wrong:
/// [`ErrorKind::IsADirectory`], [`ErrorKind::InvalidInput`] if it is not a regular file,
/// [`ErrorKind::FileTooLarge`] with both sizes.
pub fn bytes(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    // Checked before the file is opened, because opening a FIFO blocks until its other end is
    // opened.
    let found = fs::metadata(path)?;
    if let Some(what) = kind(found.file_type()) {
        let kind = if found.is_dir() { ErrorKind::IsADirectory } else { ErrorKind::InvalidInput };
        return Err(io::Error::new(kind, format!("it is {what}, not a regular file")));
    }
    if found.len() > limit {
        return Err(too_large(found.len(), limit));
    }
    let mut bytes = Vec::with_capacity(found.len() as usize);
    // Some files, such as those in /proc, have content although they report a length of zero.
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(too_large(bytes.len() as u64, limit));
    }
    Ok(bytes)
}

/// Like [`bytes`], as text.
pub fn text(path: &Path, limit: u64) -> io::Result<String> {
    let invalid = |_| io::Error::new(ErrorKind::InvalidData, "it is not text in UTF-8");
    String::from_utf8(bytes(path, limit)?).map_err(invalid)
}

fn too_large(bytes: u64, limit: u64) -> io::Error {
    let text = format!(
        "it is larger than what is read of such a file: at least {} of at most {}",
        size(bytes),
        size(limit)
    );
    io::Error::new(ErrorKind::FileTooLarge, text)
}

/// Describes a file that is not a regular file.
fn kind(of: FileType) -> Option<&'static str> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if of.is_fifo() {
            return Some("a FIFO (a named pipe)");
        } else if of.is_socket() {
            return Some("a socket");
        } else if of.is_char_device() || of.is_block_device() {
            return Some("a device");
        }
    }
    match of {
        of if of.is_file() => None,
        of if of.is_dir() => Some("a directory"),
        _ => Some("something else"),
    }
}

/// A number of bytes to three digits: `67.1 MB`.
pub fn size(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, 0);
    const UNITS: [&str; 6] = ["B", "KB", "MB", "GB", "TB", "PB"];
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = if unit == 0 || value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(path: &str) -> (ErrorKind, String) {
        let error = bytes(Path::new(path), 10).unwrap_err();
        (error.kind(), error.to_string())
    }

    #[test]
    fn only_regular_files_are_read() {
        let (kind, text) = failed(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(
            (kind, &*text),
            (ErrorKind::IsADirectory, "it is a directory, not a regular file")
        );
        #[cfg(unix)]
        {
            let (kind, text) = failed("/dev/zero");
            assert_eq!(
                (kind, &*text),
                (ErrorKind::InvalidInput, "it is a device, not a regular file")
            );
        }
    }

    #[test]
    fn no_more_than_the_limit_is_read() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let length = fs::metadata(&path).unwrap().len();
        assert_eq!(bytes(&path, length).unwrap().len() as u64, length);
        let error = bytes(&path, length - 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert_eq!(
            error.to_string(),
            format!(
                "it is larger than what is read of such a file: at least {length} B of at most {} B",
                length - 1
            )
        );
        // It reports a length of zero bytes.
        #[cfg(target_os = "linux")]
        assert_eq!(failed("/proc/self/status").0, ErrorKind::FileTooLarge);
    }

    #[test]
    fn sizes_have_three_digits() {
        assert_eq!(
            [7, 999, 1_000, 67_108_864, 1_234_567_890].map(size),
            ["7 B", "999 B", "1.00 KB", "67.1 MB", "1.23 GB"]
        );
    }
}
