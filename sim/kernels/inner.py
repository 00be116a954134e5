"""Kernels that other kernels call: compiled to LLVM code and linked into their caller, never to machine code.

numba makes machine code and a Python wrapper for every function that it compiles. Five kernels in six are never called
from Python, and making this code for them took a third of the compile time. Here a kernel has two forms. For calls from
Python, it is compiled to machine code with a wrapper and stored in the cache. For calls from other kernels it has an
inner form: lightly optimised LLVM code, which is linked into the calling kernel.

Every kernel is fully optimised only once, after linking. numba optimises each function separately, then cheaply the
whole module to find reference counts that cancel out, and then the whole module again; kernels have no reference counts
(jit.py), so the first two steps are left out.

This module depends on numba's internals, so it is imported only with a version that it was tested with
(numba_version.py); with other versions the results are the same.
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


class _LeanLibrary(JITCodeLibrary):
    """Code library that is optimised once, as a whole, except for the Python wrapper.

    The wrapper unpacks the Python arguments in a long sequence without loops. Optimising it takes as long as
    optimising the kernel and brings no measurable gain.
    """

    def add_ir_module(self, module: Any) -> None:
        if module.name == _WRAPPER_MODULE:
            for function in module.functions:
                if not function.is_declaration:
                    function.attributes.update(("noinline", "optnone"))
        super().add_ir_module(module)

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        builder = self._codegen._pass_builder()
        builder.getModulePassManager().run(self._final_module, builder)


class _LinkableLibrary(_LeanLibrary):
    """Code library that is linked into calling kernels: simplified to make linking cheap, never compiled further."""

    def _optimize_final_module(self) -> None:
        passes = create_new_module_pass_manager()
        passes.add_sroa_pass()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        passes.run(self._final_module, self._codegen._pass_builder())

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


_WRAPPER_MODULE = "wrapper"
"""Name that numba gives the module that contains the Python wrapper."""


@register_pass(mutates_CFG=False, analysis_only=False)
class _UseLeanLibrary(LoweringPass):
    """Compiler pass that makes a code library of class `_library` for the function, so that numba makes none itself."""

    _name = "begin_lean"
    _library: type[_LeanLibrary] = _LeanLibrary

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        state.library = self._library(state.targetctx.codegen(), state.func_id.func_qualname)
        if not state.flags.no_compile:
            state.library.enable_object_caching()
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class _UseLinkableLibrary(_UseLeanLibrary):
    _name = "begin_unfinished"
    _library = _LinkableLibrary


@register_pass(mutates_CFG=False, analysis_only=False)
class _FinishLinkable(LoweringPass):
    """Last compiler pass of an inner form: registers it with numba, with an `_OverloadKey` as its entry point."""

    _name = "end_unfinished"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        result = state.cr
        overload_key = _OverloadKey()
        state.targetctx.insert_user_function(overload_key, result.fndesc, [state.library])
        state.cr = result._replace(entry_point=overload_key)
        return True


class _OverloadKey:
    """Object under which numba registers one overload of an inner form; it cannot be called from Python."""


_PASSES_TO_TYPED_CODE = (
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
unrolling, whole-array expressions, functions that ask to be inlined. Each of the omitted passes would search a whole
function for such a feature in vain; together they took a sixth of the compile time."""


class _LeanCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        return [_new_pass_manager("lean", _UseLeanLibrary, NativeLowering, NoPythonBackend)]


class _InnerCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        flags = self.state.flags
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        return [_new_pass_manager("inner", _UseLinkableLibrary, NativeLowering, NoPythonBackend, _FinishLinkable)]


class _PlainPassManager(PassManager):
    """Pass manager that runs passes in sequence, without numba's timing events and its checks after each pass."""

    def _runPass(self, index: int, each: Any, state: Any) -> None:  # noqa: N802 - as numba calls it
        each.analysis = self._analysis
        each.run_initialization(state)
        each.run_pass(state)
        each.run_finalizer(state)


def _new_pass_manager(name: str, *to_code: Any) -> PassManager:
    """Return the passes from bytecode to typed code, followed by `to_code`."""
    passes = _PlainPassManager(name)
    for each in (*_PASSES_TO_TYPED_CODE, *to_code):
        passes.add_pass(each, each.name())
    passes.finalize()
    return passes


class InnerKernel(CPUDispatcher):
    """Kernel in the form that other kernels call: LLVM code that is linked into the caller."""

    def add_overload(self, result: Any) -> None:
        self.overloads[tuple(result.signature.args)] = result


class Kernel(CPUDispatcher):
    """Kernel in the form that Python calls: machine code with a wrapper. Calling kernels get its inner form."""

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
        super().__init__(function, targetoptions=dict(options), pipeline_class=_LeanCompiler)
        self._inner_form: InnerKernel | None = None

    def inner(self) -> InnerKernel:
        """Return the inner form. It is made at the first call, because most starts of the program compile no kernel."""
        if self._inner_form is None:
            self._inner_form = InnerKernel(
                self.py_func, targetoptions=dict(self.targetoptions), pipeline_class=_InnerCompiler
            )
        return self._inner_form

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return self.inner().get_call_template(args, kws)

    def get_overload(self, signature: Any) -> Any:
        return self.inner().get_overload(signature)


class InterpretedKernel(Kernel):
    """Kernel that runs as Python code when called from Python; compiled kernels get its inner form."""

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)
