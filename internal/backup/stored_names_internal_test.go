package backup

import (
	"encoding/json"
	"testing"
	"time"
)

// TestStoredDetailsKeepTheirNames reads the details of backup_status as earlier versions have stored them. If a detail had other
// names, the server would treat the destination as a new one, and copy everything again.
func TestStoredDetailsKeepTheirNames(t *testing.T) {
	var secret secretDetail
	var listed listedDetail
	var secondCopy CopyDetail
	for stored, into := range map[string]any{
		`{"place":"file /backups","sum":"5e"}`:                                         &secret,
		`{"place":"file /backups"}`:                                                    &listed,
		`{"place":"s3 copies","ended":"2026-11-23T03:00:00Z","compared":7,"mended":2}`: &secondCopy,
	} {
		if err := json.Unmarshal([]byte(stored), into); err != nil {
			t.Fatal(err)
		}
	}
	ended := time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC)
	if want := (secretDetail{Destination: "file /backups", Sum: "5e"}); secret != want {
		t.Errorf("secrets: got %+v, want %+v", secret, want)
	}
	if want := (listedDetail{Destination: "file /backups"}); listed != want {
		t.Errorf("listed: got %+v, want %+v", listed, want)
	}
	if want := (CopyDetail{Destination: "s3 copies", Ended: ended, Compared: 7, Repaired: 2}); secondCopy != want {
		t.Errorf("secondary copy: got %+v, want %+v", secondCopy, want)
	}
	if KindIncompleteRestoreTest != "proof undone" {
		t.Errorf("the stored kind of restore tests that could not be completed is %q", KindIncompleteRestoreTest)
	}
}
