//! The calls of MPI: the only unsafe code of floodway.
//!
//! Types, constants and signatures are those of the standard ABI (MPI 5.0, chapter 20 and appendix A; the
//! header `mpi_abi.h` of any implementation): handles are pointers with fixed values, so one program runs with
//! every implementation that has the ABI. Rules that keep the calls sound, all of them kept here:
//!
//! - A library is never unloaded, so functions stay valid.
//! - A buffer is neither moved nor touched while a request uses it: every function here that begins requests
//!   also completes them, and holds the borrow of the buffers until then.
//! - One thread at a time calls ([`SERIALIZED`]); [`Calls`] can be shared because MPI was asked for it.

use std::ffi::{c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use libloading::Library;

use crate::Error;

/// An opaque handle of MPI.
type Handle = *mut c_void;

/// Handles and numbers of the ABI.
const COMM_WORLD: usize = 0x101;
const BYTE: usize = 0x247;
const UINT64: usize = 0x259;
const INFO_NULL: usize = 0x130;
const COMM_TYPE_SHARED: c_int = 221;
const REQUEST_NULL: usize = 0x180;
const SERIALIZED: c_int = 2048;
const SUCCESS: c_int = 0;
const ABI: c_int = 1;
/// `MPI_MAX_LIBRARY_VERSION_STRING`.
const LONGEST_VERSION: usize = 8192;

fn handle(value: usize) -> Handle {
    std::ptr::without_provenance_mut(value)
}

/// The function of a reduction.
type Combine = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut Handle);

/// Declares the functions that are called.
macro_rules! calls {
    ($($name:ident = $symbol:literal ($($argument:ty),*),)+) => {
        #[derive(Clone, Copy)]
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) -> c_int,)+
        }

        impl Functions {
            fn of(library: &Library, path: &Path) -> Result<Self, Error> {
                $(
                    // SAFETY: the signature is that of the ABI, which `start` has checked is the library's.
                    let $name = *unsafe {
                        library.get::<unsafe extern "C" fn($($argument),*) -> c_int>($symbol.as_bytes())
                    }
                    .map_err(|_| Error::NoFunction(path.to_owned(), $symbol))?;
                )+
                Ok(Self { $($name,)+ })
            }
        }
    };
}

calls! {
    abi_get_version = "MPI_Abi_get_version" (*mut c_int, *mut c_int),
    get_library_version = "MPI_Get_library_version" (*mut c_char, *mut c_int),
    init_thread = "MPI_Init_thread" (*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int),
    finalize = "MPI_Finalize" (),
    abort = "MPI_Abort" (Handle, c_int),
    comm_rank = "MPI_Comm_rank" (Handle, *mut c_int),
    comm_size = "MPI_Comm_size" (Handle, *mut c_int),
    comm_split_type = "MPI_Comm_split_type" (Handle, c_int, c_int, Handle, *mut Handle),
    type_contiguous = "MPI_Type_contiguous" (c_int, Handle, *mut Handle),
    type_commit = "MPI_Type_commit" (*mut Handle),
    op_create = "MPI_Op_create" (Combine, c_int, *mut Handle),
    isend = "MPI_Isend" (*const c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle),
    irecv = "MPI_Irecv" (*mut c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle),
    iallreduce = "MPI_Iallreduce" (*const c_void, *mut c_void, c_int, Handle, Handle, Handle, *mut Handle),
    testall = "MPI_Testall" (c_int, *mut Handle, *mut c_int, *mut c_void),
}

/// MPI, started.
pub struct Calls {
    functions: Functions,
    /// The reduction and the type of what it reduces.
    op: Handle,
    words: Handle,
    pub rank: usize,
    pub ranks: usize,
    pub version: String,
    /// Looks before a rank sleeps between them.
    yields: u32,
    /// Requests of the calls that are under way; kept for its allocation.
    requests: Mutex<Vec<Handle>>,
}

// SAFETY: handles are values that mean the same on every thread, and MPI was started for calls from any thread,
// one at a time. Every call but `abort` holds the lock of `requests`; `abort` does not return.
unsafe impl Send for Calls {}
// SAFETY: as above.
unsafe impl Sync for Calls {}

/// Number of words that are reduced: of the first the least of all ranks, of the others the sums.
pub const WORDS: usize = 6;

/// Least of the first word and sums of the others, for each element.
unsafe extern "C" fn combine(
    theirs: *mut c_void,
    mine: *mut c_void,
    count: *mut c_int,
    _: *mut Handle,
) {
    // SAFETY: MPI passes two arrays of `count` elements of the type that was committed: `WORDS` u64 each.
    let (theirs, mine) = unsafe {
        let words = usize::try_from(*count).unwrap_or(0) * WORDS;
        let theirs = std::slice::from_raw_parts(theirs.cast::<u64>(), words);
        (theirs, std::slice::from_raw_parts_mut(mine.cast::<u64>(), words))
    };
    for (mine, theirs) in mine.chunks_exact_mut(WORDS).zip(theirs.chunks_exact(WORDS)) {
        mine[0] = mine[0].min(theirs[0]);
        for (mine, theirs) in mine[1..].iter_mut().zip(&theirs[1..]) {
            *mine = mine.wrapping_add(*theirs);
        }
    }
}

