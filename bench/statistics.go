package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// This file has the statistics with which benchmarks compare measured times.

// mannWhitney returns the two-sided p value of the Mann-Whitney test: how probable a difference as large as that of the two samples is if
// both come from one distribution. It uses the normal approximation with a correction for equal values (ties). It needs about 20 values in
// each sample.
func mannWhitney(a, b []time.Duration) float64 {
	type value struct {
		duration time.Duration
		first    bool
	}
	all := make([]value, 0, len(a)+len(b))
	for _, d := range a {
		all = append(all, value{d, true})
	}
	for _, d := range b {
		all = append(all, value{d, false})
	}
	slices.SortFunc(all, func(x, y value) int { return cmp.Compare(x.duration, y.duration) })
	var ranks, ties float64
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].duration == all[i].duration {
			j++
		}
		rank := float64(i+j+1) / 2 // the mean of i+1 … j
		for _, v := range all[i:j] {
			if v.first {
				ranks += rank
			}
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	n1, n2 := float64(len(a)), float64(len(b))
	n := n1 + n2
	u := ranks - n1*(n1+1)/2
	spread := math.Sqrt(n1 * n2 / 12 * (n + 1 - ties/(n*(n-1))))
	if spread == 0 {
		return 1
	}
	return math.Erfc(math.Abs(u-n1*n2/2) / spread / math.Sqrt2)
}

// medianDifference returns the difference of the medians of two samples, and its 95 % confidence interval by bootstrap (from samples that
// are drawn again, at random, from the two samples).
func medianDifference(a, b []time.Duration) (difference, low, high time.Duration) {
	const replicates = 2000
	random := rand.New(rand.NewPCG(1, 2)) // the same replicates for the same measurements
	draw := func(from []time.Duration) []time.Duration {
		out := make([]time.Duration, len(from))
		for i := range out {
			out[i] = from[random.IntN(len(from))]
		}
		return out
	}
	all := make([]time.Duration, replicates)
	for i := range all {
		all[i] = median(draw(a)) - median(draw(b))
	}
	slices.Sort(all)
	return median(a) - median(b), all[replicates/40], all[replicates-replicates/40]
}
