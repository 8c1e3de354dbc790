package auth

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atelie/internal/apperr"
)

// Proves A-safe-1.
func TestNewHashesHaveTheRecommendedCost(t *testing.T) {
	h := newHasher()
	hash, err := h.hash(t.Context(), password)
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Fatalf("got %s, %v", hash, err)
	}
	parsed, err := parseArgonHash(hash)
	if err != nil || len(parsed.salt) != 16 || len(parsed.key) != 32 || parsed.String() != hash {
		t.Errorf("got %+v, %v", parsed, err)
	}
	for pw, want := range map[string]bool{password: true, password + " ": false, "": false} {
		if ok, outdated, err := h.verify(t.Context(), hash, pw); ok != want || outdated || err != nil {
			t.Errorf("%q: %v %v %v", pw, ok, outdated, err)
		}
	}
	again, err := h.hash(t.Context(), password)
	if err != nil || again == hash {
		t.Errorf("two hashes of one password must differ: %v", err)
	}
}

// Proves A-safe-1.
//
// The hashes are from other programs: the test of the argon2 reference implementation, and bcrypt's own test vectors.
func TestHashesOfOtherProgramsAreAccepted(t *testing.T) {
	h := newHasher()
	for hash, pw := range map[string]string{
		"$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc": "password",
		"$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW":                           "U*U",
		"$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW":                           "U*U",
	} {
		if ok, outdated, err := h.verify(t.Context(), hash, pw); !ok || !outdated || err != nil {
			t.Errorf("%s: %v %v %v", hash, ok, outdated, err)
		}
		if ok, _, err := h.verify(t.Context(), hash, pw+"x"); ok || err != nil {
			t.Errorf("%s accepts a wrong password: %v", hash, err)
		}
	}
}

func TestUnreadableHashesMatchNothing(t *testing.T) {
	h := newHasher()
	h.params = cheapHashParams
	const salt, key = "c29tc2FsdHNvbWVzYWx0", "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	for _, hash := range []string{
		"x", "plain", "$", "$$$$$", "$argon2id$v=19$m=64,t=1,p=1$" + salt, "$argon2i$v=19$m=64,t=1,p=1$" + salt + "$" + key,
		"$argon2id$v=16$m=64,t=1,p=1$" + salt + "$" + key, "$argon2id$v=19$m=64,t=0,p=1$" + salt + "$" + key, "$argon2id$v=19$m=64,t=1,p=0$" + salt + "$" + key,
		"$argon2id$v=19$m=4000000,t=1,p=1$" + salt + "$" + key, "$argon2id$v=19$m=64,t=1000,p=1$" + salt + "$" + key, "$argon2id$v=19$m=64,t=1,p=256$" + salt + "$" + key,
		"$argon2id$v=19$m=64,t=1,p=1x$" + salt + "$" + key, "$argon2id$v=19$m=064,t=1,p=1$" + salt + "$" + key, "$argon2id$v=19$m=64,t=1,p=1$*$" + key, "$argon2id$v=19$m=64,t=1,p=1$" + salt + "$",
		"$2a$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "$2a$05$short", "$2",
	} {
		if ok, outdated, err := h.verify(t.Context(), hash, "password"); ok || outdated || !errors.Is(err, errUnreadableHash) {
			t.Errorf("%q: %v %v %v", hash, ok, outdated, err)
		}
	}
	if ok, outdated, err := h.verify(t.Context(), "", ""); ok || outdated || err != nil {
		t.Errorf("no hash: %v %v %v", ok, outdated, err)
	}
}

// Proves A-safe-1.
func TestHashingIsBoundedAndWaitingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHasher()
		var running atomic.Int32
		release := make(chan struct{})
		h.idKey = func(_, _ []byte, _, _ uint32, _ uint8, keyLen uint32) []byte {
			if n := running.Add(1); int(n) > cap(h.slots) {
				t.Errorf("%d at once, want %d", n, cap(h.slots))
			}
			<-release
			running.Add(-1)
			return make([]byte, keyLen)
		}
		var wg sync.WaitGroup
		for range 3 * cap(h.slots) {
			wg.Go(func() {
				if _, err := h.hash(context.Background(), password); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if n := int(running.Load()); n != cap(h.slots) {
			t.Errorf("%d at once, want %d", n, cap(h.slots))
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		for name, err := range map[string]error{
			"hash":   func() error { _, err := h.hash(ctx, password); return err }(),
			"verify": func() error { _, _, err := h.verify(ctx, "", password); return err }(),
			"bcrypt": func() error {
				ok, _, err := h.verify(ctx, "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "U*U")
				if ok {
					t.Error("a check that did not happen must not succeed")
				}
				return err
			}(),
		} {
			if e := apperr.From(err); err == nil || e.Status != 504 || e.Code != "request_timeout" || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", name, err)
			}
		}
		close(release)
		wg.Wait()
	})
}

func TestPasswordRules(t *testing.T) {
	for pw, code := range map[string]string{
		"": "weak_password", "123456789": "weak_password", "áéíóúãõçà": "weak_password", "1234567890": "weak_password", "áéíóúãõçàâ": "",
		strings.Repeat("a long one", maxPasswordBytes/10): "", strings.Repeat("a long one", maxPasswordBytes/10+1): "validation_failed",
	} {
		err := (&Service{cfg: Config{PasswordMinLength: 10}}).validatePassword(pw)
		if (err == nil) != (code == "") || err != nil && apperr.From(err).Code != code {
			t.Errorf("%.20q: %v", pw, err)
		}
	}
}
