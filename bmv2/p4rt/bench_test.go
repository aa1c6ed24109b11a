package p4rt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"
)

// BenchmarkInsert writes batches of 1,000 table entries over gRPC; an operation is one entry.
func BenchmarkInsert(b *testing.B) {
	l := newLab(b)
	s := l.open()
	s.arbitrate("", id(1))
	s.expect(codes.OK, id(1))
	l.pipeline(replace, bigConfig(b), codes.OK)
	const size = 1000
	b.ResetTimer()
	for done := 0; done < b.N; done += size {
		r := &p4v1.WriteRequest{DeviceId: deviceID, ElectionId: id(1)}
		for i := done; i < min(done+size, b.N); i++ {
			key := binary.BigEndian.AppendUint32([]byte{2}, uint32(i))
			r.Updates = append(r.Updates, insert(mac(string(key), tact(aFwd, "\x01"))))
		}
		if _, err := l.client.Write(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "inserts/s")
}

// BenchmarkRead reads 10,000 table entries over gRPC; an operation is one read of all.
func BenchmarkRead(b *testing.B) {
	l := newLab(b)
	s := l.open()
	s.arbitrate("", id(1))
	s.expect(codes.OK, id(1))
	l.pipeline(replace, bigConfig(b), codes.OK)
	var updates []*p4v1.Update
	for i := range 10000 {
		updates = append(updates, insert(mac(string(binary.BigEndian.AppendUint32([]byte{2}, uint32(i))), tact(aFwd, "\x01"))))
	}
	l.write(updates...)
	b.ResetTimer()
	for range b.N {
		got, err := l.tryRead(&p4v1.TableEntry{TableId: tMac})
		if err != nil || len(got) != len(updates) {
			b.Fatal(fmt.Errorf("%d entries: %w", len(got), err))
		}
	}
}

// bigConfig is the mini pipeline with room for many entries in its first table.
func bigConfig(b testing.TB) *p4v1.ForwardingPipelineConfig {
	b.Helper()
	c := miniConfig(b)
	c.P4DeviceConfig = bytes.ReplaceAll(c.P4DeviceConfig, []byte(`"max_size": 8`), []byte(`"max_size": 10000000`))
	c.P4Info.Tables[0].Size = 10000000
	return c
}
