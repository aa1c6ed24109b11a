#include <core.p4>

extern void f(in bit<8> a, in bit<8> b = 2, out bit<8> c);
extern void g(in bit<8> a);
extern void g(in bit<8> a, in bit<8> b);
extern void g(in bit<8> other);
extern T id<T>(in T x);
extern void both<A, B>(in A a, inout B b);
extern bit<8> opt(in bit<8> a, @optional in bit<8> b);
extern reg<T> {
    reg(bit<32> size);
    T read(in bit<32> i);
    void write(in bit<32> i, in T v);
}

bit<8> add(in bit<8> l, in bit<8> r) { return l + r; }
void swap<T>(inout T l, inout T r) { T t = l; l = r; r = t; }
bit<8> rec(in bit<8> n) { return rec /* ERROR "'rec' cannot call itself" */(n); }
bit<8> noret(in bool b) /* ERROR "does not return a value on every path" */ { if (b) { return 1; } }
bit<8> badret() { return true /* ERROR "the returned value must have type bit<8>, not bool" */; }
void voidret() { return 1 /* ERROR "the function is void" */; }

control c(inout bit<8> x, in bit<8> y, inout bit<16> w) {
    reg<bit<8>>(16) r;
    reg(16) /* ERROR "cannot infer type argument 'T'" */ r2;
    action a(inout bit<8> p, bit<8> data) { p = data; }
    action loop() { loop /* ERROR "'loop' cannot call itself" */(); }
    action seq(bit<8> data, in bit<8> q) /* ERROR "'q' has a direction but follows a directionless one" */ {}
    apply {
        f(1, 2, x);
        f(a = 1, c = x);
        f(c = x, a = 1, b = 3);
        f(1, x) /* ERROR "needs argument for 'c'" */;
        f(1, 2, 3) /* ERROR "must be something that can be assigned" */;
        f(1, 2, y) /* ERROR "must be something that can be assigned" */;
        f(1, 2, w) /* ERROR "argument 'c' must have type bit<8>, not bit<16>" */;
        f(1, 2, _);
        f(_ /* ERROR "_ can only be the argument of an out parameter" */, 2, x);
        f(a = 1, 2, x) /* ERROR "some arguments are named and some are not" */;
        f(a = 1, a = 2, c = x) /* ERROR "parameter 'a' is given twice" */;
        f(d = 1, c = x) /* ERROR "has no parameter 'd'" */;
        f(1, 2, x, 4) /* ERROR "takes 3 arguments, not 4" */;
        g(1, 2);
        g(1) /* ERROR "the call of 'g' is ambiguous" */;
        g(other = 1);
        g() /* ERROR "no function 'g' can be called with these arguments" */;
        x = id(y);
        x = id<bit<8>>(3);
        x = id(3) /* ERROR "has no width" */;
        x = id<bit<8>, bool>(3) /* ERROR "takes 1 type argument, not 2" */;
        both(y, x);
        both(1w1, y) /* ERROR "must be something that can be assigned" */;
        x = opt(1);
        x = opt(1, 2);
        x = add(x, 3);
        swap(x, w) /* ERROR "argument 'r' must have type bit<8>, not bit<16>" */;
        x = r.read(3);
        r.write(3, w) /* ERROR "argument 'v' must have type bit<8>, not bit<16>" */;
        r.wirte(3, x) /* ERROR "extern reg<bit<8>> has no method 'wirte'" */;
        a(x, 3);
        a(x) /* ERROR "needs argument for 'data'" */;
        x(3) /* ERROR "an expression of type bit<8> cannot be called" */;
        x = a(x, 3) /* ERROR "the call returns no value" */;
        loop();
        seq(1, 2);
    }
}
