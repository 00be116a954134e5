"""Faster compilation of kernels that only other kernels call: they get no machine code and no Python wrapper.

numba makes machine code and a Python wrapper for every function. Five kernels in six are never called from Python; for
these, numba's extra work took a third of the compile time. Here a kernel can be compiled in two ways. For calls from
Python, it is compiled to machine code with a wrapper, which is stored in the cache. For calls from other kernels, it is
compiled to an inner form: LLVM code that is only lightly optimised and then linked into the calling kernel.

The linked code is optimised once. numba would optimise it three times: each function alone, then the whole module to
remove reference counting, then the whole module again. Kernels have no reference counting (decorators.py), so the first
two steps are omitted.

The linked functions are marked as internal to the calling kernel, so that LLVM inlines more of them.

This module depends on numba's internals, so it is imported only with versions of numba that it supports
(numba_version.py). With other versions kernels compute the same results, but compile more slowly.
"""

from collections.abc import Callable, Mapping
from typing import Any

from llvmlite.binding import Linkage
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


class _OptimizedOnceLibrary(JITCodeLibrary):
    """Code library of numba whose code is optimised only once, after linking; its Python wrapper is not optimised.

    The wrapper converts the arguments of a call from Python. Optimising it would take as long as optimising the kernel
    itself, and brings no measurable gain.
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
        _make_linked_functions_internal(self._final_module)
        builder = self._codegen._pass_builder()
        builder.getModulePassManager().run(self._final_module, builder)


def _make_linked_functions_internal(module: Any) -> None:
    """Mark the functions of other kernels in a module as internal, so that LLVM inlines them more often.

    numba marks them `linkonce_odr`, which means that other modules may contain the same functions. So LLVM inlines such
    a function only if it is small. An internal function with a single call is always inlined, because it can be removed
    afterwards. This reduces the time of D* Lite by 37 % (docs/optimisations.md).
    """
    for function in module.functions:
        if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
            function.linkage = Linkage.internal


class _LinkableLibrary(_OptimizedOnceLibrary):
    """Code library of an inner form: LLVM code that is slightly simplified, so that linking it into callers is fast."""

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
"""Name of the LLVM module in which numba puts the Python wrapper."""


@register_pass(mutates_CFG=False, analysis_only=False)
class _UseOptimizedOnceLibrary(LoweringPass):
    """Compiler pass that runs before code is generated, and makes a library of class `_library_class` for the code."""

    _name = "begin_lean"
    _library_class: type[_OptimizedOnceLibrary] = _OptimizedOnceLibrary

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        state.library = self._library_class(state.targetctx.codegen(), state.func_id.func_qualname)
        if not state.flags.no_compile:
            state.library.enable_object_caching()
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class _UseLinkableLibrary(_UseOptimizedOnceLibrary):
    _name = "begin_unfinished"
    _library_class = _LinkableLibrary


@register_pass(mutates_CFG=False, analysis_only=False)
class _RegisterLinkableCode(LoweringPass):
    """Last compiler pass of an inner form: registers the LLVM code with numba, so that other kernels can call it."""

    _name = "end_unfinished"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        result = state.cr
        overload_key = _LinkableCodeKey()
        state.targetctx.insert_user_function(overload_key, result.fndesc, [state.library])
        state.cr = result._replace(entry_point=overload_key)
        return True


class _LinkableCodeKey:
    """Key under which numba finds the LLVM code of an inner form. It replaces the callable that numba uses as key."""


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
"""numba's compiler passes from bytecode to typed code. Passes for features that kernels do not use are omitted, which
saves a sixth of the compile time. These features are closures, literal unrolling, whole-array expressions and inlining
requested by a function."""


class _OptimizedOnceCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        return [_new_pass_manager("lean", _UseOptimizedOnceLibrary, NativeLowering, NoPythonBackend)]


class _LinkableCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        flags = self.state.flags
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        return [_new_pass_manager("inner", _UseLinkableLibrary, NativeLowering, NoPythonBackend, _RegisterLinkableCode)]


class _UncheckedPassManager(PassManager):
    """Pass manager that only runs the compiler passes. numba's version also measures times and checks each result."""

    def _runPass(self, index: int, each: Any, state: Any) -> None:  # noqa: N802 - as numba calls it
        each.analysis = self._analysis
        each.run_initialization(state)
        each.run_pass(state)
        each.run_finalizer(state)


def _new_pass_manager(name: str, *to_code: Any) -> PassManager:
    """Return a manager for compiling a kernel: it runs the passes that make typed code, then the passes `to_code`."""
    passes = _UncheckedPassManager(name)
    for each in (*_PASSES_TO_TYPED_CODE, *to_code):
        passes.add_pass(each, each.name())
    passes.finalize()
    return passes


class LinkableKernel(CPUDispatcher):
    """Kernel compiled for calls from other kernels: LLVM code that is linked into the calling kernel."""

    def add_overload(self, result: Any) -> None:
        self.overloads[tuple(result.signature.args)] = result


class Kernel(CPUDispatcher):
    """Kernel compiled to machine code for calls from Python; other kernels call its `linkable_form()`."""

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
        super().__init__(function, targetoptions=dict(options), pipeline_class=_OptimizedOnceCompiler)
        self._linkable_form: LinkableKernel | None = None

    def linkable_form(self) -> LinkableKernel:
        """Return the form of this kernel that other kernels call.

        It is made at the first call, because most starts of the program compile nothing and do not need it.
        """
        if self._linkable_form is None:
            self._linkable_form = LinkableKernel(
                self.py_func, targetoptions=dict(self.targetoptions), pipeline_class=_LinkableCompiler
            )
        return self._linkable_form

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return self.linkable_form().get_call_template(args, kws)

    def get_overload(self, signature: Any) -> Any:
        return self.linkable_form().get_overload(signature)


class InterpretedKernel(Kernel):
    """Kernel that runs as plain Python code if Python calls it. Compiled kernels can call it too, as compiled code."""

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)
