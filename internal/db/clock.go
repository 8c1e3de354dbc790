package db

import "time"

// clockSkew is the largest difference between the clocks of two nodes that the program tolerates.
const clockSkew = 10 * time.Minute

// LatestPlausible returns the latest time that nodes with correct clocks can have stored until now. ahead is how far after its
// own clock a node may store a time, for example the length of a lease. A later stored time means that a node's clock was wrong,
// and code that waits for a stored time must ignore it: a clock that was a day ahead would make the code wait for a day.
func LatestPlausible(now time.Time, ahead time.Duration) time.Time {
	return now.Add(ahead + clockSkew)
}
