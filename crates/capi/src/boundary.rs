//! The functions that C calls: all of the unsafe code of this crate.
//!
//! What keeps it sound, beside what `floodway.h` asks of callers (pointers are null or valid for what they point to, texts end
//! with a zero byte, a handle is used by one thread at a time and not after `floodway_free`):
//!
//! - Null pointers are refused before they are read.
//! - A reference made from a pointer lives no longer than the call.
//! - What is written through a pointer is `repr(C)`, or an integer, and has no destructor.
//! - No panic leaves a function: it becomes a code, and the handle is then closed.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use floodway_lab::session::Choice;
use floodway_model::Duration;

use crate::handle::{Arrived, Failure, Handle, State, Summary, code};

/// A time that stands for now, and for no limit.
const NO_TIME: u64 = u64::MAX;

thread_local! {
    /// The message of the last call on this thread that failed.
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// What `floodway_open` is asked for.
#[repr(C)]
pub struct Options {
    variant: *const c_char,
    workload: *const c_char,
    replication: i64,
    latency_ps: u64,
    threads: u32,
    audit: u32,
}

/// Runs the call and turns what comes of it into a code.
fn guard(call: impl FnOnce() -> Result<c_int, Failure>) -> c_int {
    let result = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        let text = "floodway has a fault and has stopped; its message is on standard error";
        Err(Failure { code: code::INTERNAL, text: text.to_owned() })
    });
    result.unwrap_or_else(|failure| {
        let text = CString::new(failure.text.replace('\0', " ")).unwrap_or_default();
        MESSAGE.with(|message| message.replace(text));
        failure.code
    })
}

/// A text of C.
///
/// # Safety
///
/// The pointer is null or that of a text that ends with a zero byte and outlives the reference.
unsafe fn text<'a>(name: &str, text: *const c_char) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(null(name));
    }
    // SAFETY: it is not null, and the caller promises the rest.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Failure::argument(format!("`{name}` is not UTF-8")))
}

/// A text of C, or none.
///
/// # Safety
///
/// As for [`text`].
unsafe fn optional<'a>(name: &str, pointer: *const c_char) -> Result<Option<&'a str>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller promises it.
    unsafe { text(name, pointer) }.map(Some)
}

fn null(name: &str) -> Failure {
    Failure::argument(format!("`{name}` is a null pointer"))
}

/// What a pointer of C points to.
///
/// # Safety
///
/// The pointer is null or valid, and nothing else uses what it points to during the call.
unsafe fn target<'a, T>(name: &str, pointer: *mut T) -> Result<&'a mut T, Failure> {
    // SAFETY: the caller promises it.
    unsafe { pointer.as_mut() }.ok_or_else(|| null(name))
}

/// Calls a function of a handle; one that has panicked is closed.
///
/// # Safety
///
/// The pointer is null or that of a handle of this library that no other thread uses and that has not been freed.
unsafe fn with(
    session: *mut Handle,
    call: impl FnOnce(&mut Handle) -> Result<c_int, Failure>,
) -> c_int {
    guard(|| {
        // SAFETY: the caller promises it.
        let handle = unsafe { target("session", session) }?;
        let result = catch_unwind(AssertUnwindSafe(|| call(handle)));
        result.unwrap_or_else(|panic| {
            handle.abandon();
            std::panic::resume_unwind(panic)
        })
    })
}

/// The choice of these options.
///
/// # Safety
///
/// The pointer is null or that of options whose texts are as for [`text`].
unsafe fn choice(options: *const Options) -> Result<Choice, Failure> {
    // SAFETY: the caller promises it.
    let Some(options) = (unsafe { options.as_ref() }) else { return Ok(Choice::default()) };
    // SAFETY: the caller promises it.
    let (variant, workload) =
        unsafe { (optional("variant", options.variant)?, optional("workload", options.workload)?) };
    let replication = match options.replication {
        -1 => None,
        number => Some(u32::try_from(number).map_err(|_| {
            Failure::argument(format!(
                "`replication` is {number}: it must be at least 0, or -1 for the only one"
            ))
        })?),
    };
    Ok(Choice {
        variant: variant.map(str::to_owned),
        replication,
        workload: workload.map(str::to_owned),
        latency: (options.latency_ps > 0).then_some(Duration(options.latency_ps)),
        threads: options.threads.max(1) as usize,
        audit: options.audit != 0,
    })
}

/// Opens a session with `make`.
///
/// # Safety
///
/// As for `floodway_open` in `floodway.h`.
unsafe fn open(
    from: (&str, *const c_char),
    options: *const Options,
    session: *mut *mut Handle,
    make: fn(&str, &Choice) -> Result<Handle, Failure>,
) -> c_int {
    guard(|| {
        // SAFETY: the caller promises it.
        let (from, choice, session) =
            unsafe { (text(from.0, from.1)?, choice(options)?, target("session", session)?) };
        *session = std::ptr::null_mut();
        *session = Box::into_raw(Box::new(make(from, &choice)?));
        Ok(code::OK)
    })
}

