package p4rt

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
)

// certificates writes a CA, and a certificate for 127.0.0.1 that it signed, with their keys, and returns the directory.
func certificates(t *testing.T) (dir string, pool *x509.CertPool) {
	t.Helper()
	dir = t.TempDir()
	write := func(name, kind string, der []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var ca *x509.Certificate
	var caKey *ecdsa.PrivateKey
	for i, name := range []string{"ca", "leaf"} {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		tmpl := &x509.Certificate{SerialNumber: big.NewInt(int64(i + 1)), Subject: pkix.Name{CommonName: name}, IsCA: i == 0, BasicConstraintsValid: true,
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
		signer, signKey := ca, caKey
		if signer == nil {
			signer, signKey = tmpl, key
		}
		der, err := x509.CreateCertificate(rand.Reader, tmpl, signer, &key.PublicKey, signKey)
		if err != nil {
			t.Fatal(err)
		}
		kb, err := x509.MarshalECPrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		write(name+".pem", "CERTIFICATE", der)
		write(name+".key", "EC PRIVATE KEY", kb)
		if ca == nil {
			if ca, err = x509.ParseCertificate(der); err != nil {
				t.Fatal(err)
			}
			caKey = key
			pool = x509.NewCertPool()
			pool.AddCert(ca)
		}
	}
	return dir, pool
}

func TestTLS(t *testing.T) {
	dir, pool := certificates(t)
	file := func(n string) string { return filepath.Join(dir, n) }
	leaf, err := tls.LoadX509KeyPair(file("leaf.pem"), file("leaf.key"))
	if err != nil {
		t.Fatal(err)
	}
	for _, mutual := range []bool{false, true} {
		conf, err := LoadTLS(file("leaf.pem"), file("leaf.key"), file("ca.pem"), mutual)
		if err != nil {
			t.Fatal(err)
		}
		s := NewServer(Options{TLS: conf})
		lis, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error, 1)
		go func() { served <- s.Serve(lis) }()
		for _, c := range []struct {
			creds credentials.TransportCredentials
			ok    bool
		}{
			{credentials.NewTLS(&tls.Config{RootCAs: pool}), !mutual},
			{credentials.NewTLS(&tls.Config{RootCAs: pool, Certificates: []tls.Certificate{leaf}}), true},
			{insecure.NewCredentials(), false},
		} {
			conn, err := grpc.NewClient(lis.Addr().String(), grpc.WithTransportCredentials(c.creds))
			if err != nil {
				t.Fatal(err)
			}
			_, err = p4v1.NewP4RuntimeClient(conn).Capabilities(t.Context(), &p4v1.CapabilitiesRequest{})
			if (err == nil) != c.ok {
				t.Errorf("mutual %v, %s: error %v, want success %v", mutual, c.creds.Info().SecurityProtocol, err, c.ok)
			}
			conn.Close()
		}
		s.Shutdown(t.Context())
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		cert, key, ca string
		mutual        bool
	}{{"none.pem", "leaf.key", "", false}, {"leaf.pem", "leaf.key", "leaf.key", false}, {"leaf.pem", "leaf.key", "none.pem", false}, {"leaf.pem", "leaf.key", "", true}} {
		ca := c.ca
		if ca != "" {
			ca = file(ca)
		}
		if _, err := LoadTLS(file(c.cert), file(c.key), ca, c.mutual); err == nil {
			t.Errorf("%+v gave no error", c)
		}
	}
}

func TestHealthReflectionAndShutdown(t *testing.T) {
	l := newLab(t)
	conn, err := grpc.NewClient("passthrough:///mem", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.lis.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	h, err := healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{Service: "p4.v1.P4Runtime"})
	if err != nil || h.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		t.Errorf("health %v, error %v", h, err)
	}
	rs, err := reflectionv1.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := rs.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	r, err := rs.Recv()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, s := range r.GetListServicesResponse().GetService() {
		found = found || s.GetName() == "p4.v1.P4Runtime"
	}
	if !found {
		t.Errorf("reflection lists %v", r)
	}
	if err := rs.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if _, err := rs.Recv(); err == nil {
		t.Error("the reflection stream goes on")
	}

	// A shutdown ends streams with UNAVAILABLE and does not wait for clients.
	s := l.primary()
	l.srv.Shutdown(t.Context())
	s.expectEnd(codes.Unavailable)
	if _, err := l.client.Capabilities(t.Context(), &p4v1.CapabilitiesRequest{}); status.Code(err) != codes.Unavailable {
		t.Errorf("after the shutdown: %v", err)
	}
	if _, err := l.srv.AddDevice(deviceID, l.dev, AgentOptions{}); err == nil {
		t.Error("a device id was given twice")
	}
}

func TestWaitEndsWithTheContext(t *testing.T) {
	l := newLab(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.agent.Wait(ctx, func(Stats) bool { return false }); err != context.Canceled {
		t.Errorf("error %v", err)
	}
}
