package mptcp

import (
	"net/netip"
	"testing"
)

const (
	keyA = 0x0102030405060708
	keyB = 0x1122334455667788
)

func tuple(src, dst string) Tuple {
	return Tuple{netip.MustParseAddrPort(src), netip.MustParseAddrPort(dst)}
}

var (
	first  = tuple("10.0.1.1:1000", "10.0.2.1:5001")
	second = tuple("10.0.1.2:1001", "10.0.2.1:5001")
)

func capable(version uint8, keys ...uint64) Option {
	o := Option{Subtype: MPCapable, Version: version}
	if len(keys) > 0 {
		o.HasSenderKey, o.SenderKey = true, keys[0]
	}
	if len(keys) > 1 {
		o.HasReceiverKey, o.ReceiverKey = true, keys[1]
	}
	return o
}

func joinSYN(t *testing.T, version uint8, key uint64, nonce uint32) Option {
	t.Helper()
	token, err := Token(version, key)
	if err != nil {
		t.Fatal(err)
	}
	return Option{Subtype: MPJoin, Join: JoinSYN, Token: token, Nonce: nonce}
}

type step struct {
	tuple   Tuple
	flags   uint8
	options []Option
}

// run feeds steps one nanosecond apart and returns the kinds of the events.
func run(c *Correlator, steps ...step) (kinds []EventKind) {
	for i, s := range steps {
		for _, e := range c.Observe(&Segment{Time: int64(i), Tuple: s.tuple, Flags: s.flags, Options: s.options}) {
			kinds = append(kinds, e.Kind)
		}
	}
	return kinds
}

func handshakeSteps(version uint8) []step {
	syn := []Option{capable(version)}
	if version == 0 {
		syn = []Option{capable(0, keyA)}
	}
	return []step{
		{first, SYN, syn},
		{first.Reverse(), SYN | ACK, []Option{capable(version, keyB)}},
		{first, ACK, []Option{capable(version, keyA, keyB)}},
	}
}

func wantKinds(t *testing.T, got []EventKind, want ...EventKind) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("events %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("events %v, want %v", got, want)
		}
	}
}

func TestHandshakeAndJoin(t *testing.T) {
	for version := uint8(0); version <= 1; version++ {
		c := NewCorrelator(Config{})
		wantKinds(t, run(c, handshakeSteps(version)...), ConnectionOpened)
		wantKinds(t, run(c, step{second, SYN, []Option{joinSYN(t, version, keyB, 7)}}), SubflowOpened)
		conn, sub := c.Lookup(second.Reverse())
		if conn == nil || sub.Number != 2 || conn.Version != version {
			t.Fatalf("version %d: lookup gives %+v %+v", version, conn, sub)
		}
		tokenA, _ := Token(version, keyA)
		tokenB, _ := Token(version, keyB)
		if conn.ID != MakeID(tokenA, tokenB) {
			t.Errorf("version %d: ID %v", version, conn.ID)
		}
		// A join opened by the listener carries the initiator's token, and goes to any address that it was seen at.
		back := tuple("10.0.2.1:6000", "10.0.1.2:1002")
		wantKinds(t, run(c, step{back, SYN, []Option{joinSYN(t, version, keyA, 8)}}), SubflowOpened)
		if _, sub := c.Lookup(back); sub.Number != 3 {
			t.Errorf("join by the listener has number %d", sub.Number)
		}
	}
}

func TestCopiesChangeNothing(t *testing.T) {
	c := NewCorrelator(Config{Linger: 1000})
	join := step{second, SYN, []Option{joinSYN(t, 1, keyB, 7)}}
	steps := append(handshakeSteps(1), handshakeSteps(1)[2], join, join)
	wantKinds(t, run(c, steps...), ConnectionOpened, SubflowOpened)
	wantKinds(t, run(c, step{first, RST, nil}, step{second, RST, nil}), SubflowClosed, SubflowClosed, ConnectionClosed)
	// The other leaf's copy of the third ACK comes late.
	wantKinds(t, run(c, handshakeSteps(1)[2]))
	if n := len(c.Connections()); n != 0 {
		t.Errorf("%d connections are open", n)
	}
}

func TestEarlyJoinWaits(t *testing.T) {
	c := NewCorrelator(Config{})
	steps := append([]step{{second, SYN, []Option{joinSYN(t, 1, keyB, 7)}}}, handshakeSteps(1)...)
	wantKinds(t, run(c, steps...), ConnectionOpened, SubflowOpened)
}

func TestUnknownTokenIsPlainTCP(t *testing.T) {
	c := NewCorrelator(Config{})
	run(c, handshakeSteps(1)...)
	elsewhere := tuple("10.0.1.2:1001", "10.0.3.1:5001") // the right token at an address that its owner hasn't got
	wantKinds(t, run(c, step{elsewhere, SYN, []Option{joinSYN(t, 1, keyB, 7)}}))
	if conn, _ := c.Lookup(elsewhere); conn != nil {
		t.Error("a join to a foreign address was admitted")
	}
	announce := Option{Subtype: AddAddr, Addr: netip.MustParseAddr("10.0.3.1")}
	wantKinds(t, run(c, step{first.Reverse(), ACK, []Option{announce}}), SubflowOpened)
}

func TestFallback(t *testing.T) {
	c := NewCorrelator(Config{})
	wantKinds(t, run(c,
		step{first, SYN, []Option{capable(1)}},
		step{first.Reverse(), SYN | ACK, nil},
		step{first, ACK, nil},
	), FellBack)
	if len(c.Connections()) != 0 {
		t.Error("a declined handshake opened a connection")
	}
}

