package db

import "time"

// clockSkew is the maximum difference between the clocks of two nodes that the program tolerates.
const clockSkew = 10 * time.Minute

// LatestPlausible returns the latest time that a node with a correct clock can have stored until now. ahead is how far after its own
// clock a node may store a time, for example the length of a lease. A later time was stored by a node whose clock was wrong. Code that
// waits for a stored time must ignore such a time; otherwise a clock that was a day ahead would make it wait for a day.
func LatestPlausible(now time.Time, ahead time.Duration) time.Time {
	return now.Add(ahead + clockSkew)
}
