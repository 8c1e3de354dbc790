package functions

import (
	"bytes"
	"context"
	"strings"
	"unicode"

	ics "github.com/arran4/golang-ical"

	"atelie/internal/i18n"
	"atelie/internal/settings"
)

// calendarText returns the text of a calendar in the format iCalendar (RFC 5545). The calendar has an all-day event for each date for which
// a commission (a work that a visitor orders) is promised.
func (s *Service) calendarText(ctx context.Context, l i18n.Language, promises []promise) ([]byte, error) {
	site, err := settings.LoadSite(ctx, s.db)
	if err != nil {
		return nil, err
	}
	c := ics.NewCalendar() // iCalendar version 2.0
	c.SetProductId("-//Atelie//Commissions//" + strings.ToUpper(string(l)))
	c.SetXWRCalName(calendarLine(l.Text("calendar.name", "site", site.Name))) // the calendar's name in Apple Calendar, Google Calendar and Outlook
	// Calendar programs read the calendar again every hour. Outlook has its own name for the interval.
	c.SetRefreshInterval("PT1H", ics.WithValue(string(ics.ValueDataTypeDuration)))
	c.SetXPublishedTTL("PT1H")
	for _, p := range promises {
		s.addEvent(c, l, p)
	}
	if len(promises) == 0 { // a calendar must have at least one component (RFC 5545 §3.6), so it gets a time zone
		utc := c.AddTimezone("Etc/UTC").AddStandard()
		utc.SetProperty(ics.ComponentPropertyDtStart, "19700101T000000")
		utc.SetProperty(ics.ComponentProperty(ics.PropertyTzoffsetfrom), "+0000")
		utc.SetProperty(ics.ComponentProperty(ics.PropertyTzoffsetto), "+0000")
	}
	var text bytes.Buffer
	err = c.SerializeTo(&text, ics.WithNewLineWindows) // CRLF on every system
	return text.Bytes(), err
}

// addEvent adds the event of a promised date. The UID of the event is the id of the message, so that a calendar program recognizes the
// event when the date changes.
func (s *Service) addEvent(c *ics.Calendar, l i18n.Language, p promise) {
	work := p.Work
	if work == "" {
		work = l.Text("calendar.commission")
	}
	title := l.Text("calendar.about", "client", p.Client, "work", work)
	if p.Stage == stageFinished {
		title = l.Text("calendar.finished", "event", title)
	}
	page := s.cfg.SiteURL + "/admin/contact-messages?message=" + p.MessageID
	e := c.AddEvent(p.MessageID)
	e.SetDtStampTime(s.now()) // required; the site does not store when the event last changed
	e.SetAllDayStartAt(p.Day)
	e.SetAllDayEndAt(p.Day.AddDate(0, 0, 1)) // the end is exclusive
	e.SetSummary(calendarLine(title))
	e.SetDescription(l.Text("calendar.stage."+p.Stage) + "\n" + page) // with the URL, because Google Calendar does not show the property URL
	e.SetURL(page)
	e.SetTimeTransparency(ics.TransparencyTransparent) // the day still counts as free
}

// calendarLine returns a text as one line. It removes control characters, which RFC 5545 excludes, and characters that change the direction
// of the surrounding text. The library escapes the other special characters.
func calendarLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, removeBidiControls(text))
	return strings.Join(strings.Fields(text), " ") // Fields splits at line breaks too, also at U+2028 and U+2029
}

// removeBidiControls removes the characters that change the direction of the surrounding text (bidirectional controls). It is for texts
// that are shown in one line with other texts.
func removeBidiControls(text string) string {
	return strings.Map(func(r rune) rune {
		if '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' {
			return -1
		}
		return r
	}, text)
}
