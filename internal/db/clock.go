package db

import "time"

// ClockSkew is the maximum difference between the clocks of two nodes. With a larger difference, a node may treat the times that another
// node has stored as wrong.
const ClockSkew = 10 * time.Minute

// LatestPlausible returns the latest time that a node with a correct clock can have stored by now. ahead is how far in the future a node
// may store a time, for example the length of a lease (a lock that expires). A later time was stored by a node whose clock was wrong. Code
// that waits for a stored time must ignore a later time. Without this rule, a clock that was a day ahead could make the code wait for a day.
func LatestPlausible(now time.Time, ahead time.Duration) time.Time {
	return now.Add(ahead + ClockSkew)
}
