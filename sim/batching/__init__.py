"""Fast path of the simulation: agents of the same kind advance together, in one kernel call.

Nothing in sim/ outside of this package knows it, and no result depends on it: a world that gets no `executor` calls one
agent after the other. A world that may have many agents gets this option:

    World(..., executor=BatchedExecutor)

Worlds of scenarios, of jobs of experiments and of crowds (crowd_world.py) do. A world with one agent needs no batches.
Of 500 TB-WA* agents, a tick takes 1.2 ms in one batch, and 6 ms one by one (`make bench ARGS=crowd`).
"""
