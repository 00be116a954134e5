"""Kernels that other kernels call: translated and joined to their caller, but not compiled by themselves.

Every kernel is optimised once, when it is whole. numba goes through each function by itself, then cheaply through the
whole, to find counts of references that cancel out, and then through all of it: kernels have no such counts (jit.py).

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


class _Lean(JITCodeLibrary):
    """Code that is optimised once, as a whole."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class _Unfinished(_Lean):
    """Code to be linked into that of a caller, tidied so that this costs little; no machine code is made of it."""

    def _optimize_final_module(self) -> None:
        options = {"loop_vectorize": False, "slp_vectorize": False, "opt": 1, "cost": "cheap"}
        passes, builder = self._codegen._module_pass_manager(**options)
        passes.run(self._final_module, builder)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=False, analysis_only=False)
class _BeginLean(LoweringPass):
    """Before numba would make a library of its own kind."""

    _name = "begin_lean"
    _library: type[_Lean] = _Lean

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        state.library = self._library(state.targetctx.codegen(), state.func_id.func_qualname)
        if not state.flags.no_compile:
            state.library.enable_object_caching()
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class _BeginUnfinished(_BeginLean):
    _name = "begin_unfinished"
    _library = _Unfinished


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


class _LeanCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        return [self._passes("lean", (_BeginLean, AnnotateTypes))]

    def _passes(self, name: str, *added: tuple[Any, Any]) -> Any:
        """Those of numba, with some added, each behind another."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state, name)
        passes._finalized = False
        for own, before in added:
            passes.add_pass_after(own, before)
        passes.finalize()
        return passes


class _InnerCompiler(_LeanCompiler):
    def define_pipelines(self) -> list[Any]:
        flags = self.state.flags
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        return [self._passes("inner", (_BeginUnfinished, AnnotateTypes), (_EndUnfinished, NoPythonBackend))]


class Inner(CPUDispatcher):
    """A kernel as other kernels call it."""

    def add_overload(self, result: Any) -> None:
        self.overloads[tuple(result.signature.args)] = result


class Kernel(CPUDispatcher):
    """A kernel as Python calls it; other kernels get its inner form."""

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
        super().__init__(function, targetoptions=dict(options), pipeline_class=_LeanCompiler)
        self.inner = Inner(function, targetoptions=dict(options), pipeline_class=_InnerCompiler)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return self.inner.get_call_template(args, kws)

    def get_overload(self, signature: Any) -> Any:
        return self.inner.get_overload(signature)


class Interpreted(Kernel):
    """A kernel that is Python code when Python calls it; kernels that are compiled get its inner form."""

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)
