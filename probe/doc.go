// Package probe holds the fabric's own wire formats (probe and mark) and the reference model of HULA and MP-HULA in plain Go: the
// k-best table, the utilisation estimator, flowlets, and the choice of next hops. The generated P4 programs must decide as the
// model does; property tests compare them.
//
// Everything here is a pure function or a state machine that is told the time, in microseconds as bmv2 counts them.
//
// Sources: HULA (Katta et al., SOSR 2016), MP-HULA (Hernandez Benet et al., NetCompute 2018), and for rounds in probes Contra (Hsu et
// al., NSDI 2020).
package probe
