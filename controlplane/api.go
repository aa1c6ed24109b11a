package controlplane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"khop/fabric"
)

// DefaultAPI is the address at which `khop up` serves the API unless it is told another.
const DefaultAPI = "127.0.0.1:9500"

// maxBody bounds a request of the API, in bytes.
const maxBody = 1 << 20

// ProbeChange asks for a probe interval; ToR "" means all.
type ProbeChange struct {
	Interval string `json:"interval"`
	ToR      string `json:"tor,omitempty"`
}

// KnobChange asks for settings, each "name=value".
type KnobChange struct {
	Set []string `json:"set"`
}

// Handler serves the API, JSON over HTTP:
//
//	GET /v1/status            Status
//	GET /v1/probes            []ProbeStatus       PUT: ProbeChange
//	GET /v1/knobs             []Knob              PUT: KnobChange
//	GET /v1/tables/{switch}   TableDump
//
// An error is {"error": text} with status 400 (asked for something that cannot be), 404 or 502 (a switch failed).
func (c *Controller) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/status", func(w http.ResponseWriter, r *http.Request) { answer(w, c.Status(), nil) })
	mux.HandleFunc("GET /v1/probes", func(w http.ResponseWriter, r *http.Request) { answer(w, c.Probes(), nil) })
	mux.HandleFunc("PUT /v1/probes", func(w http.ResponseWriter, r *http.Request) {
		var ch ProbeChange
		if !decode(w, r, &ch) {
			return
		}
		d, err := fabric.ParseDuration(ch.Interval)
		if err == nil {
			err = c.SetProbeInterval(ch.ToR, d)
		}
		if err != nil {
			refuse(w, http.StatusBadRequest, err)
			return
		}
		answer(w, c.Probes(), nil)
	})
	mux.HandleFunc("GET /v1/knobs", func(w http.ResponseWriter, r *http.Request) { answer(w, c.Knobs(), nil) })
	mux.HandleFunc("PUT /v1/knobs", func(w http.ResponseWriter, r *http.Request) {
		var ch KnobChange
		if !decode(w, r, &ch) {
			return
		}
		if err := c.SetKnobs(r.Context(), ch.Set); err != nil {
			refuse(w, http.StatusBadRequest, err)
			return
		}
		answer(w, c.Knobs(), nil)
	})
	mux.HandleFunc("GET /v1/tables/{switch}", func(w http.ResponseWriter, r *http.Request) {
		if c.fabric.Switch(r.PathValue("switch")) == nil {
			refuse(w, http.StatusNotFound, fmt.Errorf("the fabric has no switch %q; it has %s", r.PathValue("switch"), c.switchNames()))
			return
		}
		dump, err := c.Tables(r.Context(), r.PathValue("switch"))
		answer(w, dump, err)
	})
	return mux
}

func answer(w http.ResponseWriter, v any, err error) {
	if err != nil {
		refuse(w, http.StatusBadGateway, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client is gone: nobody to tell
}

func refuse(w http.ResponseWriter, code int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()}) // as above
}

func decode(w http.ResponseWriter, r *http.Request, v any) bool {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		refuse(w, http.StatusBadRequest, fmt.Errorf("request body: %w", err))
		return false
	}
	return true
}

// ServeAPI serves the API on a listener until the context ends.
func (c *Controller) ServeAPI(ctx context.Context, l net.Listener) error {
	srv := &http.Server{Handler: c.Handler(), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// API is a client of the API.
type API struct {
	Addr string // host:port
}

func (a API) call(ctx context.Context, method, path string, body, result any) error {
	var r io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		r = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+a.Addr+path, r)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("no controller answers at %s (khop up prints its API address; --api takes it): %w", a.Addr, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		var e struct{ Error string }
		if json.Unmarshal(data, &e) == nil && e.Error != "" {
			return errors.New(e.Error)
		}
		return fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	return json.Unmarshal(data, result)
}

// Status asks for the controller's status.
func (a API) Status(ctx context.Context) (st Status, err error) {
	err = a.call(ctx, http.MethodGet, "/v1/status", nil, &st)
	return st, err
}

// Probes asks for the state of the probes.
func (a API) Probes(ctx context.Context) (list []ProbeStatus, err error) {
	err = a.call(ctx, http.MethodGet, "/v1/probes", nil, &list)
	return list, err
}

// SetProbes changes a probe interval.
func (a API) SetProbes(ctx context.Context, ch ProbeChange) (list []ProbeStatus, err error) {
	err = a.call(ctx, http.MethodPut, "/v1/probes", ch, &list)
	return list, err
}

// Knobs asks for the live knobs.
func (a API) Knobs(ctx context.Context) (list []Knob, err error) {
	err = a.call(ctx, http.MethodGet, "/v1/knobs", nil, &list)
	return list, err
}

// SetKnobs changes live knobs.
func (a API) SetKnobs(ctx context.Context, settings []string) (list []Knob, err error) {
	err = a.call(ctx, http.MethodPut, "/v1/knobs", KnobChange{settings}, &list)
	return list, err
}

// Tables asks for what a switch holds.
func (a API) Tables(ctx context.Context, name string) (dump TableDump, err error) {
	err = a.call(ctx, http.MethodGet, "/v1/tables/"+url.PathEscape(name), nil, &dump)
	return dump, err
}
