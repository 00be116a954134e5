"""Kernels that other kernels call: compiled to LLVM code and linked into their caller, never to machine code.

numba makes machine code and a Python wrapper of every function that it meets, also of the five in six that Python
never calls, and that took a third of the compile time. Here a kernel has two forms. Called from Python, it is compiled
to machine code with a wrapper and stored in the cache. Called from another kernel, it is lightly optimised LLVM code
that is linked into that kernel.

Every kernel is fully optimised only once, after linking. numba optimises each function separately, then cheaply the
whole module to find reference counts that cancel out, and then the whole module again; kernels have no reference counts
(jit.py), so the first two steps are left out.

This module depends on numba's internals, so it is imported only with a version that it was tested with (known.py); with
other versions the results are the same.
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
    """Code library that is optimised once, as a whole, except for the Python wrapper.

    The wrapper unpacks the Python arguments in a long sequence without loops. Optimising it takes as long as
    optimising the kernel and brings no measurable gain.
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
    """Code library for linking into a caller: simplified so that linking costs little, never made machine code."""

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
"""Name that numba gives the module that contains the Python wrapper."""


@register_pass(mutates_CFG=False, analysis_only=False)
class _BeginLean(LoweringPass):
    """Compiler pass that sets the library of the function to `_library`, before numba would make one of its own."""

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
    """Compiler pass that finishes a function as numba does, with a `_StandIn` in place of the Python entry point."""

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
    """Key of one overload of an inner kernel; it cannot be called from Python."""


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
"""numba's passes from bytecode to typed code, except passes for features that kernels do not use: closures, literal
unrolling, whole-array expressions, functions that ask to be inlined. Each of the omitted passes would walk a whole
function to find nothing; together they took a sixth of the compile time."""


class _LeanCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        return [_passes("lean", _BeginLean, NativeLowering, NoPythonBackend)]


class _InnerCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        flags = self.state.flags
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        return [_passes("inner", _BeginUnfinished, NativeLowering, NoPythonBackend, _EndUnfinished)]


class _Passes(PassManager):
    """Pass manager that runs the passes in sequence, without numba's timing events and checks after each pass."""

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
    """Kernel in the form that other kernels call."""

    def add_overload(self, result: Any) -> None:
        self.overloads[tuple(result.signature.args)] = result


class Kernel(CPUDispatcher):
    """Kernel in the form that Python calls; kernels that call it get its inner form."""

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
        super().__init__(function, targetoptions=dict(options), pipeline_class=_LeanCompiler)
        self._inner: Inner | None = None

    def inner(self) -> Inner:
        """Return the inner form, made when a calling kernel is first compiled: most starts compile none."""
        if self._inner is None:
            self._inner = Inner(self.py_func, targetoptions=dict(self.targetoptions), pipeline_class=_InnerCompiler)
        return self._inner

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return self.inner().get_call_template(args, kws)

    def get_overload(self, signature: Any) -> Any:
        return self.inner().get_overload(signature)


class Interpreted(Kernel):
    """Kernel that runs as Python code when called from Python; compiled kernels get its inner form."""

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)
