"""Locks on open files. The system lets go of one when the file is closed or the program ends, however it ends."""

import errno
import os
import sys

BINARY = getattr(os, "O_BINARY", 0)
"""For os.open: without it Windows turns every line end into two characters, and a length is no length any more."""

if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 60  # Windows locks bytes, and a locked byte cannot be read: this one lies where no file reaches

    def lock(descriptor: int, *, waits: bool = False) -> bool:
        before = os.lseek(descriptor, 0, os.SEEK_CUR)
        try:
            while True:
                os.lseek(descriptor, _FAR, os.SEEK_SET)
                try:
                    msvcrt.locking(descriptor, msvcrt.LK_LOCK if waits else msvcrt.LK_NBLCK, 1)
                    return True
                except OSError as error:
                    if error.errno not in (errno.EACCES, errno.EDEADLK):
                        raise
                    if not waits:
                        return False  # with LK_LOCK Windows gives up after ten seconds, and we ask again
        finally:
            os.lseek(descriptor, before, os.SEEK_SET)

else:
    import fcntl

    def lock(descriptor: int, *, waits: bool = False) -> bool:
        """Lock an open file. Returns False if somebody else holds it; with `waits` it waits until nobody does.

        An OSError where the file system has no locks.
        """
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
