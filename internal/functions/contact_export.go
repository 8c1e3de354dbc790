package functions

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"atelie/internal/activity"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// exportPage is how many messages an export reads at once.
const exportPage = 500

// eachMessage calls yield for each message of an export, and ends at the first error.
type eachMessage func(yield func(exportedMessage) error) error

// exportWriters write the messages of an export, by the format.
var exportWriters = map[string]func(io.Writer, eachMessage) error{"csv": writeMessagesCSV, "json": writeMessagesJSON}

// exportRequest is the body of a call of contact-export.
type exportRequest struct {
	Format string `json:"format"` // csv or json
}

// contactExport answers the function contact-export for owners (administrators): a file with all messages, those in quarantine
// last. It is written while it is read, so that its size has no limit.
func (s *Service) contactExport(w http.ResponseWriter, r *http.Request) error {
	var req exportRequest
	if err := httpx.DecodeJSON(w, r, maxBody, &req); err != nil {
		return err
	}
	write := exportWriters[req.Format]
	if write == nil {
		return errInvalid("The format must be csv or json")
	}
	if err := activity.RecordExport(r.Context(), s.db, "contact-export", identity.Of(r.Context()).UserID, s.now()); err != nil {
		return err
	}
	out := startDownload(w, fmt.Sprintf("messages-%s.%s", s.now().UTC().Format(time.DateOnly), req.Format))
	ctx := context.WithoutCancel(r.Context()) // a request has a time limit that a long file may exceed
	return out.end(r.Context(), write(out, func(yield func(exportedMessage) error) error { return s.eachExported(ctx, yield) }))
}

// eachExported calls yield for each message in the order of an export. It reads in pages, without a transaction, so that a slow
// client keeps nobody from writing.
func (s *Service) eachExported(ctx context.Context, yield func(exportedMessage) error) error {
	for _, quarantined := range []bool{false, true} {
		var last exportedMessage
		for {
			page, err := s.readExport(ctx, quarantined, last)
			if err != nil {
				return err
			}
			for _, last = range page {
				if err := yield(last); err != nil {
					return err
				}
			}
			if len(page) < exportPage {
				break
			}
		}
	}
	return nil
}

// readExport reads the next page, within a time limit of its own.
func (s *Service) readExport(ctx context.Context, quarantined bool, last exportedMessage) ([]exportedMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return exportAfter(ctx, s.db, quarantined, "", last, exportPage)
}

// writeMessagesCSV writes messages as CSV (RFC 4180). It begins with a byte order mark, without which Excel reads no UTF-8.
func writeMessagesCSV(w io.Writer, each eachMessage) error {
	if _, err := io.WriteString(w, "\uFEFF"); err != nil {
		return err
	}
	out := csv.NewWriter(w)
	out.UseCRLF = true
	if err := out.Write([]string{"id", "created_at", "name", "email", "reason", "status", "message"}); err != nil {
		return err
	}
	err := each(func(m exportedMessage) error {
		return out.Write([]string{m.ID, m.CreatedAt.Format(time.RFC3339), textCell(m.Name), textCell(m.Email), m.Reason, m.Status, textCell(m.Message)})
	})
	out.Flush()
	return errors.Join(err, out.Error())
}

// writeMessagesJSON writes messages as a JSON array with one message a line.
func writeMessagesJSON(w io.Writer, each eachMessage) error {
	separator := "[\n"
	err := each(func(m exportedMessage) error {
		line, err := json.Marshal(m)
		if err != nil {
			return err
		}
		_, err = w.Write(append([]byte(separator), line...))
		separator = ",\n"
		return err
	})
	if err != nil {
		return err
	}
	end := "\n]\n"
	if separator == "[\n" {
		end = "[]\n"
	}
	_, err = io.WriteString(w, end)
	return err
}
