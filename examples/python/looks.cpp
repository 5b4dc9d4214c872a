// A Python module of one function over libfovea_core.so, with nothing but Python's own header:
// looks.attend(query, keys) is the weights that a query gives to keys, lists of floats all.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <fovea/core.h>

#include <vector>

using namespace fovea;

namespace {

Tensor tensor_of(PyObject* rows, const Shape& shape) {
  std::vector<float> values;
  for (Py_ssize_t i = 0; i < PyList_Size(rows); ++i) {
    PyObject* row = PyList_GetItem(rows, i);
    for (Py_ssize_t j = 0; PyList_Check(row) && j < PyList_Size(row); ++j)
      values.push_back(static_cast<float>(PyFloat_AsDouble(PyList_GetItem(row, j))));
  }
  return Tensor::of(shape, values);
}

PyObject* look(PyObject*, PyObject* args) {
  PyObject *query, *keys;
  if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &query, &PyList_Type, &keys)) return nullptr;
  const int64_t T = PyList_Size(keys), D = PyList_Size(query);
  try {
    PyObject* one = Py_BuildValue("[O]", query);
    const Tensor q = tensor_of(one, {1, 1, 1, D}), k = tensor_of(keys, {1, T, 1, D});
    Py_DECREF(one);
    if (PyErr_Occurred()) return nullptr;
    Recorder recorder;
    attend({.q = q, .k = k, .v = k, .name = "looks"});
    PyObject* weights = PyList_New(0);
    for (float w : recorder["looks"].rows.read()) {
      PyObject* number = PyFloat_FromDouble(w);
      PyList_Append(weights, number);
      Py_DECREF(number);
    }
    return weights;
  } catch (const std::exception& error) {
    return PyErr_Format(PyExc_ValueError, "%s", error.what());
  }
}

PyMethodDef functions[] = {{"attend", look, METH_VARARGS, "weights = attend(query, keys)"}, {}};
PyModuleDef module = {PyModuleDef_HEAD_INIT, "looks", nullptr, -1, functions, {}, {}, {}, {}};

}  // namespace

PyMODINIT_FUNC PyInit_looks() { return PyModule_Create(&module); }
