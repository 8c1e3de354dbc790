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
	_, fields, _ := strings.Cut(string(text), ") ") // after the name of the thread
	return strconv.Atoi(strings.Fields(fields)[16])
}

// Proves H-proof-schedule.
func TestOnlyAProofHasALowPriority(t *testing.T) {
	before, err := nice()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		var during int
		if err := atLowPriority(func() (err error) { during, err = nice(); return err }); err != nil || during < proofNice {
			t.Errorf("nice %d, %v", during, err)
		}
	}
	for range 20 { // goroutines of other threads, and of new ones
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
