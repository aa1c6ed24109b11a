#include <core.p4>

control inner(inout bit<8> x)(bit<8> k) { apply { x = k; } }
control simple(inout bit<8> x) { apply { x = 1; } }
parser sub(packet_in b) { state start { transition accept; } }
extern e { e(); void m(); bit<8> v(); }
bit<8> fun() { return 1; }

inner(3) /* ERROR "a control cannot be instantiated at top level" */ top_inner;
e() top_e;
const bit<8> top_call = fun() /* ERROR "cannot be called at top level" */ ;

control c(inout bit<8> x) {
    inner(3) i;
    inner(x) /* ERROR "argument 'k' must be known at compile time" */ j;
    sub() /* ERROR "a parser cannot be instantiated in a control" */ s;
    c() /* ERROR "control 'c' instantiates itself" */ self;
    e() obj;
    bit<8> start = obj.v();
    action act() { x = fun(); obj.m(); }
    action bad() {
        t.apply /* ERROR "unknown name 't'" */();
        i.apply(x) /* ERROR "a control cannot be applied in an action" */;
        act();
        exit;
    }
    table t { actions = { act; NoAction; } }
    action late() { t.apply() /* ERROR "a table cannot be applied in an action" */; }
    apply {
        i.apply(x);
        simple.apply(x);
        inner.apply(x) /* ERROR "has constructor parameters and cannot be applied directly" */;
        c.apply(x) /* ERROR "control 'c' applies itself" */;
        sub.apply(x /* ERROR "must have type packet_in" */) /* ERROR "a parser cannot be applied in the apply block" */;
        i.applyy /* ERROR "has no member 'applyy'" */(x);
        t.apply();
        t.apply(x) /* ERROR "takes no arguments" */;
        if (t.apply().hit) { act(); }
        bool m = t.apply().miss;
        late(); bad();
        simple() /* ERROR "nothing can be instantiated in the apply block" */ here;
        verify(true, error.NoError) /* ERROR "verify can only be called in a parser" */;
        start = 2;
        for (bit<8> k in 0 .. 3) { if (k == 2) { continue; } break; }
        break /* ERROR "break can only stand in a loop" */;
    }
}

parser p(packet_in b, inout bit<8> x) {
    simple() /* ERROR "a control cannot be instantiated in a parser" */ s;
    sub() q;
    state start {
        q.apply(b);
        sub.apply(b);
        x = fun();
        verify(x == 1, error.NoError);
        NoAction() /* ERROR "an action cannot be called in a parser state" */;
        transition accept;
    }
}

bit<8> in_function() {
    NoAction() /* ERROR "an action cannot be called in a function" */;
    return this /* ERROR "this is allowed only in the initializer" */;
}
