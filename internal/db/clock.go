package db

import "time"

// clockSkew is the largest difference between the clocks of two nodes that the program tolerates.
const clockSkew = 10 * time.Minute

// LatestPlausible returns the latest time that a row can contain if nodes write times of at most longest after now. A row with
// a later time was written while a node's clock was ahead. Code that waits for a stored time must ignore such a time: once a
// clock that was a day ahead is corrected, the code would otherwise wait for a day.
func LatestPlausible(now time.Time, longest time.Duration) time.Time {
	return now.Add(longest + clockSkew)
}
