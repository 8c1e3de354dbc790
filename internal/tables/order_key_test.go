package tables

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestOrderKeysLieBetweenTheirNeighbours(t *testing.T) {
	for _, c := range []struct{ low, high string }{
		{"", ""}, {"", "1"}, {"", "01"}, {"", "0001"}, {"a", "b"}, {"a", "b1"}, {"az", "b"}, {"a", "a1"}, {"azzz", "b"}, {"z", ""}, {"zzz", ""}, {"1", "11"}, {"9823i", "9823ii"},
	} {
		keys, ok := orderKeysBetween(c.low, c.high, 100)
		if !ok || len(keys) != 100 {
			t.Fatalf("%q to %q: %d keys, %v", c.low, c.high, len(keys), ok)
		}
		all := append([]string{c.low}, keys...)
		if c.high != "" {
			all = append(all, c.high)
		}
		for i, key := range all {
			if i > 0 && all[i-1] >= key || !isOrderKeyOrEmpty(key) {
				t.Errorf("%q to %q: %q follows %q", c.low, c.high, key, all[max(i-1, 0)])
			}
		}
	}
	if _, ok := orderKeysBetween("a", "a", 1); ok {
		t.Error("a key between equal ones")
	}
}

// TestOrderKeysStayShort moves rows to random positions, and then repeatedly to one position.
func TestOrderKeysStayShort(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var list []string
	insert := func(at int) bool {
		low, high := "", ""
		if at > 0 {
			low = list[at-1]
		}
		if at < len(list) {
			high = list[at]
		}
		keys, ok := orderKeysBetween(low, high, 1)
		if ok {
			list = slices.Insert(list, at, keys[0])
		}
		return ok
	}
	for range 5000 {
		if !insert(random.IntN(len(list) + 1)) {
			t.Fatal("no room")
		}
	}
	if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
		t.Error("the keys are not in their order")
	}
	if longest := len(slices.MaxFunc(list, func(a, b string) int { return len(a) - len(b) })); longest > 20 {
		t.Errorf("a key of %d characters after 5000 moves", longest)
	}
	n := 0
	for insert(1) {
		n++
	}
	if n < 900 {
		t.Errorf("room for %d moves to one place", n)
	}
}

func TestKeysOfNewRowsCountTimeBackwards(t *testing.T) {
	at := time.Date(2026, 11, 27, 12, 0, 0, 123456000, time.UTC)
	older, newer := orderKeyOf(at, id(1)), orderKeyOf(at.Add(time.Microsecond), id(2))
	if newer >= older || !isOrderKeyOrEmpty(older) {
		t.Errorf("%s, %s", older, newer)
	}
	if a, b := orderKeyOf(at, "0b5e9dc4-2f4e-4c55-9d2d-0d8f8f5f0a11"), orderKeyOf(at, "1b5e9dc4-2f4e-4c55-9d2d-0d8f8f5f0a11"); a >= b {
		t.Errorf("of two rows of one time, the one with the higher id comes first: %s, %s", a, b)
	}
	for _, far := range []time.Time{time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if key := orderKeyOf(far, id(1)); len(key) != len(older) || !isOrderKeyOrEmpty(key) {
			t.Errorf("%v: %q", far, key)
		}
	}
	for _, first := range []string{"", older, "5i", "982i", "r00000001i", orderKeyOf(at.AddDate(1, 0, 0), id(3))} {
		keys, ok := firstOrderKeys(first, at, []string{id(5), id(4), id(6)})
		if !ok || len(keys) != 3 || keys[0] >= keys[1] || keys[1] >= keys[2] || first != "" && keys[2] >= first {
			t.Errorf("before %q: %v, %v", first, keys, ok)
		}
	}
	if _, ok := firstOrderKeys("00000000000000001", at, []string{id(1), id(2), id(3)}); ok {
		t.Error("room before the least key")
	}
}
