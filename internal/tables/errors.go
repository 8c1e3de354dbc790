package tables

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// This file defines the errors of /rest/v1. Clients read the codes and texts of errors, so these are the codes and texts of PostgREST
// (codes PGRST…) or of PostgreSQL (codes of five characters).

// errBadRequest returns an error with the status 400.
func errBadRequest(code, format string, args ...any) *apperr.Error {
	return apperr.New(http.StatusBadRequest, code, fmt.Sprintf(format, args...))
}

// withDetails returns a copy of e with the given Details.
func withDetails(e *apperr.Error, format string, args ...any) *apperr.Error {
	c := *e
	c.Details = fmt.Sprintf(format, args...)
	return &c
}

// errUnknownTable is the error for a table that schema.go does not list.
func errUnknownTable(name string) *apperr.Error {
	return apperr.New(http.StatusNotFound, "PGRST205", fmt.Sprintf("Could not find the table 'public.%s' in the schema cache", truncate(name)))
}

// errUnknownColumn is the error for an unknown column in a query.
func errUnknownColumn(t *Table, name string) *apperr.Error {
	return errBadRequest("42703", "column %s.%s does not exist", t.Name, truncate(name))
}

// errUnknownField is the error for an unknown column in a body.
func errUnknownField(t *Table, name string) *apperr.Error {
	return errBadRequest("PGRST204", "Could not find the '%s' column of '%s' in the schema cache", truncate(name), t.Name)
}

// errUnknownFunction is the error for a call of a function that does not exist, or that does not have exactly these arguments.
func errUnknownFunction(name string, args []string) *apperr.Error {
	call, searched := " without parameters", " without parameters"
	if len(args) > 0 {
		call = "(" + strings.Join(args, ", ") + ")"
		searched = " with parameters " + strings.Join(args, ", ")
		if len(args) == 1 {
			searched = " with parameter " + args[0]
		}
	}
	return withDetails(apperr.New(http.StatusNotFound, "PGRST202", fmt.Sprintf("Could not find the function public.%s%s in the schema cache", truncate(name), truncate(call))),
		"Searched for the function public.%s%s, but no matches were found in the schema cache.", truncate(name), truncate(searched))
}

// errNotEmbedded is the error for an order or filter by a column of another table (in PostgREST, an embedded resource).
func errNotEmbedded(resource string) *apperr.Error {
	e := errBadRequest("PGRST108", "'%s' is not an embedded resource in this request", truncate(resource))
	e.Hint = fmt.Sprintf("Verify that '%s' is included in the 'select' query parameter.", truncate(resource))
	return e
}

func errNoRelationship(t *Table, resource string) *apperr.Error {
	return withDetails(errBadRequest("PGRST200", "Could not find a relationship between '%s' and '%s' in the schema cache", t.Name, truncate(resource)),
		"Searched for a foreign key relationship between '%s' and '%s' in the schema 'public', but no matches were found.", t.Name, truncate(resource))
}

// errSyntax is the error for a parameter that the parser cannot read. what names the parameter. pos is where the parser stopped in
// text, in bytes, and expecting is what it expected there.
func errSyntax(what, text string, pos int, expecting string) *apperr.Error {
	found := "end of input"
	if pos < len(text) {
		r, _ := utf8.DecodeRuneInString(text[pos:])
		found = fmt.Sprintf("%q", string(r))
	}
	return withDetails(errBadRequest("PGRST100", "\"failed to parse %s (%s)\" (line 1, column %d)", what, truncate(text), utf8.RuneCountInString(text[:pos])+1),
		"unexpected %s expecting %s", found, expecting)
}

// errQuery is the error for a query string that cannot be read or exceeds a limit.
func errQuery(details string) *apperr.Error {
	return withDetails(apperr.New(http.StatusBadRequest, "PGRST100", "The query could not be read"), "%s", details)
}

func errUnsupported(what string) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "0A000", what+" is not supported")
}

