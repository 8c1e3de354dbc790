package functions

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"

	"atelie/internal/activity"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// This file handles POST /functions/v1/contact-export, with which an owner (administrator) saves all messages as a CSV or JSON file. A new
// format needs an entry in exportWriters.

// exportPageSize is the maximum number of messages that an export reads with one query.
const exportPageSize = 500

// messageIterator calls yield for each message of an export. It returns the first error of yield, or of reading a message.
type messageIterator func(yield func(exportedMessage) error) error

// exportWriters contains, for each format, the function that writes the messages of an export.
var exportWriters = map[string]func(io.Writer, messageIterator) error{"csv": writeMessagesCSV, "json": writeMessagesJSON}

// contactExport handles the contact-export function for owners. It sends a file with all messages: first those of the inbox, then those in
// quarantine (likely spam). It sends each page of messages before it reads the next one, so that its memory does not grow with the file.
func (s *Service) contactExport(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		Format string `json:"format"` // csv or json
	}
	if err := httpx.DecodeJSON(w, r, maxBody, &req); err != nil {
		return err
	}
	writeMessages := exportWriters[req.Format]
	if writeMessages == nil {
		return errInvalid("The format must be csv or json")
	}
	if err := activity.RecordExport(r.Context(), s.db, "contact-export", identity.Of(r.Context()).UserID, s.now()); err != nil {
		return err
	}
	file := startExportFile(w, fmt.Sprintf("messages-%s.%s", s.now().UTC().Format(time.DateOnly), req.Format))
	ctx := context.WithoutCancel(r.Context()) // sending a large file may take longer than the request timeout
	allMessages := func(yield func(exportedMessage) error) error {
		for _, quarantined := range []bool{false, true} {
			// The pages are not read in one transaction, which would stay open as long as a slow client receives the file, and could block writes.
			if err := eachMessage(ctx, s.db, quarantined, "" /* of all addresses */, yield); err != nil {
				return err
			}
		}
		return nil
	}
	return file.end(r.Context(), writeMessages(file, allMessages))
}

// eachMessage calls yield for each message that quarantined and address select (see listExportedAfter), and ends at the first error of
// yield. Each page of messages must be read within defaultStoreTimeout.
func eachMessage(ctx context.Context, q db.Querier, quarantined bool, address string, yield func(exportedMessage) error) error {
	var last exportedMessage
	for {
		pageCtx, cancel := context.WithTimeout(ctx, defaultStoreTimeout)
		page, err := listExportedAfter(pageCtx, q, quarantined, address, last)
		if err == nil {
			err = addConversations(pageCtx, q, page)
		}
		cancel()
		if err != nil {
			return err
		}
		for _, last = range page {
			if err := yield(last); err != nil {
				return err
			}
		}
		if len(page) < exportPageSize {
			return nil
		}
	}
}

// writeMessagesCSV writes messages as CSV (RFC 4180). A byte order mark comes first, without which Excel does not expect UTF-8.
func writeMessagesCSV(w io.Writer, each messageIterator) error {
	if _, err := io.WriteString(w, "\uFEFF"); err != nil {
		return err
	}
	out := csv.NewWriter(w)
	out.UseCRLF = true
	if err := out.Write([]string{"id", "created_at", "name", "email", "reason", "status", "message"}); err != nil {
		return err
	}
	err := each(func(m exportedMessage) error {
		return out.Write([]string{m.ID, m.CreatedAt.Format(time.RFC3339), escapeCell(m.Name), escapeCell(m.Email), m.Reason, m.Status, escapeCell(m.Message)})
	})
	out.Flush()
	return errors.Join(err, out.Error())
}

// writeMessagesJSON writes messages as a JSON array with one message a line.
func writeMessagesJSON(w io.Writer, each messageIterator) error {
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

// formulaStart matches the places in a cell of a CSV file where a spreadsheet could begin a formula: the start of the cell, and
// each separator at which another program may split the line (Excel splits at semicolons in Portugal). It also matches the
// full-width forms of =, +, - and @, because some spreadsheets treat them like the ASCII characters.
var formulaStart = regexp.MustCompile(`((?:^|[\t\r\n,;|])[\s"']*)([=+\-@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}])`)

// escapeCell returns a text that no spreadsheet runs as a formula. It adds an apostrophe before each character that could begin a
// formula, and before a tab or line end at the start of the cell.
func escapeCell(text string) string {
	text = formulaStart.ReplaceAllString(text, "$1'$2")
	if text != "" && (text[0] == '\t' || text[0] == '\r' || text[0] == '\n') {
		return "'" + text
	}
	return text
}
