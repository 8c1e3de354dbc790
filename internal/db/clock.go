package db

import "time"

// clockSkew is the largest difference between the clocks of two nodes that the program tolerates.
const clockSkew = 10 * time.Minute

// LatestPlausible returns the latest time that can be stored now if nodes store times of at most ahead after their own clock,
// for example the end of a lease. A later time was stored while a node's clock was wrong. Code that waits for a stored time must
// ignore such a time: otherwise it would wait for a day after a clock that was a day ahead is corrected.
func LatestPlausible(now time.Time, ahead time.Duration) time.Time {
	return now.Add(ahead + clockSkew)
}
