"""Kernels that other kernels call: translated and joined to their caller, but not compiled by themselves.

Every kernel is optimised once, when it is whole. numba goes through each function by itself, then cheaply through the
whole, to find counts of references that cancel out, and then through all of it: kernels have no such counts (jit.py).

numba makes machine code and a Python wrapper of every function that it meets, also of the five in six that Python
never calls, and that took a third of the time. Here a kernel has two forms. Called from Python it is compiled, with a
wrapper, and kept in the cache. Called from another kernel it is optimised code of LLVM that goes into that kernel.

This builds on the inside of numba, so it is imported only with a version that it was tried with (known.py); the results
are the same either way.
"""

from collections.abc import Callable, Mapping
from typing import Any

from llvmlite.binding.newpassmanagers import create_new_module_pass_manager
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import (
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    RewriteSemanticConstants,
    TranslateByteCode,
)


class _Lean(JITCodeLibrary):
    """Code that is optimised once, as a whole, but for the wrapper: it takes the arguments of Python to pieces, a long
    way without a loop on which optimising takes as long as on the kernel and wins nothing that can be measured.
    """

    def add_ir_module(self, module: Any) -> None:
        if module.name == _WRAPPER:
            for function in module.functions:
                if not function.is_declaration:
                    function.attributes.update(("noinline", "optnone"))
        super().add_ir_module(module)

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        builder = self._codegen._pass_builder()
        builder.getModulePassManager().run(self._final_module, builder)


class _Unfinished(_Lean):
    """Code to be linked into that of a caller, tidied so that this costs little; no machine code is made of it."""

    def _optimize_final_module(self) -> None:
        passes = create_new_module_pass_manager()
        passes.add_sroa_pass()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        passes.run(self._final_module, self._codegen._pass_builder())

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


_WRAPPER = "wrapper"
"""What numba calls the module with the function that Python calls."""


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


_TO_TYPES = (
    TranslateByteCode,
    FixupArgs,
    IRProcessing,
    RewriteSemanticConstants,
    DeadBranchPrune,
    GenericRewrites,
    ReconstructSSA,
    NopythonTypeInference,
    PreLowerStripPhis,
    IRLegalization,
)
"""What numba does with a function before it makes code of it, without what kernels have no use for: closures, literals
to unroll, expressions over whole arrays, functions that ask to be inlined. Each of these goes through all of a function
to find nothing; together they took a sixth of the time."""


class _LeanCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        return [_passes("lean", _BeginLean, NativeLowering, NoPythonBackend)]


class _InnerCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        flags = self.state.flags
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        return [_passes("inner", _BeginUnfinished, NativeLowering, NoPythonBackend, _EndUnfinished)]


class _Passes(PassManager):
    """Passes one after the other, without telling anybody how long each took and checking what it left behind."""

    def _runPass(self, index: int, each: Any, state: Any) -> None:  # noqa: N802 - as numba calls it
        each.analysis = self._analysis
        each.run_initialization(state)
        each.run_pass(state)
        each.run_finalizer(state)


def _passes(name: str, *to_code: Any) -> PassManager:
    passes = _Passes(name)
    for each in (*_TO_TYPES, *to_code):
        passes.add_pass(each, each.name())
    passes.finalize()
    return passes


class Inner(CPUDispatcher):
    """A kernel as other kernels call it."""

    def add_overload(self, result: Any) -> None:
        self.overloads[tuple(result.signature.args)] = result


class Kernel(CPUDispatcher):
    """A kernel as Python calls it; other kernels get its inner form."""

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
        super().__init__(function, targetoptions=dict(options), pipeline_class=_LeanCompiler)
        self._inner: Inner | None = None

    def inner(self) -> Inner:
        """Made when a kernel that calls this one is compiled: most starts compile none."""
        if self._inner is None:
            self._inner = Inner(self.py_func, targetoptions=dict(self.targetoptions), pipeline_class=_InnerCompiler)
        return self._inner

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return self.inner().get_call_template(args, kws)

    def get_overload(self, signature: Any) -> Any:
        return self.inner().get_overload(signature)


class Interpreted(Kernel):
    """A kernel that is Python code when Python calls it; kernels that are compiled get its inner form."""

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)
