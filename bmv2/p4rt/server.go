package p4rt

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
)

// APIVersion is the version of the P4Runtime API that the server implements.
const APIVersion = "1.5.0"

// maxMessage is the largest request in bytes: a device config may be far larger than gRPC's default of 4 MB
// (specification, appendix "gRPC Server Maximum Receive Message Size").
const maxMessage = 256 << 20

// Options configure a [Server]. The zero value serves without encryption.
type Options struct {
	// TLS, when set, encrypts; see [LoadTLS].
	TLS *tls.Config
}

// Server serves P4Runtime, gRPC health and gRPC reflection for any number of devices.
type Server struct {
	p4v1.UnimplementedP4RuntimeServer

	grpc    *grpc.Server
	health  *health.Server
	closing chan struct{} // closed when the server shuts down

	mu     sync.RWMutex
	agents map[uint64]*Agent
	closed bool
}

// NewServer makes a server without devices.
func NewServer(o Options) *Server {
	s := &Server{closing: make(chan struct{}), agents: map[uint64]*Agent{}, health: health.NewServer()}
	s.grpc = grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage), grpc.Creds(newLimitCreds(o.TLS)),
		// A client that vanished without a word must not stay primary.
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 20 * time.Second, Timeout: 10 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}))
	p4v1.RegisterP4RuntimeServer(s.grpc, s)
	healthv1.RegisterHealthServer(s.grpc, s.health)
	reflection.Register(s.grpc)
	s.health.SetServingStatus(p4v1.P4Runtime_ServiceDesc.ServiceName, healthv1.HealthCheckResponse_SERVING)
	return s
}

// LoadTLS reads PEM files into a configuration for [Options]. With a client CA, clients must show a certificate that it
// signed (mutual TLS) if requireClient is set, and may otherwise.
func LoadTLS(certFile, keyFile, clientCAFile string, requireClient bool) (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("server certificate %s with key %s: %w", certFile, keyFile, err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	if clientCAFile != "" {
		pem, err := os.ReadFile(clientCAFile)
		if err != nil {
			return nil, fmt.Errorf("client CA certificate: %w", err)
		}
		c.ClientCAs = x509.NewCertPool()
		if !c.ClientCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("client CA certificate %s: no certificate in PEM form found", clientCAFile)
		}
		c.ClientAuth = tls.VerifyClientCertIfGiven
	}
	if requireClient {
		if clientCAFile == "" {
			return nil, errors.New("client certificates are required, but there is no client CA certificate to check them with")
		}
		c.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return c, nil
}

// AddDevice makes a device known to clients. The returned agent is what the owner of the device drives.
func (s *Server) AddDevice(id uint64, t Target, o AgentOptions) (*Agent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.agents[id] != nil {
		return nil, fmt.Errorf("device id %d is taken", id)
	}
	a := newAgent(id, t, o)
	s.agents[id] = a
	return a, nil
}

// Serve accepts clients on a listener until Shutdown, and then returns nil.
func (s *Server) Serve(l net.Listener) error {
	err := s.grpc.Serve(l)
	if errors.Is(err, grpc.ErrServerStopped) {
		return nil
	}
	return err
}

// Shutdown ends all streams with UNAVAILABLE, lets requests under way finish, and closes the listeners. When the context
// ends first, connections are cut.
func (s *Server) Shutdown(ctx context.Context) {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
	s.mu.Unlock()
	s.health.Shutdown()
	done := make(chan struct{})
	go func() {
		s.grpc.GracefulStop()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		s.grpc.Stop()
		<-done
	}
}

// agent finds a device; an unknown one is NOT_FOUND.
func (s *Server) agent(id uint64) (*Agent, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if a := s.agents[id]; a != nil {
		return a, nil
	}
	ids := make([]uint64, 0, len(s.agents))
	for id := range s.agents {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return nil, status.Errorf(codes.NotFound, "there is no device %d; this server has: %v", id, ids)
}

// Capabilities implements P4Runtime.
func (s *Server) Capabilities(_ context.Context, r *p4v1.CapabilitiesRequest) (*p4v1.CapabilitiesResponse, error) {
	if id := r.GetDeviceId(); id != 0 {
		if _, err := s.agent(id); err != nil {
			return nil, err
		}
	}
	return &p4v1.CapabilitiesResponse{P4RuntimeApiVersion: APIVersion}, nil
}
