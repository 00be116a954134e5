"""Lock open files. The system releases a lock when the file is closed or the program ends, even by a crash."""

import errno
import os
import sys

BINARY_FLAG = getattr(os, "O_BINARY", 0)
"""Flag for os.open. Without it Windows writes every line end as two characters, and file lengths are wrong."""

if sys.platform == "win32":
    import msvcrt

    # Offset of the locked byte. Windows makes a locked byte unreadable, so it must be beyond the end of any file.
    _LOCK_OFFSET = 1 << 60

    def lock_descriptor(descriptor: int, *, waits: bool = False) -> bool:
        before = os.lseek(descriptor, 0, os.SEEK_CUR)
        try:
            while True:
                os.lseek(descriptor, _LOCK_OFFSET, os.SEEK_SET)
                try:
                    msvcrt.locking(descriptor, msvcrt.LK_LOCK if waits else msvcrt.LK_NBLCK, 1)
                    return True
                except OSError as error:
                    if error.errno not in (errno.EACCES, errno.EDEADLK):
                        raise
                    if not waits:
                        return False  # with `waits`, the loop tries again, because LK_LOCK gives up after ten seconds
        finally:
            os.lseek(descriptor, before, os.SEEK_SET)

else:
    import fcntl

    def lock_descriptor(descriptor: int, *, waits: bool = False) -> bool:
        """Lock an open file.

        Args:
            descriptor: the file.
            waits: whether to wait until the lock is free.

        Returns:
            Whether the file is locked now; False if another process holds the lock.

        Raises:
            OSError: The file system does not support locks.
        """
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
