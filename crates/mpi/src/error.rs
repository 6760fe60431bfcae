//! Why MPI cannot be used, and what to do about it.

use std::fmt;
use std::path::PathBuf;

use crate::find::VARIABLE;

/// Why MPI cannot be used.
#[derive(Debug)]
pub enum Error {
    /// No library could be loaded: the candidates, and what the system said of each.
    NotLoaded(Vec<(PathBuf, String)>),
    /// The library lacks a function of the standard.
    NoFunction(PathBuf, &'static str),
    /// The library has another ABI: the version that it states, -1 for none.
    OtherAbi(PathBuf, (i32, i32)),
    /// The library cannot be called from the threads of a run.
    Threads(PathBuf),
    /// A call failed, with this code.
    Call(&'static str, i32),
    /// There is one process only: the library, and what it says it is.
    Alone(PathBuf, String),
}

/// Where to get a library that fits.
const GET: &str = "`pip install mpich` has one; where clusters have their own, set";

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLoaded(refused) => {
                write!(
                    f,
                    "`--mpi` needs a library with the standard ABI of MPI 5, and none can be loaded ("
                )?;
                for (place, (path, reason)) in refused.iter().enumerate() {
                    let between = if place > 0 { "; " } else { "" };
                    write!(f, "{between}`{}`: {reason}", path.display())?;
                }
                write!(f, "): {GET} `--mpi-library` or {VARIABLE} to its libmpi_abi")
            }
            Self::NoFunction(path, function) => write!(
                f,
                "`{}` is no library of MPI 5: it has no function {function}. {GET} `--mpi-library` or {VARIABLE} to its \
                 libmpi_abi",
                path.display()
            ),
            Self::OtherAbi(path, (major, minor)) => {
                let own = match major {
                    -1 => "an ABI of its own".to_owned(),
                    _ => format!("version {major}.{minor} of the standard ABI"),
                };
                write!(
                    f,
                    "`{}` has {own}, and floodway needs version 1 of the standard ABI: name the library libmpi_abi \
                     instead, which MPICH 5 and others install beside it",
                    path.display()
                )
            }
            Self::Threads(path) => write!(
                f,
                "`{}` was built without support for threads (MPI_THREAD_SERIALIZED), which floodway needs: use another \
                 build of MPI",
                path.display()
            ),
            Self::Call(call, code) => write!(f, "{call} failed with error {code} of MPI"),
            Self::Alone(path, version) => write!(
                f,
                "`--mpi` needs several processes, and there is one: start them with `mpirun -n 2 floodway run --mpi`. If \
                 that was done, the launcher is not that of `{}` ({version}): use the mpirun of the same installation",
                path.display()
            ),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_names_a_remedy() {
        let path = || PathBuf::from("/opt/mpi/lib/libmpi.so");
        let texts = [
            Error::NotLoaded(vec![
                ("libmpi_abi.so.1".into(), "not found".into()),
                ("b.so".into(), "not found either".into()),
            ]),
            Error::NoFunction(path(), "MPI_Iallreduce"),
            Error::OtherAbi(path(), (-1, -1)),
            Error::OtherAbi(path(), (2, 0)),
            Error::Threads(path()),
            Error::Alone(path(), "MPICH Version: 5.0.2".into()),
        ]
        .map(|error| error.to_string());
        assert_eq!(
            texts,
            [
                "`--mpi` needs a library with the standard ABI of MPI 5, and none can be loaded (`libmpi_abi.so.1`: not \
             found; `b.so`: not found either): `pip install mpich` has one; where clusters have their own, set \
             `--mpi-library` or FLOODWAY_MPI_LIBRARY to its libmpi_abi",
                "`/opt/mpi/lib/libmpi.so` is no library of MPI 5: it has no function MPI_Iallreduce. `pip install mpich` has \
             one; where clusters have their own, set `--mpi-library` or FLOODWAY_MPI_LIBRARY to its libmpi_abi",
                "`/opt/mpi/lib/libmpi.so` has an ABI of its own, and floodway needs version 1 of the standard ABI: name the \
             library libmpi_abi instead, which MPICH 5 and others install beside it",
                "`/opt/mpi/lib/libmpi.so` has version 2.0 of the standard ABI, and floodway needs version 1 of the standard \
             ABI: name the library libmpi_abi instead, which MPICH 5 and others install beside it",
                "`/opt/mpi/lib/libmpi.so` was built without support for threads (MPI_THREAD_SERIALIZED), which floodway \
             needs: use another build of MPI",
                "`--mpi` needs several processes, and there is one: start them with `mpirun -n 2 floodway run --mpi`. If \
             that was done, the launcher is not that of `/opt/mpi/lib/libmpi.so` (MPICH Version: 5.0.2): use the mpirun \
             of the same installation",
            ]
        );
    }
}
