package tables

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file makes order keys, the strings by whose bytes the rows of a table are ordered. Rules:
//   - Between any two keys there is another one: "ai" is between "a" and "b". So a row can be moved without changing other rows.
//   - The key of a new work begins with a number that falls as created_at grows: 98226690399999999 for 2026-03-12 10:00 UTC. So new works
//     come first, and works that nobody has moved are ordered by created_at, newest first. Migration 34 makes the same keys for older works.
//   - In the tables with NewLast (see schema.go), such as series, new rows come last.

// orderDigits are the characters of order keys, in ascending order. A key does not end in "0", because no key would be between "a" and
// "a0".
const orderDigits = "0123456789abcdefghijklmnopqrstuvwxyz"

const (
	maxOrderKey = 200 // characters; if a key would be longer, all rows of the table get new keys
	timeDigits  = 17  // decimal digits at the beginning of the key of a new row
	// maxTimeKey is the greatest number of timeDigits digits. Times in microseconds are subtracted from it, so that later times give
	// smaller keys.
	maxTimeKey = 99_999_999_999_999_999
)

// isOrderKeyOrEmpty reports whether a string is an order key or "". The empty string is allowed because it stands for "make a key": a row
// that is inserted with it gets a key from orderKeyOf or, in the tables with NewLast, from lastOrderKeyOf.
var isOrderKeyOrEmpty = regexp.MustCompile(`^([0-9a-z]*[1-9a-z])?$`).MatchString

// orderKeyOf returns the key of a row that nobody has moved. The key contains the id, so that no two rows have the same key, and so that
// rows of the same time are ordered by id, as Table.TieBreakers orders them.
func orderKeyOf(created time.Time, id string) string {
	return timeOrderKey(min(max(maxTimeKey-created.UnixMicro(), 0), maxTimeKey), id)
}

// timeOrderKey returns an order key: the digits of n, then the id, then an "i", because a key must not end in "0".
func timeOrderKey(n int64, id string) string {
	return fmt.Sprintf("%0*d%si", timeDigits, n, strings.ReplaceAll(id, "-", ""))
}

// firstOrderKeys returns new keys, in the order of ids, for rows that move before all other rows. first is the smallest key of the other
// rows, or "" if there are none. Each new key begins with a number, as the key of a row that is inserted now. So a row that is inserted
// later comes before the moved rows, unless first was made with a clock that was ahead. ok is false if no keys are left before first.
func firstOrderKeys(first string, now time.Time, ids []string) (keys []string, ok bool) {
	n := maxTimeKey - now.UnixMicro()
	if first != "" && first[0] <= '9' { // the numbers of the new keys must be smaller than the number with which first begins
		n = min(n, leadingNumber(first, "0")-1)
	}
	n -= int64(len(ids)) - 1
	if n < 0 {
		return nil, false
	}
	for i, id := range ids {
		keys = append(keys, timeOrderKey(n+int64(i), id))
	}
	return keys, true
}

// leadingNumber returns the number with which a key begins. If it has fewer than timeDigits digits, as the key of a moved row can have, the
// digit fill is added: with fill "0", "98226k" gives 98226000000000000.
func leadingNumber(key, fill string) int64 {
	digits := key[:len(key)-len(strings.TrimLeft(key, "0123456789"))]
	n, _ := strconv.ParseInt((digits + strings.Repeat(fill, timeDigits))[:timeDigits], 10, 64) // timeDigits digits are always an int64
	return n
}

// lastOrderKeyOf returns the key of a new row in a table whose new rows come last. n must grow with time.
func lastOrderKeyOf(n int64, id string) string { return lastDigit + timeOrderKey(n, id) }

// lastDigit begins the keys of rows that come last. It is greater than the first character of the keys that renderOrderKeys makes.
const lastDigit = "s"

// lastOrderKeys returns new keys, in the order of ids, for rows that move after all other rows. last is the greatest key of the other rows,
// or "" if there are none. A row that is inserted later comes after the moved rows. ok is false if no keys are left after last.
func lastOrderKeys(last string, now time.Time, ids []string) (keys []string, ok bool) {
	n := now.UnixMicro()
	if key, found := strings.CutPrefix(last, lastDigit); found {
		n = max(n, leadingNumber(key, "9")+1)
	} else if last > lastDigit {
		return nil, false
	}
	if n > maxTimeKey-int64(len(ids)) {
		return nil, false
	}
	for i, id := range ids {
		keys = append(keys, lastOrderKeyOf(n+int64(i), id))
	}
	return keys, true
}

// orderKeysBetween returns n keys between low and high, in their order. An empty high stands for no upper bound. ok is false if low
// is not below high, or if a key would be longer than maxOrderKey.
func orderKeysBetween(low, high string, n int) (keys []string, ok bool) {
	if high != "" && low >= high {
		return nil, false
	}
	keys = spreadOrderKeys(low, high, n)
	return keys, !slices.ContainsFunc(keys, func(key string) bool { return len(key) > maxOrderKey })
}

// spreadOrderKeys halves the room, so that the length of the keys grows with the logarithm of their number.
func spreadOrderKeys(low, high string, n int) []string {
	if n == 0 {
		return nil
	}
	middle := orderKeyBetween(low, high)
	before := spreadOrderKeys(low, middle, n/2)
	return append(append(before, middle), spreadOrderKeys(middle, high, n-1-n/2)...)
}

// orderKeyBetween returns a short key between low and high, with low < high or an empty high.
func orderKeyBetween(low, high string) string {
	digit := func(text string, i int) int {
		if i < len(text) {
			return strings.IndexByte(orderDigits, text[i])
		}
		return 0
	}
	for i := range len(high) {
		if digit(low, i) == digit(high, i) {
			continue
		}
		if i == 0 {
			break
		}
		return high[:i] + orderKeyBetween(low[min(i, len(low)):], high[i:])
	}
	first, last := digit(low, 0), len(orderDigits)
	if high != "" {
		last = digit(high, 0)
	}
	switch {
	case last-first > 1:
		return string(orderDigits[(first+last)/2])
	case len(high) > 1:
		return high[:1]
	}
	return string(orderDigits[first]) + orderKeyBetween(low[min(1, len(low)):], "")
}
