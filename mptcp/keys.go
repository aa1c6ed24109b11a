package mptcp

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
)

// digest hashes a key as eight big-endian bytes with the hash of the MPTCP version: SHA-1 for version 0 (RFC 6824
// section 3.1), SHA-256 for version 1 (RFC 8684 section 3.1). It returns the leftmost and the rightmost 8 bytes.
func digest(version uint8, key uint64) (first, last uint64, err error) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], key)
	switch version {
	case 0:
		s := sha1.Sum(b[:])
		return binary.BigEndian.Uint64(s[:8]), binary.BigEndian.Uint64(s[12:]), nil
	case 1:
		s := sha256.Sum256(b[:])
		return binary.BigEndian.Uint64(s[:8]), binary.BigEndian.Uint64(s[24:]), nil
	}
	return 0, 0, versionError(version)
}

func versionError(version uint8) error {
	return fmt.Errorf("mptcp: version %d has no defined hash; known versions are 0 (SHA-1) and 1 (SHA-256)", version)
}

// Token returns the connection token of a key: the most significant 32 bits of its hash.
func Token(version uint8, key uint64) (uint32, error) {
	first, _, err := digest(version, key)
	return uint32(first >> 32), err
}

// IDSN returns the initial data sequence number of a key: the least significant 64 bits of its hash.
func IDSN(version uint8, key uint64) (uint64, error) {
	_, last, err := digest(version, key)
	return last, err
}

// JoinHMAC returns the whole MAC that the holder of localKey sends in an MP_JOIN handshake: HMAC with the key
// localKey ++ remoteKey over localNonce ++ remoteNonce, all big endian. It is 20 bytes in version 0 and 32 in version 1;
// the SYN/ACK carries the leftmost 8 bytes, the third ACK the leftmost 20.
func JoinHMAC(version uint8, localKey, remoteKey uint64, localNonce, remoteNonce uint32) ([]byte, error) {
	var newHash func() hash.Hash
	switch version {
	case 0:
		newHash = sha1.New
	case 1:
		newHash = sha256.New
	default:
		return nil, versionError(version)
	}
	var key [16]byte
	binary.BigEndian.PutUint64(key[:8], localKey)
	binary.BigEndian.PutUint64(key[8:], remoteKey)
	var msg [8]byte
	binary.BigEndian.PutUint32(msg[:4], localNonce)
	binary.BigEndian.PutUint32(msg[4:], remoteNonce)
	mac := hmac.New(newHash, key[:])
	mac.Write(msg[:])
	return mac.Sum(nil), nil
}

// ID is the 64-bit connection identity that marked packets carry: the token of the initiator's key in the upper half,
// the token of the listener's key in the lower half. Both directions of a connection have the same ID.
type ID uint64

// MakeID builds an ID from the initiator's token and the listener's token.
func MakeID(tokenA, tokenB uint32) ID { return ID(tokenA)<<32 | ID(tokenB) }

// Tokens returns the initiator's and the listener's token.
func (id ID) Tokens() (a, b uint32) { return uint32(id >> 32), uint32(id) }

// String renders the ID as 16 hexadecimal digits.
func (id ID) String() string { return fmt.Sprintf("%016x", uint64(id)) }
