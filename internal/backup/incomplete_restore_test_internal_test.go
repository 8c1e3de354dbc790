package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/klauspost/compress/zstd"
	"github.com/superfly/ltx"

	"atelie/internal/s3client"
	"atelie/internal/storage/blob/blobtest"
)

// Proves H-backup-stalls, H-proof-away.
func TestAnObjectThatStallsIsNotDamaged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := s3client.Config{Endpoint: "http://s3.example", Region: "us-east-1", KeyID: "k", Secret: "s", Bucket: "b", PathStyle: true}
		b := &bucket{cfg: cfg, ensured: true, client: s3client.NewOver(cfg, blobtest.Pipes(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "4096")
			beginning := "LTX1"
			if strings.HasSuffix(r.URL.Path, ".zst") {
				beginning = "\x28\xb5\x2f\xfd"
			}
			blobtest.Stall(w, r, beginning)
		}))}
		p, err := newReplicaReader(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		info := &ltx.FileInfo{Level: 1, MinTXID: 1, MaxTXID: 2, Size: 4096}
		for what, read := range map[string]func() error{
			"a part": func() error { _, _, err := p.verify(t.Context(), info); return err },
			"a time": func() error { _, err := p.headerTime(t.Context(), info); return err },
			"a file": func() error { return checkFile(t.Context(), b, storedFile{BlobID: "11111111", Name: "x"}) },
			"secret": func() error { _, err := ReadSecrets(t.Context(), b, "correct horse battery"); return err },
			"a snapshot": func() error {
				return (&restorePoint{destination: b, snapshot: &Snapshot{Name: "snapshots/x.zst"}}).restore(t.Context(), filepath.Join(t.TempDir(), "x"))
			},
		} {
			err := read()
			var damage *Damage
			if errors.As(err, &damage) || !isDestinationError(err) || !strings.Contains(err.Error(), "sent nothing for 30s") {
				t.Errorf("%s: %v", what, err)
			}
			if not := incompleteReason(t.Context(), err); not == nil || not.Code != "backup_place_unreachable" {
				t.Errorf("%s: %v", what, not)
			}
		}
	})
}

// full is a writer to a disk without free space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// Proves H-proof-away.
func TestASnapshotIsNotDamagedByAFullDisk(t *testing.T) {
	destination := &folder{root: t.TempDir()}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	text := z.EncodeAll(make([]byte, 1<<20), nil)
	sum := sha256.Sum256(text)
	if err := errors.Join(z.Close(), destination.Write(t.Context(), "x.zst", bytes.NewReader(text))); err != nil {
		t.Fatal(err)
	}
	p := &restorePoint{destination: destination, snapshot: &Snapshot{Name: "x.zst", SHA256: hex.EncodeToString(sum[:])}}
	if err := p.decompress(t.Context(), io.Discard); err != nil {
		t.Error(err)
	}
	if not := incompleteReason(t.Context(), p.decompress(t.Context(), full{})); not == nil || not.Code != "backup_proof_no_room" {
		t.Errorf("a full disk: %v", not)
	}
	p.snapshot.SHA256 = ""
	if not := incompleteReason(t.Context(), p.decompress(t.Context(), io.Discard)); not != nil {
		t.Errorf("damage: %v", not)
	}
}
