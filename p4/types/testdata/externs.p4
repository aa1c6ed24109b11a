#include <core.p4>

extern virt<T> {
    virt(bit<8> n);
    bit<8> count();
    abstract T hook(in T x);
    abstract void two(inout T x, in bool b);
}
extern plain { plain(); plain(bit<8> n); void m(); }
extern nocons { void m(); }
extern names {
    names();
    abstract bit<8> f(in bit<8> x);
    abstract bit<8> f /* ERROR "method 'f' is declared twice" */(in bit<16> y);
    int /* ERROR "cannot return int" */ g();
}
virt<bit<8>>(3) good = {
    bit<8> hook(in bit<8> x) { return x + this.count(); }
    void two(inout bit<8> x, in bool b) { if (b) { x = 1; } }
};
virt<bit<8>>(3) /* ERROR "needs an implementation of abstract method 'two'" */ missing = {
    bit<8> hook(in bit<8> x) { return x; }
};
virt<bit<8>>(3) wrong = {
    bit<16> hook(in bit<16> x) /* ERROR "'hook' does not match the abstract method" */ { return x; }
    void two(inout bit<8> x, in bool b) {}
    void three(in bit<8> x) /* ERROR "has no abstract method 'three'" */ {}
};
plain() p0;
plain(1) p1;
plain(1, 2) /* ERROR "no method 'plain' can be called with these arguments" */ p2;
nocons() /* ERROR "extern nocons has no constructor|extern 'nocons' has no constructor" */ n;

parser P<H>(packet_in b, out H h);
control C<H>(inout H h, @optional in bit<8> o);
package top<H>(P<H> p, C<H> c, @optional C<H> d);
header h_t { bit<8> x; }
parser prs(packet_in b, out h_t h) { state start { b.extract(h); transition accept; } }
control ctl(inout h_t h, in bit<8> o) { apply { h.x = o; } }
control ctl2(inout h_t h) { apply { h.x = 1; } }
control ctl3(in h_t h) { apply {} }
control ctl4(inout bit<8> h) { apply { h = 1; } }
top(prs(), ctl()) t1;
top(prs(), ctl2(), ctl()) t2;
top(prs(), ctl3()) /* ERROR "parameter 'h' has direction in instead of inout" */ t3;
top(prs(), ctl4()) /* ERROR "parameter 'h' has type bit<8> instead of h_t" */ t4;
top(prs()) /* ERROR "needs argument for 'c'" */ t5;
top(ctl(), prs()) /* ERROR "must have type P<H>, not ctl" */ t6;
top<h_t>(prs(), ctl()) main;