// errNoOperator is PostgreSQL's error for an operator that a type does not have.
func errNoOperator(kind Kind, operator string) *apperr.Error {
	e := apperr.New(http.StatusNotFound, "42883", fmt.Sprintf("operator does not exist: %s %s", kind, operator))
	e.Hint = "No operator matches the given name and argument types. You might need to add explicit type casts."
	return e
}

// errNoTextOperator is the error for the operators ~ and ~~ on a column that is not a text; if fold is true, for ~* and ~~*.
func errNoTextOperator(kind Kind, sign string, fold bool) *apperr.Error {
	if fold {
		sign += "*"
	}
	return errNoOperator(kind, sign+" unknown")
}

// errNoRange is the error for the range operators. On integers << and >> are PostgreSQL's bit shifts, whose result is not a
// boolean.
func errNoRange(kind Kind, sign string) *apperr.Error {
	if kind == Int && (sign == "<<" || sign == ">>") {
		return apperr.New(http.StatusBadRequest, "42804", "argument of WHERE must be type boolean, not type integer")
	}
	return errNoOperator(kind, sign+" unknown")
}

// errNoSearch is the error for text search, which is rejected because SQLite has no text search that finds the same rows as
// PostgreSQL's.
func errNoSearch(kind Kind, operator string) *apperr.Error {
	if kind == Text {
		return errUnsupported("the operator " + operator)
	}
	return errNoOperator(kind, "@@ tsquery")
}

// errNoArrow is PostgreSQL's error for a JSON path with a further step after ->>.
func errNoArrow(s step) *apperr.Error {
	sign, operand := "->", "integer"
	if s.asText {
		sign = "->>"
	}
	if s.isKey {
		operand = "unknown"
	}
	return errNoOperator(Text, sign+" "+operand)
}

func errUnknownType(name string) *apperr.Error {
	return errBadRequest("42704", "type \"%s\" does not exist", truncate(name))
}

func errNoCast(from, to Kind) *apperr.Error {
	return errBadRequest("42846", "cannot cast type %s to %s", from, to)
}

// errPattern is the error for an invalid regular expression.
func errPattern(why string) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "2201B", "invalid regular expression: "+why)
}

func errNotBoolean(truth Truth, kind Kind) *apperr.Error {
	return errBadRequest("42804", "argument of IS %s must be type boolean, not type %s", strings.ToUpper(string(truth)), kind)
}

func errBadValue(kind Kind, text string) *apperr.Error {
	return errBadRequest("22P02", "invalid input syntax for type %s: \"%s\"", kind, truncate(text))
}

func errBadTime(kind Kind, text string) *apperr.Error {
	return errBadRequest("22007", "invalid input syntax for type %s: \"%s\"", kind, truncate(text))
}

func errTimeRange(text string) *apperr.Error {
	return errBadRequest("22008", "date/time field value out of range: \"%s\"", truncate(text))
}

func errNumberRange(text string) *apperr.Error {
	return errBadRequest("22003", "value \"%s\" is out of range for type integer", truncate(text))
}

func errBadList(text string) *apperr.Error {
	return errBadRequest("22P02", "malformed array literal: \"%s\"", truncate(text))
}

