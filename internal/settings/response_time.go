package settings

import (
	"context"
	"slices"
	"strconv"
	"time"

	"atelie/internal/db"
	"atelie/internal/i18n"
)

// Values of Site.ResponseTime.
const (
	responseWritten  = ""         // visitors read the owner's text
	responseMeasured = "measured" // visitors read how soon messages were answered, once minAnswers were
)

const (
	minAnswers  = 10 // fewer answers tell nothing
	lastAnswers = 20 // the answers that count
)

// answerTimes is what the answers to messages tell of the response time.
type answerTimes struct {
	Answers int    `json:"answers"` // how many count
	Hours   int    `json:"hours"`   // the measured time; 0 while too few answers count
	EN      string `json:"en"`      // what visitors read of it, "" while too few answers count
	PT      string `json:"pt"`
}

// MeasureResponseTime stores how soon messages are answered, if visitors are told. Pages change only when the stored hours do, so that
// an answer that fits the others leaves the cached pages.
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

// dailyFrom is the number of hours from which a response time is told in days.
const dailyFrom = 48

// roundedHours rounds a response time up, so that visitors are not promised less than was measured: to hours, or to days from
// dailyFrom hours on.
func roundedHours(d time.Duration) int {
	ceil := func(unit time.Duration) int { return max(1, int((d+unit-1)/unit)) }
	if hours := ceil(time.Hour); hours < dailyFrom {
		return hours
	}
	return 24 * ceil(24*time.Hour)
}

// responseText returns what visitors are told of a measured response time.
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

// setConfirmation replaces the seed's text after a sent message, which names the seed's response time, by one that names none where
// visitors read another response time.
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
