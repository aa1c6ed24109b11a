package replay

// Document is what `khop replay -o json` and `khop demo -o json` print.
type Document struct {
	Schemes       []*Result      `json:"schemes"`
	ProbeInterval *ProbeInterval `json:"probe_interval,omitempty"` // the demo's live change
}

// ProbeInterval is the probe interval measured before and after a live change, in microseconds.
type ProbeInterval struct {
	BeforeUS float64 `json:"before_us"`
	AfterUS  float64 `json:"after_us"`
}

// Result is what one scheme did with a capture.
type Result struct {
	Scheme string `json:"scheme"`
	// PacketsIn is the number of packets that entered the fabric: delivered, or lost for a reason.
	PacketsIn        int `json:"packets_in"`
	PacketsDelivered int `json:"packets_delivered"`
	// NotForwarded is the number of captured frames that no router forwards; NotForwardedBy tells why.
	NotForwarded         int            `json:"not_forwarded"`
	NotForwardedBy       map[string]int `json:"not_forwarded_by,omitempty"`
	PacketsLost          map[string]int `json:"packets_lost"`
	ProbesSent           uint64         `json:"probes_sent"`
	Collisions           int            `json:"collisions"`
	MeanDistinctNextHops float64        `json:"mean_distinct_next_hops"`
	Connections          []Connection   `json:"connections"`
	// Found is what the controller itself learned from digests; zero under schemes that do not look.
	Found Found `json:"found_by_controller"`
}

// Found counts connections and subflows.
type Found struct {
	Connections int `json:"connections"`
	Subflows    int `json:"subflows"`
}

// Connection is an MPTCP connection in the capture.
type Connection struct {
	ID       string    `json:"mptcp_id"` // token of the initiator, token of the listener, hexadecimal
	Version  uint8     `json:"version"`
	Tokens   [2]uint32 `json:"tokens"`
	Subflows []Subflow `json:"subflows"`
}

// Subflow is one subflow: NextHops counts its packets of both directions by the switch to which the leaf where they
// entered sent them.
type Subflow struct {
	Number    int            `json:"number"`
	FiveTuple string         `json:"five_tuple"`
	NextHops  map[string]int `json:"next_hops"`
}