var (
	errEmptyAlias = apperr.New(http.StatusBadRequest, "42601", "zero-length delimited identifier")
	errPatternEnd = apperr.New(http.StatusBadRequest, "22025", "LIKE pattern must not end with escape character")
	errBadUTF8    = apperr.New(http.StatusBadRequest, "22021", "invalid byte sequence for encoding \"UTF8\"")
	errSchema     = apperr.New(http.StatusNotAcceptable, "PGRST106", "The schema must be one of the following: public")
	errNoOrder    = &apperr.Error{Status: http.StatusBadRequest, Code: "PGRST109", Message: "A 'limit' was applied without an explicit 'order'", Hint: "Apply an 'order' using unique column(s)"}
	errAggregate  = apperr.New(http.StatusBadRequest, "PGRST123", "Use of aggregate functions is not allowed")
	errRange      = apperr.New(http.StatusRequestedRangeNotSatisfiable, "PGRST103", "Requested range not satisfiable")
	errNoTarget   = apperr.New(http.StatusBadRequest, "42P10", "there is no unique or exclusion constraint matching the ON CONFLICT specification")
	errTwice      = apperr.New(http.StatusBadRequest, "21000", "ON CONFLICT DO UPDATE command cannot affect row a second time")
	errArgument   = apperr.New(http.StatusBadRequest, "22023", "The rows cannot be put in this order")
	errBusy       = &apperr.Error{Status: http.StatusTooManyRequests, Code: "PGRST003", Message: "Too many queries are waiting, please try again", Hint: "Ask again after the seconds in Retry-After.", RetryAfter: 2}
	errPutLimit   = apperr.New(http.StatusBadRequest, "PGRST114", "limit/offset querystring parameters are not allowed for PUT")
	errPutFilters = apperr.New(http.StatusMethodNotAllowed, "PGRST105", "Filters must include all and only primary key columns with 'eq' operators")
	errPutKey     = apperr.New(http.StatusBadRequest, "PGRST115", "Payload values do not match URL in primary key column(s)")
	// in.() on a list column would need a list of lists of texts, which PostgreSQL does not have.
	errNoArrayOfLists = apperr.New(http.StatusBadRequest, "42704", "could not find array type for data type text[]")
	errReadOnly       = apperr.New(http.StatusMethodNotAllowed, "25006", "cannot execute UPDATE in a read-only transaction")
	errRootDisabled   = apperr.New(http.StatusNotFound, "PGRST126", "Root endpoint metadata is disabled")
)

func errMethod(method string) *apperr.Error {
	return apperr.New(http.StatusMethodNotAllowed, "PGRST117", "Unsupported HTTP method: "+truncate(method))
}

func errRPCMethod(method string) *apperr.Error {
	return apperr.New(http.StatusMethodNotAllowed, "PGRST101", "Cannot use the "+truncate(method)+" method on RPC")
}

func errOutOfBounds(offset, total int64) *apperr.Error {
	return withDetails(errRange, "An offset of %d was requested, but there are only %d rows.", offset, total)
}

func errBadRange(details string) *apperr.Error {
	return withDetails(errRange, "%s", details)
}

func errReorder(details string) *apperr.Error {
	return withDetails(errArgument, "%s", details)
}

// errArgumentOf is the error for a wrong argument of a function.
func errArgumentOf(why string) *apperr.Error {
	return apperr.New(errArgument.Status, errArgument.Code, why)
}

func errTooManyRows() *apperr.Error {
	return withDetails(apperr.New(http.StatusRequestEntityTooLarge, "54000", httpx.ErrTooLarge.Message),
		"one request may bring at most %d rows", maxInsertRows)
}

// errTooLarge is the error for a response that would have more than limit bytes.
func errTooLarge(limit int) *apperr.Error {
	e := withDetails(apperr.New(http.StatusRequestEntityTooLarge, "54000", "The response would be too large"), "a response may have at most %d bytes", limit)
	e.Hint = "Ask for fewer rows with limit, or for fewer columns with select."
	return e
}

func errNotSingular(n int64) *apperr.Error {
	return withDetails(apperr.New(http.StatusNotAcceptable, "PGRST116", "JSON object requested, multiple (or no) rows returned"),
		"The result contains %d rows", n)
}

func errTooManyAffected(n int64) *apperr.Error {
	return withDetails(apperr.New(http.StatusBadRequest, "PGRST124", "Query result exceeds max-affected preference constraint"),
		"The query affects %d rows", n)
}

func errPreferences(invalid []string) *apperr.Error {
	return withDetails(apperr.New(http.StatusBadRequest, "PGRST122", "Invalid preferences given with handling=strict"), "%s",
		truncate("Invalid preferences: "+strings.Join(invalid, ", ")))
}

func errMediaType(accept string) *apperr.Error {
	return apperr.New(http.StatusNotAcceptable, "PGRST107", "None of these media types are available: "+truncate(accept))
}

