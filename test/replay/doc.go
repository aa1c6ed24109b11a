// Package replay sends captures through a whole fabric in virtual time: every switch of a spec runs its generated program
// on the embedded switch, each behind a P4Runtime server of its own, steered by the same controller that steers a live
// fabric. Nothing reads a clock, so two runs give identical bytes.
//
// Virtual time stands still until the controller has handled what the switches told it, and until what it wrote is in
// force. The package also measures, from its own view of the packets, how well the subflows of MPTCP connections were
// spread; see Measure.
package replay
