package tables

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// This file makes order keys: texts by whose bytes the rows of a table are ordered. Between any two of them there is another one, so
// that a row moves to any place without a change of other rows. The keys of new rows count time backwards: a new row comes first,
// and rows that nobody has moved are ordered by created_at, newest first. Migration 34 makes the same keys for older rows.

// orderDigits are the characters of an order key in their order. The last character of a key is not the first of them: nothing
// would be between "a" and "a0".
const orderDigits = "0123456789abcdefghijklmnopqrstuvwxyz"

const (
	maxOrderKey = 200 // characters; a longer key makes the moved rows' table be renumbered
	timeDigits  = 17  // decimal digits at the beginning of the key of a new row
	maxTimeKey  = 99_999_999_999_999_999
)

var orderKeyText = regexp.MustCompile(`^([0-9a-z]*[1-9a-z])?$`)

// isOrderKey reports whether a text is an order key, or empty. The empty text stands for the key by the row's created_at.
func isOrderKey(text string) bool { return orderKeyText.MatchString(text) }

// orderKeyOf returns the key of a row that nobody has moved. Of rows with the same time the one with the lower id comes first, as
// Table.Ties has it. No other row has this key, because it contains the id.
func orderKeyOf(created time.Time, id string) string {
	return timeOrderKey(min(max(maxTimeKey-created.UnixMicro(), 0), maxTimeKey), id)
}

func timeOrderKey(n int64, id string) string {
	return fmt.Sprintf("%0*d%si", timeDigits, n, strings.ReplaceAll(id, "-", ""))
}

// firstOrderKeys returns the keys of rows that move before all others, in the order of ids. first is the least key of the others, ""
// if there are none. A row that is inserted later still comes before them. ok is false if there is no room before first.
func firstOrderKeys(first string, now time.Time, ids []string) (keys []string, ok bool) {
	n := maxTimeKey - now.UnixMicro()
	digits := first[:len(first)-len(strings.TrimLeft(first, "0123456789"))] // another key than a new row's may have a letter early
	digits = (digits + strings.Repeat("0", timeDigits))[:timeDigits]
	if bound, err := strconv.ParseInt(digits, 10, 64); first != "" && first[0] <= '9' && err == nil {
		n = min(n, bound-1)
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

// lastOrderKeyOf returns the key of a new row of a table in which new rows come last. n counts with the time.
func lastOrderKeyOf(n int64, id string) string { return lastDigit + timeOrderKey(n, id) }

// lastDigit begins the keys of rows that come last. It follows the first character of renumbered keys (renderOrderKeys).
const lastDigit = "s"

// lastOrderKeys returns the keys of rows that move after all others, in the order of ids. last is the greatest key of the others, "" if
// there are none. A row that is inserted later still comes after them. ok is false if there is no room after last.
func lastOrderKeys(last string, now time.Time, ids []string) (keys []string, ok bool) {
	n := now.UnixMicro()
	if digits, found := strings.CutPrefix(last, lastDigit); found {
		digits = digits[:len(digits)-len(strings.TrimLeft(digits, "0123456789"))]
		digits = (digits + strings.Repeat("9", timeDigits))[:timeDigits]
		after, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return nil, false
		}
		n = max(n, after+1)
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
	for _, key := range keys {
		if len(key) > maxOrderKey {
			return nil, false
		}
	}
	return keys, true
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
