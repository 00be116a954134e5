"""Executors: let all agents of a world plan and act.

`SequentialExecutor` is the plain one: one agent after the other. `BatchedExecutor` advances agents of the same kind in
one kernel call, and `TimeSlicedExecutor` runs single ticks in which only some agents plan. All give identical results.
"""
