package db

import "time"

// clockSkew is the largest difference between the clocks of two nodes that the program tolerates.
const clockSkew = 10 * time.Minute

// LatestPlausible returns the latest time that nodes with correct clocks can have stored until now. A later time means that a node's
// clock was wrong. Code that waits for a stored time must ignore such a time: otherwise, after a clock was a day ahead, it would wait for
// a day. ahead is how far after its own clock a node may store a time, for example the length of a lease.
func LatestPlausible(now time.Time, ahead time.Duration) time.Time {
	return now.Add(ahead + clockSkew)
}
