package p4rt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// entityError is what is wrong with one update or one read request: a canonical code and a message that names the
// entity and, where there is a choice, the valid options.
type entityError struct {
	code codes.Code
	msg  string
}

func (e *entityError) Error() string { return e.msg }

func errorf(code codes.Code, format string, args ...any) error {
	return &entityError{code, fmt.Sprintf(format, args...)}
}

// wrap puts the name of what the error is about in front of its message and keeps its code.
func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &entityError{codeOf(err), fmt.Sprintf(format, args...) + ": " + err.Error()}
}

// codeOf is the canonical code of an error; one that carries none is INVALID_ARGUMENT, because what this package does
// not understand came from the client.
func codeOf(err error) codes.Code {
	if e, ok := err.(*entityError); ok {
		return e.code
	}
	return codes.InvalidArgument
}

// batchStatus is the status of a Write or Read of len(errs) updates or requests of which some failed. It carries one
// p4.v1.Error for each, in their order (specification, sections "Write RPC", "Error Reporting" and "Read RPC").
//
// The status travels in one HTTP/2 header, whose size the client limits (appendix "gRPC Metadata Maximum Size"; C-core
// clients take 8 KB unless told otherwise). limit is what the client takes for all headers together, in bytes, 0 for
// unlimited. A status that would not fit is made smaller in steps, so that the client always gets what there is room for,
// and never a broken stream: messages are cut, then left out, and when not even the codes fit, the details are left
// out and the status message lists codes, update numbers and messages.
func batchStatus(what string, errs []error, limit int) error {
	failed := 0
	for _, e := range errs {
		if e != nil {
			failed++
		}
	}
	if failed == 0 {
		return nil
	}
	head := fmt.Sprintf("%d of %d %s failed", failed, len(errs), what)
	if limit == 0 {
		return detailed(head+": "+summary(errs, 400), errs, -1)
	}
	for _, most := range []int{-1, 200, 100, 60, 30, 0} {
		text := head + ": " + summary(errs, 200)
		if headerSize(text, detailSize(text, errs, most)) <= limit {
			return detailed(text, errs, most)
		}
	}
	head += fmt.Sprintf(" (details left out: the client takes %d bytes of headers, see grpc.max_metadata_size)", limit)
	for room := limit / 2; ; room /= 2 {
		text := head + ": " + summary(errs, room)
		if headerSize(text, 0) <= limit || room < 16 {
			return status.Error(codes.Unknown, text)
		}
	}
}

const errorTypeURL = "type.googleapis.com/p4.v1.Error"

// detail is the p4.v1.Error of one update; most is the longest message in bytes, -1 for any, 0 for none.
func detail(err error, most int) *p4v1.Error {
	if err == nil {
		return &p4v1.Error{}
	}
	msg := err.Error()
	switch {
	case most == 0:
		msg = ""
	case most > 0 && len(msg) > most:
		msg = strings.ToValidUTF8(msg[:most-3], "") + "..."
	}
	return &p4v1.Error{CanonicalCode: int32(codeOf(err)), Message: msg}
}

func detailed(text string, errs []error, most int) error {
	st := &rpcstatus.Status{Code: int32(codes.Unknown), Message: text, Details: make([]*anypb.Any, len(errs))}
	for i, e := range errs {
		// Two scalar fields of valid UTF-8: marshalling cannot fail.
		b, _ := proto.Marshal(detail(e, most))
		st.Details[i] = &anypb.Any{TypeUrl: errorTypeURL, Value: b}
	}
	return status.ErrorProto(st)
}

// detailSize is the encoded size in bytes of the google.rpc.Status that detailed would build.
func detailSize(text string, errs []error, most int) int {
	n := 2 + 1 + protowire.SizeBytes(len(text))
	for _, e := range errs {
		v := proto.Size(detail(e, most))
		a := 1 + protowire.SizeBytes(len(errorTypeURL))
		if v > 0 {
			a += 1 + protowire.SizeBytes(v)
		}
		n += 1 + protowire.SizeBytes(a)
	}
	return n
}

// headerSize is the size of the trailers of an RPC as HTTP/2 counts it (RFC 9113, section 10.5.1: name, value and 32
// bytes each): grpc-status, grpc-message (percent-encoded) and grpc-status-details-bin (base64), and room for what
// interceptors and C-core add.
func headerSize(text string, details int) int {
	const fixed = 32 + len("grpc-status") + 2 + 32 + len("grpc-message") + 32 + len("grpc-status-details-bin") + 256
	n := fixed + (details+2)/3*4
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '%' {
			n += 3
		} else {
			n++
		}
	}
	return n
}

// summary groups the failed updates by code and message: "3 ALREADY_EXISTS (updates 0, 2-3): ...". It is at most about
// room bytes long.
func summary(errs []error, room int) string {
	type key struct {
		code codes.Code
		msg  string
	}
	groups := map[key][]int{}
	var order []key
	for i, e := range errs {
		if e == nil {
			continue
		}
		k := key{codeOf(e), e.Error()}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], i)
	}
	var b strings.Builder
	for n, k := range order {
		part := fmt.Sprintf("%s (%s): %s", codeNames[k.code], ranges(groups[k]), k.msg)
		if n > 0 {
			part = "; " + part
		}
		if b.Len()+len(part) > room {
			if n == 0 {
				b.WriteString(strings.ToValidUTF8(part[:max(0, min(len(part), room))], "") + "...")
			} else {
				var count [len(codeNames)]int
				for _, k := range order[n:] {
					count[k.code] += len(groups[k])
				}
				sep := "; and "
				for c, n := range count {
					if n > 0 {
						fmt.Fprintf(&b, "%s%d more %s", sep, n, codeNames[c])
						sep = ", "
					}
				}
			}
			break
		}
		b.WriteString(part)
	}
	return b.String()
}

// ranges writes ascending numbers as "0, 2-5", a few of them at most.
func ranges(idx []int) string {
	var parts []string
	for i := 0; i < len(idx); {
		j := i
		for j+1 < len(idx) && idx[j+1] == idx[j]+1 {
			j++
		}
		if len(parts) == 8 {
			parts = append(parts, "...")
			break
		}
		if i == j {
			parts = append(parts, strconv.Itoa(idx[i]))
		} else {
			parts = append(parts, strconv.Itoa(idx[i])+"-"+strconv.Itoa(idx[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

// codeNames are the canonical codes as the specification writes them.
var codeNames = [...]string{"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
	"ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
	"UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"}

// sortedNames lists the names of a map of entities in order, for messages.
func sortedNames[K comparable, V any](m map[K]V, name func(V) string) []string {
	out := make([]string, 0, len(m))
	for _, v := range m {
		out = append(out, name(v))
	}
	slices.Sort(out)
	return out
}
