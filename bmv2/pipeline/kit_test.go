package pipeline

import (
	"encoding/hex"
	"strings"
	"testing"

	"khop/bmv2/config"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustLink(t testing.TB, c *config.Config) *Instance {
	t.Helper()
	p, err := Link(c)
	if err != nil {
		t.Fatal(err)
	}
	return NewInstance(p)
}

// process runs parser, ingress and deparser on a packet and returns what comes out, and the state.
func process(t testing.TB, in *Instance, packet string) (string, *State) {
	t.Helper()
	p, s := in.prog, in.State()
	b := unhex(t, packet)
	h := p.Headroom()
	s.Buf = make([]byte, h+len(b)+Slack)
	copy(s.Buf[h:], b)
	s.Off, s.End = h, h+len(b)
	s.Length, s.InLength = len(b), len(b)
	s.W = make([]uint64, p.Words())
	p.ResetPHV(s.W)
	s.ResetRequests()
	p.Parse(s)
	if !s.Exit {
		p.Ingress(s)
	}
	p.Deparse(s)
	return hex.EncodeToString(s.Buf[s.Off:s.End]), s
}

func check(t testing.TB, got, want string) {
	t.Helper()
	if want = strings.ReplaceAll(want, " ", ""); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
