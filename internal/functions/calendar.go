package functions

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"atelie/internal/activity"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/i18n"
	"atelie/internal/identity"
)

// This file handles POST /functions/v1/calendar-feed, with which an owner (administrator) creates, replaces or removes a calendar. It also
// serves the calendars to calendar programs. A calendar (iCalendar) contains the dates for which commissions (works that visitors order)
// are promised. calendar_text.go makes its text.

// CalendarPath is the beginning of the URL path of a calendar. The secret token of the calendar and calendarEnding follow, as in
// /calendar/{token}.ics.
const CalendarPath = httpx.CalendarPath

const calendarEnding = ".ics" // file extension of iCalendar (RFC 5545)

// calendarRequestsPerMinute is the limit of requests for calendars from one IP address. It also slows down the guessing of tokens.
const calendarRequestsPerMinute = 60

// calendarRequest is the body of a call of calendar-feed.
type calendarRequest struct {
	// Action is
	//   - state, or "": changes nothing
	//   - create: makes a calendar, unless the account has one
	//   - replace: makes a calendar with another URL in place of the present one
	//   - remove: deletes the calendar
	Action   string        `json:"action"`
	Language i18n.Language `json:"language"` // for create and replace: language of the calendar's texts
}

// calendarState is the response of calendar-feed.
type calendarState struct {
	Success  bool         `json:"success"`
	Calendar *ownCalendar `json:"calendar"` // null if the account has none
}

// ownCalendar is the calendar of the caller's account.
type ownCalendar struct {
	URL       string        `json:"url"` // "" if the server can no longer derive it, because the site's secret was replaced
	Language  i18n.Language `json:"language"`
	CreatedAt time.Time     `json:"created_at"`
}

// calendarFeed handles the calendar-feed function for owners. It acts on the calendar of the caller's account. All actions respond with
// calendarState.
func (s *Service) calendarFeed(w http.ResponseWriter, r *http.Request) error {
	var req calendarRequest
	if err := httpx.DecodeJSON(w, r, maxBody, &req); err != nil {
		return err
	}
	actions := map[string]func(context.Context, *db.Tx, string, calendarRequest) error{
		"": nil, "state": nil, // these change nothing
		"create": s.makeCalendar, "replace": s.makeCalendar, "remove": s.removeCalendar,
	}
	act, ok := actions[req.Action]
	if !ok {
		return errInvalid("The action must be state, create, replace or remove")
	}
	if req.Action == "create" || req.Action == "replace" {
		if !slices.Contains(i18n.Languages, req.Language) {
			return errInvalid("The language must be en or pt")
		}
		if err := s.cfg.CheckSpace(); err != nil {
			return err
		}
	}
	userID := identity.Of(r.Context()).UserID
	if userID == "" { // the caller is the service key
		return errNoAccount
	}
	state := calendarState{Success: true}
	err := s.db.WithTx(r.Context(), func(tx *db.Tx) error {
		if act != nil {
			if err := act(r.Context(), tx, userID, req); err != nil {
				return err
			}
		}
		f, err := readCalendarOf(r.Context(), tx, userID)
		if errors.Is(err, db.ErrNoRows) {
			return nil
		}
		state.Calendar = &ownCalendar{s.secretURL(CalendarPath, f.Nonce, f.Hash, calendarEnding), f.Language, f.CreatedAt.UTC()}
		return err
	})
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, state)
}

// makeCalendar handles the actions create and replace. create does not change a calendar that exists, so that a second call does not
// invalidate the URL that the first call has made.
func (s *Service) makeCalendar(ctx context.Context, tx *db.Tx, userID string, req calendarRequest) error {
	if found, err := hasRole(ctx, tx, userID); err != nil {
		return err
	} else if !found { // the role was removed during the call
		return errForbidden
	}
	f := calendarFeed{Nonce: rand.Text(), Language: req.Language, CreatedAt: s.now()}
	f.Hash = hashText(deriveToken(s.cfg.LinkKey, f.Nonce))
	stored, err := storeCalendar(ctx, tx, userID, f, req.Action == "replace")
	if err != nil || !stored {
		return err
	}
	return activity.RecordCalendar(ctx, tx, activity.CalendarMade, userID, s.now())
}

// removeCalendar handles the remove action.
func (s *Service) removeCalendar(ctx context.Context, tx *db.Tx, userID string, _ calendarRequest) error {
	removed, err := deleteCalendarOf(ctx, tx, userID)
	if err != nil || !removed {
		return err
	}
	return activity.RecordCalendar(ctx, tx, activity.CalendarRemoved, userID, s.now())
}

// Calendar handles /calendar/{token}.ics, the calendar with the promised dates of commissions, to which calendar programs subscribe. All
// calendars that do not exist have the same response, whether their tokens are unknown, replaced or malformed.
func (s *Service) Calendar(w http.ResponseWriter, r *http.Request) error {
	setEnquiryHeaders(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return errMethodNotAllowed
	}
	if err := s.enforceLimit(w, r, "calendar", httpx.LimitSubject(r.Context()), calendarRequestsPerMinute, errTooManyRequests); err != nil {
		return err
	}
	token, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, CalendarPath), calendarEnding)
	if !ok {
		token = "" // no token has this hash
	}
	l, err := calendarLanguage(r.Context(), s.db, hashText(token), s.now())
	if err != nil {
		return db.NoRowsAs(err, errNoCalendar)
	}
	promises, err := listPromises(r.Context(), s.db, l)
	if err != nil {
		return err
	}
	text, err := s.calendarText(r.Context(), l, promises)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/calendar; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Disposition", `inline; filename="`+l.Text("calendar.file")+`"`)
	_, _ = w.Write(text) // fails only if the client has closed the connection
	return nil
}
