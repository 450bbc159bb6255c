// Starts Pyodide on packages of the site, without NumPy, and imports what is left of Python's library and of them:
// node imports.mjs PYODIDE.mjs SITE/pyodide PACKAGE...   Prints a JSON list: how many modules, and what failed.
const [program, folder, ...packages] = process.argv.slice(2);
const { loadPyodide } = await import(program);
const pyodide = await loadPyodide({
  lockFileURL: `${folder}/pyodide-lock.json`,
  packageBaseUrl: `${folder}/`,
  stdLibURL: `${folder}/python_stdlib.zip`,
  packages,
});
console.log(pyodide.runPython(`
import importlib, json, site, sys, zipfile

(library,) = (path for path in sys.path if path.endswith(".zip"))
names = {name.split("/")[0].removesuffix(".py") for name in zipfile.ZipFile(library).namelist()}
names = {name for name in names if name.isidentifier() and name not in ("antigravity", "this", "turtledemo")}
inner = "asyncio concurrent.futures email.message http.client importlib.metadata logging.config unittest.mock urllib.request"
inner += " xml.dom.minidom xml.etree.ElementTree ipywidgets anywidget graphviz piplite pyodide_kernel"
failed = []
for name in [*sorted(names), *inner.split()]:
    try:
        importlib.import_module(name)
    except Exception as error:
        failed.append(f"{name}: {error!r}")
from IPython.core.interactiveshell import InteractiveShell

if not InteractiveShell.instance().run_cell("1 / 0").error_in_exec:
    failed.append("IPython does not report an error")
json.dumps([len(names), failed])
`));
