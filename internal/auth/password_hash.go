package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

// This file hashes new passwords with argon2id, and compares passwords with stored hashes. A stored hash from another site can be a bcrypt
// hash.

// argonParams are the cost parameters of an argon2id hash.
type argonParams struct {
	memory  uint32 // KiB
	time    uint32 // passes over the memory
	threads uint8  // degree of parallelism
}

// owaspParams are the costs of new hashes: 19 MiB of memory and two passes, as the OWASP Password Storage Cheat Sheet recommends.
var owaspParams = argonParams{memory: 19 * 1024, time: 2, threads: 1}

// Lengths of the two parts of a new hash. The key is the result of argon2id.
const (
	saltBytes = 16
	keyBytes  = 32
)

// Largest accepted costs of a stored hash. Hashes can come from other sites, and comparing a password with a hash of higher costs could
// block the server.
const (
	maxArgonMemory = 256 * 1024 // KiB
	maxArgonTime   = 16         // passes over the memory
	maxBcryptCost  = 15         // bcrypt makes 1<<cost rounds
)

// hasher computes password hashes. It computes only a few at the same time, because each takes 19 MiB and about 50 ms of a processor core.
type hasher struct {
	params argonParams
	slots  chan struct{} // one value for each running computation
	// idKey is argon2.IDKey; tests replace it.
	idKey func(password, salt []byte, time, memory uint32, threads uint8, keyLen uint32) []byte
}

func newHasher() *hasher {
	return &hasher{params: owaspParams, slots: make(chan struct{}, max(2, runtime.GOMAXPROCS(0)/2)), idKey: argon2.IDKey}
}

// run waits for a free slot and calls compute. It returns errTimeout when ctx ends before a slot is free.
func (h *hasher) run(ctx context.Context, compute func()) error {
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return errTimeout.Because(ctx.Err())
	}
	defer func() { <-h.slots }()
	compute()
	return nil
}

// hash returns the hash of a password with a new salt, in the PHC string format.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	hash := argonHash{argonParams: h.params, salt: make([]byte, saltBytes)}
	_, _ = rand.Read(hash.salt) // never fails (crypto/rand)
	err := h.run(ctx, func() { hash.key = h.deriveKey(hash.argonParams, hash.salt, password, keyBytes) })
	return hash.String(), err
}

func (h *hasher) deriveKey(p argonParams, salt []byte, password string, length int) []byte {
	return h.idKey([]byte(password), salt, p.time, p.memory, p.threads, uint32(length))
}

// verify compares a password with a stored argon2id or bcrypt hash. ok reports whether the password is correct. outdated reports
// whether a correct password should be hashed again, because the hash has other costs than new hashes or is a bcrypt hash. When
// stored is "" (there is no account or no password), verify computes a decoy hash, so that the response takes as long as for an
// account with a password. It also does this for a hash that it cannot read, and returns errUnreadableHash.
func (h *hasher) verify(ctx context.Context, stored, password string) (ok, outdated bool, err error) {
	if strings.HasPrefix(stored, "$2") {
		if cost, err := bcrypt.Cost([]byte(stored)); err == nil && cost <= maxBcryptCost {
			var mismatch error
			err := h.run(ctx, func() { mismatch = bcrypt.CompareHashAndPassword([]byte(stored), []byte(password)) })
			return mismatch == nil && err == nil, true, err
		}
	}
	hash, unreadable := parseArgonHash(stored)
	if unreadable != nil {
		hash = argonHash{argonParams: h.params, salt: make([]byte, saltBytes), key: make([]byte, keyBytes)}
	}
	var key []byte
	if err := h.run(ctx, func() { key = h.deriveKey(hash.argonParams, hash.salt, password, len(hash.key)) }); err != nil {
		return false, false, err
	}
	ok = subtle.ConstantTimeCompare(key, hash.key) == 1
	switch {
	case stored == "":
		return false, false, nil
	case unreadable != nil:
		return false, false, unreadable
	}
	return ok, hash.argonParams != h.params || len(hash.salt) < saltBytes || len(hash.key) < keyBytes, nil
}

// argonHash is a parsed argon2id hash.
type argonHash struct {
	argonParams
	salt, key []byte
}

// String returns the hash in the PHC string format.
func (a argonHash) String() string {
	return "$argon2id$v=" + fmt.Sprint(argon2.Version) + "$" + a.costs() + "$" +
		base64.RawStdEncoding.EncodeToString(a.salt) + "$" + base64.RawStdEncoding.EncodeToString(a.key)
}

func (p argonParams) costs() string {
	return fmt.Sprintf("m=%d,t=%d,p=%d", p.memory, p.time, p.threads)
}

var errUnreadableHash = errors.New("the stored password hash cannot be read")

// parseArgonHash parses a PHC string of argon2id version 19. It returns errUnreadableHash for anything else, and for costs
// above the limits.
func parseArgonHash(s string) (argonHash, error) {
	var a argonHash
	parts := strings.Split(s, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return a, errUnreadableHash
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &a.memory, &a.time, &a.threads); err != nil || a.costs() != parts[3] {
		return a, errUnreadableHash
	}
	if a.memory < 8 || a.memory > maxArgonMemory || a.time < 1 || a.time > maxArgonTime || a.threads < 1 {
		return a, errUnreadableHash
	}
	salt, saltErr := base64.RawStdEncoding.Strict().DecodeString(parts[4])
	key, keyErr := base64.RawStdEncoding.Strict().DecodeString(parts[5])
	if saltErr != nil || keyErr != nil || len(salt) < 8 || len(salt) > 64 || len(key) < 16 || len(key) > 64 {
		return a, errUnreadableHash
	}
	a.salt, a.key = salt, key
	return a, nil
}