/// Opens a session of the scenario in a file.
///
/// # Safety
///
/// Pointers are null or valid, and texts end with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn floodway_open(
    path: *const c_char,
    options: *const Options,
    session: *mut *mut Handle,
) -> c_int {
    // SAFETY: the caller promises it.
    unsafe { open(("path", path), options, session, Handle::load) }
}

/// Opens a session of the scenario in a text.
///
/// # Safety
///
/// Pointers are null or valid, and texts end with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn floodway_open_text(
    toml: *const c_char,
    options: *const Options,
    session: *mut *mut Handle,
) -> c_int {
    // SAFETY: the caller promises it.
    unsafe { open(("toml", toml), options, session, Handle::parse) }
}

/// Gives times and numbers of a session.
///
/// # Safety
///
/// Pointers are null or valid, and no other thread uses the session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn floodway_get_state(session: *mut Handle, state: *mut State) -> c_int {
    // SAFETY: the caller promises it.
    unsafe {
        with(session, |handle| {
            *target("state", state)? = handle.state()?;
            Ok(code::OK)
        })
    }
}

/// Gives the number of the host of a name.
///
/// # Safety
///
/// Pointers are null or valid, texts end with a zero byte, and no other thread uses the session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn floodway_host(
    session: *mut Handle,
    name: *const c_char,
    host: *mut u32,
) -> c_int {
    // SAFETY: the caller promises it.
    unsafe {
        with(session, |handle| {
            *target("host", host)? = handle.host(text("name", name)?)?;
            Ok(code::OK)
        })
    }
}

/// Injects a flow.
///
/// # Safety
///
/// Pointers are null or valid, and no other thread uses the session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn floodway_inject(
    session: *mut Handle,
    source: u32,
    destination: u32,
    bytes: u64,
    at_ps: u64,
    user: u64,
    flow: *mut u64,
) -> c_int {
    let at = (at_ps != NO_TIME).then_some(at_ps);
    // SAFETY: the caller promises it; the number of the flow may go nowhere.
    unsafe {
        with(session, |handle| {
            let number = handle.inject((source, destination), bytes, at, user)?;
            if let Some(flow) = flow.as_mut() {
                *flow = number;
            }
            Ok(code::OK)
        })
    }
}

/// Advances to a time.
///
/// # Safety
///
/// The pointer is null or that of a session that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn floodway_advance(session: *mut Handle, until_ps: u64) -> c_int {
    // SAFETY: the caller promises it.
    unsafe { with(session, |handle| handle.advance(until_ps).map(|()| code::OK)) }
}

/// Gives the next completion before now or at it, without advancing.
///
/// # Safety
///
/// Pointers are null or valid, and no other thread uses the session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn floodway_take(session: *mut Handle, completion: *mut Arrived) -> c_int {
    // SAFETY: the caller promises it.
    unsafe {
        with(session, |handle| {
            let to = target("completion", completion)?;
            Ok(give(handle.take()?, to))
        })
    }
}

/// Advances to the next completion or to a time, and gives the completion.
///
/// # Safety
///
/// Pointers are null or valid, and no other thread uses the session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn floodway_next(
    session: *mut Handle,
    until_ps: u64,
    completion: *mut Arrived,
) -> c_int {
    let until = (until_ps != NO_TIME).then_some(until_ps);
    // SAFETY: the caller promises it.
    unsafe {
        with(session, |handle| {
            let to = target("completion", completion)?;
            Ok(give(handle.next(until)?, to))
        })
    }
}

fn give(arrived: Option<Arrived>, to: &mut Arrived) -> c_int {
    let Some(arrived) = arrived else { return code::NONE };
    *to = arrived;
    code::OK
}

/// Ends a session, and writes its tables into a directory unless that is null.
///
/// # Safety
///
/// Pointers are null or valid, texts end with a zero byte, and no other thread uses the session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn floodway_close(
    session: *mut Handle,
    directory: *const c_char,
    summary: *mut Summary,
) -> c_int {
    // SAFETY: the caller promises it; the summary may go nowhere.
    unsafe {
        with(session, |handle| {
            let found = handle.close(optional("directory", directory)?)?;
            if let Some(summary) = summary.as_mut() {
                *summary = found;
            }
            Ok(code::OK)
        })
    }
}

/// Frees a handle, whether it is closed or not. Null is allowed.
///
/// # Safety
///
/// The pointer is null or that of a session that no other thread uses, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn floodway_free(session: *mut Handle) {
    guard(|| {
        if !session.is_null() {
            // SAFETY: it came from `Box::into_raw` in `open`, and the caller promises that it is used no more.
            drop(unsafe { Box::from_raw(session) });
        }
        Ok(code::OK)
    });
}

/// The message of the last call on this thread that failed; empty if none has. It is valid until the next one fails.
#[unsafe(no_mangle)]
pub extern "C" fn floodway_message() -> *const c_char {
    MESSAGE.with(|message| message.borrow().as_ptr())
}
