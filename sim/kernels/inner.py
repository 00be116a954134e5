"""Kernels that other kernels call: translated and joined to their caller, but not compiled by themselves.

numba makes machine code and a Python wrapper of every function that it meets, also of the five in six that Python
never calls, and that took a third of the time. Here a kernel has two forms. Called from Python it is compiled, with a
wrapper, and kept in the cache. Called from another kernel it is optimised code of LLVM that goes into that kernel.

This builds on the inside of numba, so only with the version that it was tried with (IS_KNOWN); the results are the
same either way.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import AnnotateTypes, NoPythonBackend

IS_KNOWN = numba.__version__.startswith("0.68.")
"""Whether this is a version of numba whose inside is as expected here."""


class _Unfinished(JITCodeLibrary):
    """Code to be linked into that of a caller; no machine code is made of it."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=False, analysis_only=False)
class _BeginUnfinished(LoweringPass):
    """Before numba would make a library of its own kind."""

    _name = "begin_unfinished"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        state.library = _Unfinished(state.targetctx.codegen(), state.func_id.func_qualname)
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class _EndUnfinished(LoweringPass):
    """What numba does after it has compiled a function, with a stand-in for what Python would call."""

    _name = "end_unfinished"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        result = state.cr
        stand_in = _StandIn()
        state.targetctx.insert_user_function(stand_in, result.fndesc, [state.library])
        state.cr = result._replace(entry_point=stand_in)
        return True


class _StandIn:
    """Names one version of an inner kernel; nobody can call it from Python."""


class _InnerCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        flags = self.state.flags
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state, "inner")
        passes._finalized = False
        passes.add_pass_after(_BeginUnfinished, AnnotateTypes)
        passes.add_pass_after(_EndUnfinished, NoPythonBackend)
        passes.finalize()
        return [passes]


class Inner(CPUDispatcher):
    """A kernel as other kernels call it."""

    def add_overload(self, result: Any) -> None:
        self.overloads[tuple(result.signature.args)] = result


class Kernel(CPUDispatcher):
    """A kernel as Python calls it; other kernels get its inner form."""

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
        super().__init__(function, targetoptions=dict(options))
        self.inner = Inner(function, targetoptions=dict(options), pipeline_class=_InnerCompiler)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return self.inner.get_call_template(args, kws)

    def get_overload(self, signature: Any) -> Any:
        return self.inner.get_overload(signature)


class Interpreted(Kernel):
    """A kernel that is Python code when Python calls it; kernels that are compiled get its inner form."""

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)
