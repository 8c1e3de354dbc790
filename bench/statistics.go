package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// This file has the statistics with which benchmarks compare measured times.

// mannWhitney returns the two-sided p value of the Mann-Whitney test: the probability that two samples from one distribution differ at least
// as much as a and b. It uses the normal approximation with the correction for ties (equal values). The approximation needs about 20 values
// in each sample.
func mannWhitney(a, b []time.Duration) float64 {
	type value struct {
		duration time.Duration
		isFromA  bool
	}
	all := make([]value, 0, len(a)+len(b))
	for _, d := range a {
		all = append(all, value{d, true /* isFromA */})
	}
	for _, d := range b {
		all = append(all, value{d, false /* isFromA */})
	}
	slices.SortFunc(all, func(x, y value) int { return cmp.Compare(x.duration, y.duration) })
	var rankSumA, tieSum float64 // the sum of the ranks of a, and the sum of t³ - t over all groups of t equal values
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].duration == all[i].duration {
			j++
		}
		meanRank := float64(i+j+1) / 2 // equal values have the ranks i+1 … j and share their mean
		for _, v := range all[i:j] {
			if v.isFromA {
				rankSumA += meanRank
			}
		}
		t := float64(j - i)
		tieSum += t*t*t - t
		i = j
	}
	nA, nB := float64(len(a)), float64(len(b))
	n := nA + nB
	u := rankSumA - nA*(nA+1)/2
	meanU := nA * nB / 2 // the mean of u, and below its standard deviation, for samples from one distribution
	standardDeviation := math.Sqrt(nA * nB / 12 * (n + 1 - tieSum/(n*(n-1))))
	if standardDeviation == 0 {
		return 1 // all values are equal
	}
	return math.Erfc(math.Abs(u-meanU) / standardDeviation / math.Sqrt2)
}

// medianDifference returns the median of a minus the median of b, and the 95 % confidence interval of this difference by bootstrap: from
// the differences between samples that are resampled from a and b with replacement.
func medianDifference(a, b []time.Duration) (difference, low, high time.Duration) {
	const replicates = 2000
	random := rand.New(rand.NewPCG(1, 2)) // a fixed seed: the same measurements give the same interval
	resample := func(sample []time.Duration) []time.Duration {
		out := make([]time.Duration, len(sample))
		for i := range out {
			out[i] = sample[random.IntN(len(sample))]
		}
		return out
	}
	differences := make([]time.Duration, replicates)
	for i := range differences {
		differences[i] = median(resample(a)) - median(resample(b))
	}
	slices.Sort(differences)
	return median(a) - median(b), differences[replicates/40], differences[replicates-replicates/40] // 1/40 is 2.5 %
}
