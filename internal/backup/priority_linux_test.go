package backup

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// nice returns the nice value of the thread that runs the caller.
func nice() (int, error) {
	text, err := os.ReadFile("/proc/thread-self/stat")
	if err != nil {
		return 0, err
	}
	// The name of the thread ends with ") ". nice is field 19 of proc(5), the 17th after the name.
	_, fields, _ := strings.Cut(string(text), ") ")
	return strconv.Atoi(strings.Fields(fields)[16])
}

// Proves H-proof-schedule.
//
// A restore test restores the newest backup to verify it.
func TestOnlyAProofHasALowPriority(t *testing.T) {
	before, err := nice()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		var during int
		err := atLowPriority(func() (err error) {
			during, err = nice()
			return err
		})
		if err != nil || during < restoreTestNice {
			t.Errorf("nice %d, %v", during, err)
		}
	}
	for range 20 { // enough goroutines that some run on other threads, and some on new ones
		after := make(chan int)
		go func() {
			n, err := nice()
			if err != nil {
				t.Error(err)
			}
			after <- n
		}()
		if n := <-after; n != before {
			t.Errorf("nice %d, want %d", n, before)
		}
	}
}
