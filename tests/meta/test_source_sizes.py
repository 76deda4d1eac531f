"""The scanner behind the limits on functions finds them, and counts lines and parameters."""

import pytest

from source_sizes import Function, functions


def scan(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return functions(path)


@pytest.mark.parametrize(
    ("text", "name", "parameters"),
    [
        ("void f() { g(); }", "f", 0),
        ("int f(void) noexcept { return g(); }", "f", 0),
        ("template <class T>\nauto f(T a, std::map<T, int> b = {1, 2}) -> T* { g(); }", "f", 2),
        ("int f(int (*g)(int, int), std::function<int(int, int)> h) const { g(); }", "f", 2),
        ("std::pair<A, B> Search<T>::next(Index i) && noexcept(true) { g(); }", "next", 1),
        ("Team(int n, Run& r) : run_(r), threads_{n, n}, on(f(n, n)) { g(); }", "Team", 2),
        ("~Team() { g(); }", "~Team", 0),
        ("T operator()(T a, T b) const { g(); }", "operator()", 2),
        ("bool operator==(const T& other) const { g(); }", "operator==", 1),
        ("template <> int f<int, 3>(int a) { g(); }", "f", 1),
        ("auto x = [&](Index i, Index j) -> Index& { g(); };", "lambda", 2),
        ("auto x = [=]<class T>(T a, T... more) mutable { g(); };", "lambda", 2),
        ("each([this, n = size(a, b)] { g(); });", "lambda", 0),
        ('extern "C" __global__ void __launch_bounds__(64) f(Index* a, Index n) { g(); }', "f", 2),
        ("NB_MODULE(_core, m) { g(); }", "NB_MODULE", 2),
        ("void f(int a,  // b, c\n    int d /* e, f */) { g(); }", "f", 2),
    ],
)
def test_each_form_of_a_function_is_found(tmp_path, text, name, parameters):
    found = [(f.name, f.code_lines, f.parameters) for f in scan(tmp_path, "a.cpp", text)]
    assert found == [(name, 1, parameters)]


@pytest.mark.parametrize(
    "text",
    [
        "struct alignas(64) A { int n; };",
        "int f(int a, int b);",
        "Team(const Team&) = delete;",
        "int x = c ? f(a) : T{b};",
        "std::vector<int> a(3), b{f(1), 2};",
        "// void f() { }\n/* void g() {\n} */\n#define H(x) { x }",
        "const char* s = \"void f() { \";  char c = '{';",
        "std::size_t n = 1'000'000;",
    ],
)
def test_nothing_else_is(tmp_path, text):
    assert scan(tmp_path, "a.hpp", text) == []


def test_statements_are_no_functions(tmp_path):
    text = """
    void f(int n) {
        // a comment

        if constexpr (n) { g(); } else if (h(n)) { g(); }
        for (int i : list(n)) { while (i) { switch (i) { case 1: g(); } } }
        #pragma unroll
        each([&](int k) {
            g("}",
              '{');
        });
    }
    """
    assert scan(tmp_path, "a.cu", text) == [Function("f", 2, 6, 1), Function("lambda", 8, 2, 1)]


def test_a_bracket_that_is_never_closed_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="line 2"):
        scan(tmp_path, "a.cuh", "\nvoid f() { if (a) { }")


def test_python(tmp_path):
    text = '''
def f(a, /, b, *args, c=1, **options):
    """Says what it does."""

    def g(): ...

    return (a,
            b)
class A:
    def __init__(self, x): pass
    @classmethod
    def make(cls): pass
'''
    found = {f.name: (f.code_lines, f.parameters) for f in scan(tmp_path, "a.py", text)}
    assert found == {"f": (3, 5), "g": (1, 0), "__init__": (1, 1), "make": (1, 0)}
