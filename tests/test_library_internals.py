"""Where the internals of libraries are used: a new version of one of them may lack what is named here.

`pyproject.toml` has an upper bound for each of these libraries. Raise it after this test passes with the new version.
"""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
from functools import reduce
from pathlib import Path

import pytest

import slotwise

PACKAGE = Path(slotwise.__file__).parent
ROOT = PACKAGE.parents[1]

#: by file: modules of numba and llvmlite, and the attributes that are imported from them, subclassed or called
COMPILER = {
    "jit/kernel_cache.py": [
        "numba:njit",
        "numba:__version__",
        "numba.core:config.DISABLE_JIT",
        "numba.core:config.CACHE_DIR",
        "numba.core.caching:CompileResultCacheImpl._locator_classes",
        "numba.core.caching:FunctionCache._impl_class",
        "numba.core.caching:FunctionCache.save_overload",
        "numba.core.caching:UserProvidedCacheLocator.from_function",
        "numba.core.caching:UserProvidedCacheLocator.get_source_stamp",
        "numba.core.caching:UserProvidedCacheLocator.ensure_cache_path",
        "numba.core.registry:CPUDispatcher",
    ],
    "jit/dispatch.py": ["numba.extending:overload"],
    "jit/interpreter_mode.py": ["numba.core:types.Dispatcher", "numba.core.registry:CPUDispatcher.is_compiling"],
    "jit/cache_files.py": ["numba.core.serialize:dumps"],
    "jit/compiler_pipeline.py": [
        "numba.core:ir.SetAttr",
        "numba._dynfunc:make_function",
        "numba.core.codegen:JITCodeLibrary._optimize_final_module",
        "numba.core.codegen:JITCodeLibrary._finalize_final_module",
        "numba.core.codegen:JITCodeLibrary._finalize_dynamic_globals",
        "numba.core.codegen:JITCPUCodegen.set_env",
        "numba.core.compiler:Compiler._compile_core",
        "numba.core.compiler:CompileResult._find_referenced_environments",
        "numba.core.compiler:Flags.no_compile",
        "numba.core.compiler:Flags.no_cfunc_wrapper",
        "numba.core.compiler:Flags.no_cpython_wrapper",
        "numba.core.cpu:CPUContext.insert_user_function",
        "numba.core.funcdesc:FunctionDescriptor.lookup_module",
        "numba.core.registry:CPUDispatcher.compile",
    ],
    "jit/refcount_elision.py": [
        "llvmlite:binding.parse_assembly",
        "numba.core.codegen:JITCodeLibrary._optimize_final_module",
        "numba.core.compiler:Compiler._compile_core",
    ],
    "jit/records.py": [
        "numba.core:config.DISABLE_JIT",
        "numba.core.types:Boolean",
        "numba.core.types:Float",
        "numba.core.types:Integer",
        "numba.core.types:StructRef.field_dict",
        "numba.experimental:structref.StructRefProxy",
        "numba.experimental:structref.define_proxy",
        "numba.experimental:structref.register",
    ],
    "jit/compile_process.py": [
        "llvmlite.binding:get_host_cpu_features",
        "llvmlite.binding:get_host_cpu_name",
        "numba:__version__",
        "numba.core:config.CPU_FEATURES",
        "numba.core:config.CPU_NAME",
        "numba.core:config.OPT",
        "numba.core:event.Listener",
        "numba.core:event.register",
        "numba.core:event.unregister",
    ],
    "jit/background_compile.py": ["numba.core:config.DISABLE_JIT", "numba.core.compiler_lock:global_compiler_lock"],
}
#: the same for the other libraries, and a word that the file has where it is used
OTHERS = {
    "logs/counting/row_stream.py": [("ibis.backends.duckdb:Backend._to_duckdb_relation", "_to_duckdb_relation")],
    "logs/reading/log_files.py": [("ibis.backends.pyspark:Backend._session", "connection._session")],
    "service/http/connection_limits.py": [
        ("uvicorn.config:Config", "Config"),
        ("uvicorn.protocols.http.httptools_impl:STATUS_LINE", "STATUS_LINE"),
        ("uvicorn.protocols.http.httptools_impl:HttpToolsProtocol.on_message_begin", "HttpToolsProtocol"),
        ("uvicorn.protocols.http.httptools_impl:HttpToolsProtocol.on_headers_complete", "HttpToolsProtocol"),
        ("uvicorn.protocols.http.httptools_impl:HttpToolsProtocol.on_body", "HttpToolsProtocol"),
        ("uvicorn.protocols.http.httptools_impl:HttpToolsProtocol.on_message_complete", "HttpToolsProtocol"),
        ("uvicorn.protocols.http.httptools_impl:HttpToolsProtocol.cycle", "HttpToolsProtocol"),
        ("uvicorn.protocols.http.httptools_impl:HttpToolsProtocol.flow", "HttpToolsProtocol"),
        ("uvicorn.protocols.http.httptools_impl:HttpToolsProtocol.pipeline", "HttpToolsProtocol"),
        ("uvicorn.protocols.http.httptools_impl:RequestResponseCycle", "RequestResponseCycle"),
        ("uvicorn.server:ServerState", "ServerState"),
    ],
    "service/reports/estimate_service.py": [
        ("concurrent.futures.process:ProcessPoolExecutor._processes", "_processes")
    ],
    "service/storage/postgresql.py": [("psycopg:Connection.wait", "def wait")],
}
BOUNDED = ["numba", "uvicorn", "ibis-framework", "psycopg"]


