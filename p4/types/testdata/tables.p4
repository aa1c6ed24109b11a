#include <core.p4>

match_kind { range, optional }
extern profile { profile(bit<32> size); }
action outside(in bit<8> v) {}

header h_t { bit<8> a; bit<16> b; }
control c(inout h_t h, inout bit<8> z, in bool flag) {
    profile(8) prof;
    action set(bit<8> v) { z = v; }
    action bound(inout bit<8> p, bit<8> data) { p = data; }
    action none() {}

    table full {
        key = {
            h.a : exact @name("a");
            h.b : ternary;
            flag : exact;
            h.b[3:0] : lpm;
        }
        actions = { set; none; bound(z); @defaultonly NoAction; outside(h.a); }
        default_action = NoAction();
        size = 1024;
        implementation = prof;
        support_timeout = true;
        const entries = {
            (1, 2 &&& 3, true, 4w8 &&& 0xC) : set(1);
            (1, _, false, default) : bound(z, 3);
            _ : none();
            (1, 2) /* ERROR "table 'full' has 4 keys, but this label has 2 components" */ : none();
            (1, 2, true, 1 .. 2 /* ERROR "match kind lpm and takes no range" */) : none();
            (1, 2, true, 4w5 &&& 0x5 /* ERROR "must be ones followed by zeros" */) : none();
            (1, 2, true, 3) : set /* ERROR "action 'set' needs argument for 'v'" */;
            (1, 2, true, 4) : NoAction() /* ERROR "NoAction' is @defaultonly" */;
            (1, 2, true, 5) : bound(h.a /* ERROR "differs from that in the action list" */, 3);
            (1, 2, true, 6) : set(z /* ERROR "must be known at compile time" */);
            (1, 2, true, 7) : nosuch /* ERROR "unknown action 'nosuch'" */();
            (z /* ERROR "the key of an entry must be known at compile time" */, 2, true, 7) : none();
        }
    }
    table unbound {
        key = { h.a : exact; }
        actions = {
            set(3 /* ERROR "parameter 'v' of action 'set' cannot be bound here" */);
            bound /* ERROR "needs argument for 'p'" */;
            none; none /* ERROR "action 'none' stands twice" */;
            z /* ERROR "parameter 'z' is not an action" */;
        }
        default_action = set(z) /* ERROR "must be known at compile time" */;
    }
    table wrong {
        key = {
            h : exact /* ERROR "a key cannot have type h_t" */;
            h.a : exactt /* ERROR "unknown match kind 'exactt'" */;
            1 : exact /* ERROR "a key cannot have type int" */;
        }
        actions = { none; }
        default_action = set(1) /* ERROR "action 'set' is not in the action list of table 'wrong'" */;
        size = flag /* ERROR "must be an integer" */;
        priority_delta = 0 /* ERROR "must be positive" */;
        largest_priority_wins = 1 /* ERROR "must be true or false" */;
        implementation = profile(h.a) /* ERROR "argument 'size' must have type bit<32>" */;
    }
    table noactions /* ERROR "table 'noactions' has no actions" */ { key = { h.a : exact; } }
    table nokey /* ERROR "table 'nokey' has no key" */ {
        actions = { none; }
        default_action = none();
        entries = { 1 : none(); }
    }
    table prios {
        key = { h.a : ternary; }
        actions = { none; }
        default_action = none();
        entries = {
            1 : none() /* ERROR "the first entry needs a priority" */;
            const priority = 10 : 2 : none();
        }
    }
    table ranges {
        key = { h.a : range; h.b : optional; }
        actions = { none; }
        default_action = none();
        entries = {
            (1 .. 2, 3) : none();
            (1 &&& 2 /* ERROR "match kind range and takes no mask" */, _) : none();
            (1, 1 &&& 2 /* ERROR "match kind optional and takes a single value" */) : none();
            (true /* ERROR "the label must have type bit<8>, not bool" */, 3) : none();
        }
    }
    table same {
        key = { h.a : exact; }
        actions = { none; }
        default_action = none();
        const entries = {
            7 : none();
            priority = 3 /* ERROR "cannot have a priority" */ : 8 : none();
            7 : none() /* ERROR "an entry with this key stands before" */;
        }
    }
    apply {
        switch (full.apply().action_run) {
            set: { z = 1; }
            none:
            NoAction: { z = 2; }
            other /* ERROR "'other' is not an action of table 'full'" */: {}
            set /* ERROR "label 'set' stands twice" */: {}
            default: {}
        }
        switch (h.a) {
            1: {}
            1 /* ERROR "two labels of the switch have this value" */: {}
            default: {}
            4 /* ERROR "default must be the last label" */: {}
        }
        switch (flag /* ERROR "a switch cannot be on bool" */) { true: {} }
        unbound.apply(); wrong.apply(); noactions.apply(); nokey.apply(); prios.apply(); ranges.apply();
        z = same.apply().hits /* ERROR "has no member 'hits'" */ ? 1 : 2;
    }
}