/// Loads a library so that what it loads itself finds its symbols.
fn open(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: loading runs the initializers of the library, which the user chose or the system has installed as MPI.
    #[cfg(unix)]
    let library = unsafe {
        use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
        Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL)?.into()
    };
    // SAFETY: as above.
    #[cfg(not(unix))]
    let library = unsafe { Library::new(path)? };
    Ok(library)
}

/// The first of these libraries that can be loaded; otherwise what the loader said of each.
pub fn load(candidates: &[PathBuf]) -> Result<(PathBuf, Library), Vec<(PathBuf, String)>> {
    let mut refused = Vec::new();
    for path in candidates {
        match open(path) {
            Ok(library) => return Ok((path.clone(), library)),
            Err(error) => refused.push((path.clone(), error.to_string())),
        }
    }
    Err(refused)
}

impl Calls {
    /// Starts MPI. To be called once in a process.
    pub fn start(path: &Path, library: Library) -> Result<Self, Error> {
        let functions = Functions::of(&library, path)?;
        // Never unloaded: MPI has threads and exit handlers of its own.
        std::mem::forget(library);
        let (mut major, mut minor, mut provided) = (-1, -1, 0);
        // SAFETY: may be called before MPI is started; both arguments are valid for writes.
        let error = unsafe { (functions.abi_get_version)(&raw mut major, &raw mut minor) };
        if error != SUCCESS || major != ABI {
            return Err(Error::OtherAbi(path.to_owned(), (major, minor)));
        }
        let null = std::ptr::null_mut::<c_void>();
        // SAFETY: null for the arguments of the program is allowed (MPI 5.0, 11.2.1).
        let error = unsafe {
            (functions.init_thread)(null.cast(), null.cast(), SERIALIZED, &raw mut provided)
        };
        if error != SUCCESS {
            return Err(Error::Call("MPI_Init_thread", error));
        }
        if provided < SERIALIZED {
            return Err(Error::Threads(path.to_owned()));
        }
        Self::describe(functions)
    }

    /// After the start.
    fn describe(functions: Functions) -> Result<Self, Error> {
        let (mut rank, mut ranks, mut op, mut words) = (0, 0, handle(0), handle(0));
        // The ranks on the same machine.
        let (mut machine, mut here) = (handle(0), 0);
        let mut version = vec![0_u8; LONGEST_VERSION + 1];
        let mut length = 0;
        let count = WORDS as c_int;
        // SAFETY: MPI is started, handles are those of the ABI, and all results are valid for writes; the version
        // fits by definition.
        unsafe {
            ok("MPI_Comm_rank", (functions.comm_rank)(handle(COMM_WORLD), &raw mut rank))?;
            ok("MPI_Comm_size", (functions.comm_size)(handle(COMM_WORLD), &raw mut ranks))?;
            let kind = COMM_TYPE_SHARED;
            let split = (functions.comm_split_type)(
                handle(COMM_WORLD),
                kind,
                0,
                handle(INFO_NULL),
                &raw mut machine,
            );
            ok("MPI_Comm_split_type", split)?;
            ok("MPI_Comm_size", (functions.comm_size)(machine, &raw mut here))?;
            let made = (functions.type_contiguous)(count, handle(UINT64), &raw mut words);
            ok("MPI_Type_contiguous", made)?;
            ok("MPI_Type_commit", (functions.type_commit)(&raw mut words))?;
            ok("MPI_Op_create", (functions.op_create)(combine, 1, &raw mut op))?;
            let text = version.as_mut_ptr().cast();
            ok("MPI_Get_library_version", (functions.get_library_version)(text, &raw mut length))?;
        }
        version.truncate(usize::try_from(length).unwrap_or(0).min(LONGEST_VERSION));
        let version = String::from_utf8_lossy(&version);
        let first = version.lines().next().unwrap_or_default().trim_end_matches('\0').trim();
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let yields = if here as usize <= cores { YIELDS } else { YIELDS_OF_MANY };
        let requests = Mutex::default();
        let (rank, ranks) = (rank as usize, ranks as usize);
        Ok(Self { functions, op, words, rank, ranks, version: first.to_owned(), yields, requests })
    }