def _exists(place: str) -> bool:
    module, _, path = place.partition(":")
    *owners, name = path.split(".")
    owner = reduce(getattr, owners, importlib.import_module(module))
    # only an instance may have it, which its class then names
    return hasattr(owner, name) or f"self.{name}" in inspect.getsource(owner)


@pytest.mark.parametrize("place", sorted({place for places in COMPILER.values() for place in places}))
def test_internals_of_the_compiler_exist(place: str) -> None:
    assert _exists(place)


def test_every_import_of_the_compiler_is_listed() -> None:
    pattern = re.compile(r"^(?:from|import) ((?:numba|llvmlite)[\w.]*)(?: import ([\w, ]+))?", re.MULTILINE)
    for file in PACKAGE.rglob("*.py"):
        name = file.relative_to(PACKAGE).as_posix()
        for module, imported in pattern.findall(file.read_text(encoding="utf-8")):
            for attribute in imported.strip().split(", ") if imported else [""]:
                assert any(place.startswith(f"{module}:{attribute}") for place in COMPILER.get(name, ())), (
                    f"{name} imports {attribute or 'attributes'} of {module}, which is not listed"
                )


def test_every_listed_place_is_used() -> None:
    for name, places in COMPILER.items():
        text = (PACKAGE / name).read_text(encoding="utf-8")
        unused = [
            place for place in places if not re.search(rf"\b{place.rpartition('.')[2].rpartition(':')[2]}\b", text)
        ]
        assert not unused, f"{name} does not use {unused}"


@pytest.mark.parametrize(
    ("file", "place", "word"), [(file, place, word) for file, places in OTHERS.items() for place, word in places]
)
def test_internals_of_other_libraries_exist_and_are_used(file: str, place: str, word: str) -> None:
    pytest.importorskip(place.partition(":")[0])
    assert _exists(place)
    assert word in (PACKAGE / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("library", BOUNDED)
def test_libraries_whose_internals_are_used_have_an_upper_bound_that_the_pins_meet(library: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    bounds = {re.search(r"<([\d.]+)", one) for one in wanted if re.match(rf"{library}[\[>=<]", one)}
    assert bounds, f"pyproject.toml has no {library}"
    (pinned,) = set(re.findall(rf"^{library}==([\d.]+)", (ROOT / "requirements-dev.txt").read_text(), re.MULTILINE))
    for bound in bounds:
        assert bound is not None, f"{library} has no upper bound"
        assert _version(pinned) < _version(bound[1])


def _version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))
