"""Experiments of the source papers on the benchmark maps; results in docs/experiments.md.

`python -m cli.experiments e1|e2|e4|e6|e7|e8 [--problems N]`
"""
