package settings

import (
	"context"
	"time"

	"atelie/internal/db"
	"atelie/internal/i18n"
)

// storeResponseTime measures the response time and stores it in the response_time table, if pages show it. It does not write the same hours
// again, because each write raises the content version and so invalidates the cached pages.
func storeResponseTime(ctx context.Context, q db.Querier, site Site) error {
	if site.ResponseTime != responseMeasured {
		return nil
	}
	measured, err := readAnswerTimes(ctx, q)
	if err != nil {
		return err
	}
	var hours *int // null if there are too few answers
	if measured.Hours > 0 {
		hours = &measured.Hours
	}
	return db.Exec(ctx, q, `insert into response_time (id, hours) values (1, $1)
		on conflict (id) do update set hours = excluded.hours where response_time.hours is distinct from excluded.hours`, hours)
}

// readAnswerTimes reads how soon the messages that were answered last got their answers, at most maxAnswers messages. The response time is
// the median of these times.
func readAnswerTimes(ctx context.Context, q db.Querier) (measured answerTimes, err error) {
	waits, err := db.Collect(ctx, q, func(row db.Row) (time.Duration, error) {
		var sent, answered time.Time
		err := row.Scan(&sent, &answered)
		return answered.Sub(sent), err
	}, "select created_at, answered_at from contact_submissions where answered_at is not null order by answered_at desc limit $1", maxAnswers)
	if err != nil {
		return measured, err
	}
	measured.Answers = len(waits)
	if measured.Answers >= minAnswers {
		measured.Hours = roundedHours(median(waits))
		measured.EN, measured.PT = responseText(i18n.EN, measured.Hours), responseText(i18n.PT, measured.Hours)
	}
	return measured, nil
}

// storedHours reads the stored response time; it returns 0 if there is none.
func storedHours(ctx context.Context, q db.Querier) (int, error) {
	hours, err := db.One[int](ctx, q, "select coalesce(hours, 0) from response_time")
	return hours, db.NoRowsAs(err, nil)
}
