// Package lab runs fabrics in real time. So far that is a whole fabric in one process: every switch of a spec as an
// embedded switch with a P4Runtime server of its own on loopback, joined by links in memory, and the controller.
package lab
