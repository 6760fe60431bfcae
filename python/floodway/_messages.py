"""Messages between the processes of one run, by a communicator of mpi4py."""

from __future__ import annotations

import os
import time
from array import array
from collections.abc import Callable, Sequence
from typing import Any

#: Tags of messages: frames between two windows, and everything else.
_FRAMES, _OCTETS = 1, 2

#: Looks before the core is offered to others, and before it is left to them.
_SPINS, _YIELDS = 100, 150

#: Seconds between looks from then on.
_NAP = 20e-6


class Messages:
    """Messages of a rank to and from the others, as the compiled half needs them.

    All calls are completed by looking. Blocking calls of MPI spin, and would take the cores of
    ranks that work if there are more ranks than cores.
    """

    def __init__(self, comm: Any) -> None:
        from mpi4py import MPI

        if isinstance(comm, MPI.Comm) and comm == MPI.COMM_NULL:
            raise ValueError(
                "`comm` is MPI.COMM_NULL: this process belongs to no communicator, so it must not "
                "call this"
            )
        if not isinstance(comm, MPI.Intracomm):
            raise TypeError(
                "`comm` has to be a communicator of mpi4py such as MPI.COMM_WORLD, not "
                f"{type(comm).__name__}"
            )
        if MPI.Query_thread() < MPI.THREAD_SERIALIZED:
            raise ValueError(
                "MPI was started without support for threads, and a run is not on the main thread: "
                'set mpi4py.rc.thread_level = "serialized" before the import of mpi4py.MPI, or '
                "leave it as it is"
            )
        self._mpi = MPI
        # One of our own, so that messages of the program cannot be taken for ours.
        self._comm = comm.Dup()
        self.rank: int = comm.Get_rank()
        self.count: int = comm.Get_size()

    def close(self) -> None:
        """Free the communicator. All ranks call it."""
        self._comm.Free()

    def abort(self) -> None:
        """End all ranks at once."""
        self._comm.Abort(1)

    def exchange(
        self, words: Sequence[int], letters: Sequence[tuple[int, bytes]]
    ) -> tuple[list[int], list[bytes]]:
        """Reduce words, and exchange octets with neighbors.

        Of the first words of all ranks it gives the least, of the others the sums.
        """
        MPI, comm = self._mpi, self._comm
        first, others = array("Q", words[:1]), array("Q", words[1:])
        least, sums = array("Q", bytes(8)), array("Q", bytes(8 * len(others)))
        requests = [
            comm.Iallreduce([first, MPI.UINT64_T], [least, MPI.UINT64_T], op=MPI.MIN),
            comm.Iallreduce([others, MPI.UINT64_T], [sums, MPI.UINT64_T], op=MPI.SUM),
        ]
        requests += [
            comm.Isend([octets, MPI.BYTE], dest=rank, tag=_FRAMES) for rank, octets in letters
        ]
        arrived = [self._receive(rank, _FRAMES) for rank, _ in letters]
        self._complete(requests)
        return [*least, *sums], arrived

    def give(self, rank: int, octets: bytes) -> None:
        """Send octets to a rank that gets them."""
        self._complete([self._comm.Isend([octets, self._mpi.BYTE], dest=rank, tag=_OCTETS)])

    def get(self, rank: int) -> bytes:
        """Receive what a rank gives."""
        return self._receive(rank, _OCTETS)

    def broadcast(self, octets: bytes) -> bytes:
        """Give everybody the octets of rank 0."""
        if self.rank > 0:
            return self.get(0)
        for rank in range(1, self.count):
            self.give(rank, octets)
        return octets

    def _receive(self, rank: int, tag: int) -> bytes:
        status = self._mpi.Status()
        message = _until(lambda: self._comm.Improbe(source=rank, tag=tag, status=status))
        octets = bytearray(status.Get_count(self._mpi.BYTE))
        self._complete([message.Irecv([octets, self._mpi.BYTE])])
        return bytes(octets)

    def _complete(self, requests: list[Any]) -> None:
        _until(lambda: self._mpi.Request.Testall(requests))


def _until(happens: Callable[[], Any]) -> Any:
    """Look until something happens, and give it."""
    looks = 0
    while not (happened := happens()):
        looks += 1
        if looks > _YIELDS:
            time.sleep(_NAP)
        elif looks > _SPINS:
            os.sched_yield() if hasattr(os, "sched_yield") else time.sleep(0)
    return happened
