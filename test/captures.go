// Package test holds the captures that the tour and the end-to-end tests replay. The harness itself is in the packages
// below: replay (a fabric in virtual time), stf (p4c's test format), expect (comparison of captures).
package test

import "embed"

// Captures holds the captures, by name under testdata/pcaps; the README there tells what is in them.
//
//go:embed testdata/pcaps/*.pcap
var Captures embed.FS

// TourCapture is the capture that the tour replays: one MPTCP connection with four subflows.
const TourCapture = "testdata/pcaps/mptcp-v1-4subflows.pcap"
