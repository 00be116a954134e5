"""The one decorator for kernels.

`nogil` lets the window draw while a search runs in another thread. No `fastmath`: it assumes there
is no infinity, which is our "no cost known yet", and reorders sums, which would change ties. No
`parallel`: ties would depend on timing.
"""

import os

import numba

JIT_ON = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")

kernel = numba.njit(cache=True, nogil=True)