func TestLostThirdACK(t *testing.T) {
	c := NewCorrelator(Config{})
	steps := handshakeSteps(0)
	steps[2].options = []Option{{Subtype: DSS}}
	wantKinds(t, run(c, steps...), ConnectionOpened)

	c = NewCorrelator(Config{})
	steps = handshakeSteps(1)
	data := capable(1, keyA, keyB)
	data.DataLen = 100
	wantKinds(t, run(c, steps[0], steps[1], step{first, ACK, []Option{data}}), ConnectionOpened)
}

func TestForgedKeysAreRefused(t *testing.T) {
	c := NewCorrelator(Config{})
	steps := handshakeSteps(1)
	steps[2].options = []Option{capable(1, keyA, keyB+1)}
	wantKinds(t, run(c, steps...))
}

func TestCloseAndReuse(t *testing.T) {
	c := NewCorrelator(Config{})
	join := step{second, SYN, []Option{joinSYN(t, 1, keyB, 7)}}
	run(c, append(handshakeSteps(1), join)...)
	wantKinds(t, run(c, step{first, FIN | ACK, nil}, step{first, FIN | ACK, nil}))
	wantKinds(t, run(c, step{first.Reverse(), FIN | ACK, nil}), SubflowClosed)
	third := tuple("10.0.1.3:1002", "10.0.2.1:5001")
	wantKinds(t, run(c, step{third, SYN, []Option{joinSYN(t, 1, keyB, 9)}}), SubflowOpened)
	if _, sub := c.Lookup(third); sub.Number != 3 {
		t.Errorf("numbers are not used again: want 3, got %d", sub.Number)
	}
	// The same ports again with another nonce are another subflow; without the option, plain TCP.
	wantKinds(t, run(c, step{second, SYN, []Option{joinSYN(t, 1, keyB, 8)}}), SubflowClosed, SubflowOpened)
	wantKinds(t, run(c, step{second, SYN, nil}), SubflowClosed)
	fastclose := Option{Subtype: MPFastclose, ReceiverKey: keyA}
	wantKinds(t, run(c, step{third, ACK, []Option{fastclose}})) // the wrong end's key
	fastclose.ReceiverKey = keyB
	wantKinds(t, run(c, step{third, ACK, []Option{fastclose}}), SubflowClosed, ConnectionClosed)
}

func TestBackup(t *testing.T) {
	c := NewCorrelator(Config{})
	o := joinSYN(t, 1, keyB, 7)
	o.Backup = true
	run(c, append(handshakeSteps(1), step{second, SYN, []Option{o}})...)
	if _, sub := c.Lookup(second); !sub.Backup {
		t.Fatal("the backup bit was lost")
	}
	wantKinds(t, run(c, step{second.Reverse(), ACK, []Option{{Subtype: MPPrio}}}), SubflowChanged)
	if _, sub := c.Lookup(second); sub.Backup {
		t.Error("MP_PRIO did not promote the subflow")
	}
}

func TestNumbersOfASwitch(t *testing.T) {
	c := NewCorrelator(Config{})
	run(c, handshakeSteps(1)...)
	for i, tt := range []struct{ given, want int }{{5, 5}, {0, 6}, {5, 7}, {255, 255}, {0, 255}} {
		tup := Tuple{netip.AddrPortFrom(first.Src.Addr(), uint16(2000+i)), first.Dst}
		c.Observe(&Segment{Tuple: tup, Flags: SYN, Number: tt.given, Options: []Option{joinSYN(t, 1, keyB, uint32(i))}})
		if _, sub := c.Lookup(tup); sub.Number != tt.want {
			t.Errorf("join %d, given %d: number %d, want %d", i, tt.given, sub.Number, tt.want)
		}
	}
	if e := c.Close(first, 9); len(e) != 7 || len(c.Connections()) != 0 {
		t.Errorf("Close gives %v", e)
	}
}

func TestExpire(t *testing.T) {
	c := NewCorrelator(Config{IdleTimeout: 100})
	run(c, handshakeSteps(1)...)
	if e := c.Expire(50); len(e) != 0 {
		t.Fatalf("expired early: %v", e)
	}
	c.Observe(&Segment{Time: 90, Tuple: first.Reverse(), Flags: ACK})
	if e := c.Expire(190); len(e) != 0 {
		t.Fatalf("expired although active: %v", e)
	}
	if e := c.Expire(191); len(e) != 2 || e[1].Kind != ConnectionClosed {
		t.Fatalf("events %v", e)
	}
	run(c, handshakeSteps(1)...)
	if e := c.Remove(first.Reverse(), 5); len(e) != 2 {
		t.Fatalf("Remove gives %v", e)
	}
}

func TestPendingIsBounded(t *testing.T) {
	c := NewCorrelator(Config{MaxPending: 3})
	for port := range uint16(100) {
		tup := Tuple{netip.AddrPortFrom(netip.MustParseAddr("10.0.1.1"), port), first.Dst}
		c.Observe(&Segment{Time: int64(port), Tuple: tup, Flags: SYN, Options: []Option{capable(1)}})
		c.Observe(&Segment{Time: int64(port), Tuple: tup, Flags: SYN, Options: []Option{joinSYN(t, 1, keyB, 1)}})
	}
	if len(c.pending) != 3 || c.earlyN != 3 {
		t.Errorf("%d handshakes and %d joins are kept", len(c.pending), c.earlyN)
	}
}