    /// Reduces the words of all ranks, while octets go to other ranks and come from them. From each rank in `into`
    /// exactly as many octets come as its buffer is long.
    pub fn exchange(
        &self,
        words: Option<&mut [u64; WORDS]>,
        out: &[(usize, c_int, &[u8])],
        into: &mut [(usize, c_int, &mut [u8])],
    ) {
        let mut requests = self.requests.lock().expect("no call panics");
        requests.clear();
        for (rank, tag, buffer) in into.iter_mut() {
            self.receive((*rank, *tag), buffer, &mut requests);
        }
        for (rank, tag, buffer) in out {
            self.send((*rank, *tag), buffer, &mut requests);
        }
        let mut reduced = [0; WORDS];
        if let Some(words) = &words {
            let mut request = handle(REQUEST_NULL);
            let (from, to) = (words.as_ptr().cast(), reduced.as_mut_ptr().cast());
            // SAFETY: one element of `WORDS` words each; both live until `complete` returns.
            let error = unsafe {
                let (of, op, all) = (self.words, self.op, handle(COMM_WORLD));
                (self.functions.iallreduce)(from, to, 1, of, op, all, &raw mut request)
            };
            self.check("MPI_Iallreduce", error);
            requests.push(request);
        }
        self.complete(&mut requests);
        if let Some(words) = words {
            *words = reduced;
        }
    }

    fn receive(&self, (rank, tag): (usize, c_int), buffer: &mut [u8], requests: &mut Vec<Handle>) {
        for part in buffer.chunks_mut(LARGEST) {
            let mut request = handle(REQUEST_NULL);
            let (octets, count) = (part.as_mut_ptr().cast(), part.len() as c_int);
            // SAFETY: the buffer is borrowed by the caller until `complete` returns.
            let error = unsafe {
                let (of, all) = (handle(BYTE), handle(COMM_WORLD));
                (self.functions.irecv)(octets, count, of, rank as c_int, tag, all, &raw mut request)
            };
            self.check("MPI_Irecv", error);
            requests.push(request);
        }
    }

    fn send(&self, (rank, tag): (usize, c_int), buffer: &[u8], requests: &mut Vec<Handle>) {
        for part in buffer.chunks(LARGEST) {
            let mut request = handle(REQUEST_NULL);
            let (octets, count) = (part.as_ptr().cast(), part.len() as c_int);
            // SAFETY: the buffer is borrowed by the caller until `complete` returns.
            let error = unsafe {
                let (of, all) = (handle(BYTE), handle(COMM_WORLD));
                (self.functions.isend)(octets, count, of, rank as c_int, tag, all, &raw mut request)
            };
            self.check("MPI_Isend", error);
            requests.push(request);
        }
    }

    /// Waits until all requests are complete: first it spins, then it gives the core to others between looks, so that
    /// more ranks than cores get on.
    fn complete(&self, requests: &mut [Handle]) {
        let mut looks = 0_u32;
        loop {
            let mut done = 0;
            let (count, all) = (requests.len() as c_int, requests.as_mut_ptr());
            // SAFETY: requests of calls above; null for the statuses means that they are ignored.
            let error = unsafe {
                (self.functions.testall)(count, all, &raw mut done, std::ptr::null_mut())
            };
            self.check("MPI_Testall", error);
            if done != 0 {
                return;
            }
            looks += 1;
            match looks {
                ..SPINS => {}
                looks if looks < self.yields => std::thread::yield_now(),
                _ => std::thread::sleep(NAP),
            }
        }
    }

    /// Ends all ranks if a call fails. The default error handler of MPI does so before the call returns.
    fn check(&self, call: &'static str, error: c_int) {
        if let Err(error) = ok(call, error) {
            eprintln!("error: rank {}: {error}", self.rank);
            self.abort(1);
        }
    }

    /// Ends all ranks at once.
    pub fn abort(&self, code: c_int) -> ! {
        // SAFETY: MPI is started; this does not return.
        unsafe { (self.functions.abort)(handle(COMM_WORLD), code) };
        std::process::exit(code)
    }

    /// Ends MPI. To be called once, as the last call; waits for the other ranks.
    pub fn finalize(&self) {
        let _requests = self.requests.lock();
        // SAFETY: MPI is started, and no request is under way.
        unsafe { (self.functions.finalize)() };
    }
}

fn ok(call: &'static str, error: c_int) -> Result<(), Error> {
    if error == SUCCESS { Ok(()) } else { Err(Error::Call(call, error)) }
}

/// Most octets of one message, whose length is a C int.
const LARGEST: usize = 1 << 30;

/// Looks before the core is offered to others: some ten microseconds.
const SPINS: u32 = 100;

/// Looks before it is left to others, on a machine with as many cores as ranks: some ten milliseconds. There a
/// rank waits long only if the core of another is taken.
const YIELDS: u32 = 20_000;

/// The same on a machine with fewer cores than ranks: to offer the core does not help the others enough.
const YIELDS_OF_MANY: u32 = SPINS + 50;

/// Time between looks from then on.
const NAP: Duration = Duration::from_micros(20);
