package main

import (
	"math/rand/v2"
	"testing"
	"time"
)

// sample returns n random durations of about 1 ms. Their standard deviation is 0.1 ms, and shift units of it are added to each.
func sample(random *rand.Rand, n int, shift float64) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = time.Duration(1e6 + 1e5*(random.NormFloat64()+shift))
	}
	return out
}

// Proves A-safe-4.
func TestSamplesOfOneDistributionAreAlike(t *testing.T) {
	random, different := rand.New(rand.NewPCG(3, 4)), 0
	for range 400 {
		if mannWhitney(sample(random, 100, 0), sample(random, 100, 0)) < 0.05 {
			different++
		}
	}
	if different < 6 || different > 36 { // a p value below 0.05 is expected in about 20 of the comparisons
		t.Errorf("%d of 400 pairs are called different", different)
	}
	same := []time.Duration{5, 5, 5}
	if p := mannWhitney(same, same); p != 1 {
		t.Errorf("equal values: p = %v", p)
	}
}

// Proves A-safe-4.
func TestShiftIsDetected(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	a, b := sample(random, 500, 0.5), sample(random, 500, 0)
	if p := mannWhitney(a, b); p > 1e-6 {
		t.Errorf("p = %v", p)
	}
	difference, low, high := medianDifference(a, b)
	if low <= 0 || difference < low || difference > high || low > 50*time.Microsecond || high < 50*time.Microsecond {
		t.Errorf("%v in [%v, %v], want about 50µs", difference, low, high)
	}
}

// Proves A-safe-4.
func TestMannWhitneyAgreesWithACalculationByHand(t *testing.T) {
	// Calculated by hand: U = 3 of 25, z = (12.5 - 3) / sqrt(25 * 11 / 12) = 1.9845, so p is about 0.0472.
	a, b := []time.Duration{1, 2, 3, 4, 8}, []time.Duration{5, 6, 7, 9, 10}
	if p := mannWhitney(a, b); p < 0.0471 || p > 0.0474 {
		t.Errorf("p = %v", p)
	}
}
