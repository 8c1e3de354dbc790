package settings

import (
	"context"
	"slices"
	"strconv"
	"time"

	"atelie/internal/db"
	"atelie/internal/i18n"
)

// This file calculates the response time (how soon the owner usually answers messages) and makes its text for visitors. The queries are in
// store_response_time.go.

// Values of Site.ResponseTime.
const (
	responseWritten  = ""         // pages show the owner's text
	responseMeasured = "measured" // pages show the measured time, or the owner's text while there are fewer than minAnswers answers
)

const (
	minAnswers = 10 // minimum number of answered messages for a response time
	maxAnswers = 20 // maximum number of messages that are measured: those that were answered last
)

// answerTimes is the result of measuring the response time.
type answerTimes struct {
	Answers int    `json:"answers"` // number of answered messages that were measured
	Hours   int    `json:"hours"`   // the response time; 0 if there are fewer than minAnswers answers
	EN      string `json:"en"`      // the text that visitors read, in English; "" if Hours is 0
	PT      string `json:"pt"`      // the text in Portuguese
}

// MeasureResponseTime measures the response time and stores it, if the owner has chosen that pages show the measured time. A result that
// equals the stored one is not written, so that the cached pages stay valid.
func (s *Service) MeasureResponseTime(ctx context.Context, q db.Querier) error {
	site, err := LoadSite(ctx, q)
	if err != nil {
		return err
	}
	return storeResponseTime(ctx, q, site)
}

func median(values []time.Duration) time.Duration {
	slices.Sort(values)
	upper := len(values) / 2
	if len(values)%2 == 1 {
		return values[upper]
	}
	return values[upper-1] + (values[upper]-values[upper-1])/2
}

// dailyFrom is the number of hours from which a response time is rounded to days.
const dailyFrom = 48

// roundedHours rounds a response time up to whole hours, or from dailyFrom hours on to whole days. It rounds up, so that visitors are not
// promised a faster answer than was measured.
func roundedHours(d time.Duration) int {
	ceil := func(unit time.Duration) int { return max(1, int((d+unit-1)/unit)) }
	if hours := ceil(time.Hour); hours < dailyFrom {
		return hours
	}
	return 24 * ceil(24*time.Hour)
}

// responseText returns the text about a measured response time that visitors read.
func responseText(l i18n.Language, hours int) string {
	switch {
	case hours == 1:
		return l.Text("response.hour")
	case hours < dailyFrom:
		return l.Text("response.hours", "n", strconv.Itoa(hours))
	}
	return l.Text("response.days", "n", strconv.Itoa(hours/24))
}

// setResponseTime replaces the owner's text by the measured response time, if the owner has chosen so and enough messages were answered.
func (s *Site) setResponseTime(ctx context.Context, q db.Querier) error {
	if s.ResponseTime != responseMeasured {
		return nil
	}
	hours, err := storedHours(ctx, q)
	if err != nil {
		return err
	}
	if hours > 0 {
		s.Texts.EN.ContactResponseTime = responseText(i18n.EN, hours)
		s.Texts.PT.ContactResponseTime = responseText(i18n.PT, hours)
	}
	s.ResponseTime = responseWritten
	return nil
}

// setConfirmation replaces the text that visitors read after sending a message, if it is the seed's and so names the response time of
// the seed, but the page shows another response time. The new text names no time.
func (s *Site) setConfirmation() error {
	original, err := siteOf(nil)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		texts, original *Texts
		language        i18n.Language
	}{{&s.Texts.EN, &original.Texts.EN, i18n.EN}, {&s.Texts.PT, &original.Texts.PT, i18n.PT}} {
		if c.texts.ContactSuccessBody == c.original.ContactSuccessBody && c.texts.ContactResponseTime != c.original.ContactResponseTime {
			c.texts.ContactSuccessBody = c.language.Text("response.confirmation")
		}
	}
	return nil
}
