// Package expect compares captures: what came out against what should have.
package expect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"khop/test/replay"
)

// Mask is a range of bytes of each frame that is not compared.
type Mask struct{ Offset, Length int }

// ParseMask reads "OFFSET:LENGTH", in bytes from the start of the frame.
func ParseMask(text string) (Mask, error) {
	a, b, ok := strings.Cut(text, ":")
	offset, err1 := strconv.ParseUint(a, 10, 16)
	length, err2 := strconv.ParseUint(b, 10, 16)
	if !ok || err1 != nil || err2 != nil || length == 0 {
		return Mask{}, fmt.Errorf("mask %q: a mask is OFFSET:LENGTH in bytes, such as 22:1", text)
	}
	return Mask{int(offset), int(length)}, nil
}

// Options say what to compare.
type Options struct {
	Masks       []Mask
	IgnoreTimes bool
}

// Dirs compares all captures of a directory with those of the directory that tells what is expected. Each capture must
// stand in both. It returns the differences, at most ten a file, in order.
func Dirs(got, want string, o Options) ([]string, error) {
	gotNames, err := captures(got)
	if err != nil {
		return nil, err
	}
	wantNames, err := captures(want)
	if err != nil {
		return nil, err
	}
	if len(wantNames) == 0 {
		return nil, fmt.Errorf("%s holds no captures", want)
	}
	var diffs []string
	for _, name := range wantNames {
		if !slices.Contains(gotNames, name) {
			diffs = append(diffs, name+": is missing")
			continue
		}
		g, err := replay.ReadCaptureFile(filepath.Join(got, name))
		if err != nil {
			return nil, err
		}
		w, err := replay.ReadCaptureFile(filepath.Join(want, name))
		if err != nil {
			return nil, err
		}
		for _, d := range Packets(g, w, o) {
			diffs = append(diffs, name+": "+d)
		}
	}
	for _, name := range gotNames {
		if !slices.Contains(wantNames, name) {
			diffs = append(diffs, name+": is not expected")
		}
	}
	return diffs, nil
}

func captures(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no directory %s", dir)
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext == ".pcap" || ext == ".pcapng" {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// maxDifferences bounds what is told of one file.
const maxDifferences = 10

// Packets compares packets in order: bytes, and times unless told otherwise.
func Packets(got, want []replay.Packet, o Options) []string {
	var diffs []string
	for i := range min(len(got), len(want)) {
		if d := frame(got[i].Data, want[i].Data, o.Masks); d != "" {
			diffs = append(diffs, fmt.Sprintf("frame %d: %s", i+1, d))
		} else if !o.IgnoreTimes && got[i].Time != want[i].Time {
			diffs = append(diffs, fmt.Sprintf("frame %d: it came %d ns later than expected", i+1, got[i].Time-want[i].Time))
		}
		if len(diffs) == maxDifferences {
			return append(diffs, "and perhaps more")
		}
	}
	if len(got) != len(want) {
		diffs = append(diffs, fmt.Sprintf("%d frames, expected %d", len(got), len(want)))
	}
	return diffs
}

func frame(got, want []byte, masks []Mask) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d bytes, expected %d", len(got), len(want))
	}
	for i := range got {
		masked := slices.ContainsFunc(masks, func(m Mask) bool { return i >= m.Offset && i < m.Offset+m.Length })
		if !masked && got[i] != want[i] {
			return fmt.Sprintf("byte %d is %#02x, expected %#02x", i, got[i], want[i])
		}
	}
	return ""
}