// errBody is the error for a body that the endpoint cannot read.
func errBody(message, details string) *apperr.Error {
	return withDetails(apperr.New(http.StatusBadRequest, "PGRST102", message), "%s", details)
}

func errNull(t *Table, c *Column) *apperr.Error {
	return errBadRequest(db.NotNullViolation, "null value in column \"%s\" of relation \"%s\" violates not-null constraint", c.Name, t.Name)
}

func errCheck(t *Table, c *Column, details string) *apperr.Error {
	return withDetails(errBadRequest(db.CheckViolation, "new row for relation \"%s\" violates check constraint \"%s_%s_check\"", t.Name, t.Name, c.Name), "%s", details)
}

func errTooLong(c *Column, details string) *apperr.Error {
	return withDetails(errBadRequest("22001", "value too long for column \"%s\"", c.Name), "%s", details)
}

// errConstraint converts a constraint violation in the database to the error for the client. Other errors stay as they are.
func errConstraint(t *Table, err error) error {
	switch {
	case db.IsConstraint(err, db.UniqueViolation):
		unique := t.Key.Name
		if t.Unique != "" {
			unique += " or " + t.Unique
		}
		e := apperr.New(http.StatusConflict, db.UniqueViolation, fmt.Sprintf("duplicate key value violates unique constraint \"%s_pkey\"", t.Name))
		return withDetails(e, "A row with this %s already exists.", unique).Because(err)
	case db.IsConstraint(err, db.ForeignKeyViolation):
		return apperr.New(http.StatusConflict, db.ForeignKeyViolation, fmt.Sprintf("insert or update on table \"%s\" violates foreign key constraint \"%s_%s_fkey\"", t.Name, t.Name, t.Key.Name)).Because(err)
	case db.IsConstraint(err, db.CheckViolation):
		return errBadRequest(db.CheckViolation, "new row for relation \"%s\" violates check constraint", t.Name).Because(err)
	case db.IsConstraint(err, db.NotNullViolation):
		return errBadRequest(db.NotNullViolation, "null value in relation \"%s\" violates not-null constraint", t.Name).Because(err)
	}
	return err
}

// truncate shortens input that an error repeats to 200 characters.
func truncate(s string) string {
	const limit = 200
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "…"
}

// WriteError writes an error as PostgREST does: {code, details, hint, message}; details and hint are null if empty.
func WriteError(w http.ResponseWriter, _ *http.Request, e *apperr.Error) {
	e = contractError(e)
	if e.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	w.Header().Del("Content-Type")
	_ = httpx.JSON(w, e.Status, struct { // an error here means that the connection is gone
		Code    string  `json:"code"`
		Details *string `json:"details"`
		Hint    *string `json:"hint"`
		Message string  `json:"message"`
	}{e.Code, orNull(e.Details), orNull(e.Hint), e.Message})
}

// contractError replaces the codes and texts of other packages' errors by those of this surface.
func contractError(e *apperr.Error) *apperr.Error {
	c := *e
	switch e.Code {
	case identity.ErrExpired.Code:
		c.Code, c.Message = "PGRST303", "JWT expired"
	case identity.ErrBadToken.Code:
		c.Code, c.Message = "PGRST301", "JWT invalid"
	case identity.ErrNoKey.Code:
		c.Code, c.Hint = "PGRST302", "No `apikey` request header or url param was found."
	case apperr.NoSpace.Code:
		c.Code = "53100"
	case apperr.Timeout.Code:
		c.Code, c.Message = "57014", "canceling statement due to statement timeout"
	case httpx.ErrTooLarge.Code:
		c.Code = "54000"
	case "not_found": // a URL that cannot belong to a table
		c.Code, c.Message = "PGRST125", "Invalid path specified in request URL"
	case httpx.ErrNoDatabase.Code:
		c.Code, c.Message = "PGRST001", "Database connection error. Retrying the connection."
	case "unexpected_failure": // apperr.From
		c.Code = "PGRSTX00"
	}
	return &c
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
