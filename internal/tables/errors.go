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

// The refusals of this surface carry PostgREST's codes (PGRST…) and PostgreSQL's (five characters), as WIRE and the
// reference list them.

func errUnknownTable(name string) *apperr.Error {
	return apperr.New(http.StatusNotFound, "PGRST205", fmt.Sprintf("Could not find the table 'public.%s' in the schema cache", short(name)))
}

// errUnknownColumn is for a column that a query names.
func errUnknownColumn(t *Table, name string) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "42703", fmt.Sprintf("column %s.%s does not exist", t.Name, short(name)))
}

// errUnknownField is for a column that a body names.
func errUnknownField(t *Table, name string) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "PGRST204", fmt.Sprintf("Could not find the '%s' column of '%s' in the schema cache", short(name), t.Name))
}

func errUnknownFunction(name string, args []string) *apperr.Error {
	call, searched := " without parameters", " without parameters"
	if len(args) > 0 {
		call = "(" + strings.Join(args, ", ") + ")"
		searched = " with parameters " + strings.Join(args, ", ")
		if len(args) == 1 {
			searched = " with parameter " + args[0]
		}
	}
	e := apperr.New(http.StatusNotFound, "PGRST202", fmt.Sprintf("Could not find the function public.%s%s in the schema cache", short(name), short(call)))
	e.Details = fmt.Sprintf("Searched for the function public.%s%s, but no matches were found in the schema cache.", short(name), short(searched))
	return e
}

func errNotEmbedded(resource string) *apperr.Error {
	e := apperr.New(http.StatusBadRequest, "PGRST108", fmt.Sprintf("'%s' is not an embedded resource in this request", short(resource)))
	e.Hint = fmt.Sprintf("Verify that '%s' is included in the 'select' query parameter.", short(resource))
	return e
}

func errNoRelationship(t *Table, resource string) *apperr.Error {
	e := apperr.New(http.StatusBadRequest, "PGRST200", fmt.Sprintf("Could not find a relationship between '%s' and '%s' in the schema cache", t.Name, short(resource)))
	e.Details = fmt.Sprintf("Searched for a foreign key relationship between '%s' and '%s' in the schema 'public', but no matches were found.", t.Name, short(resource))
	return e
}

// errSyntax tells where in a parameter the parser stopped and what it wanted there.
func errSyntax(what, text string, pos int, expecting string) *apperr.Error {
	found := "end of input"
	if pos < len(text) {
		r, _ := utf8.DecodeRuneInString(text[pos:])
		found = fmt.Sprintf("%q", string(r))
	}
	e := apperr.New(http.StatusBadRequest, "PGRST100", fmt.Sprintf("\"failed to parse %s (%s)\" (line 1, column %d)", what, short(text), utf8.RuneCountInString(text[:pos])+1))
	e.Details = "unexpected " + found + " expecting " + expecting
	return e
}

// errQuery is for an address that cannot be taken apart, or that asks for too much at once.
func errQuery(details string) *apperr.Error {
	e := apperr.New(http.StatusBadRequest, "PGRST100", "The query could not be read")
	e.Details = details
	return e
}

func errUnsupported(what string) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "0A000", what+" is not supported")
}

// errNoOperator is PostgreSQL's answer to an operator that a type does not have.
func errNoOperator(kind Kind, operator string) *apperr.Error {
	e := apperr.New(http.StatusNotFound, "42883", fmt.Sprintf("operator does not exist: %s %s", kind, operator))
	e.Hint = "No operator matches the given name and argument types. You might need to add explicit type casts."
	return e
}

// errNoRange refuses the operators on ranges. On integers two of them are PostgreSQL's shifts, which are no condition.
func errNoRange(kind Kind, sign string) *apperr.Error {
	if kind == Int && (sign == "<<" || sign == ">>") {
		return apperr.New(http.StatusBadRequest, "42804", "argument of WHERE must be type boolean, not type integer")
	}
	return errNoOperator(kind, sign+" unknown")
}

// errNoSearch refuses text search: SQLite has none that would find the same rows.
func errNoSearch(kind Kind, operator string) *apperr.Error {
	if kind == Text {
		return errUnsupported("the operator " + operator)
	}
	return errNoOperator(kind, "@@ tsquery")
}

// errNoArrow is PostgreSQL's answer to a path that goes on behind ->>.
func errNoArrow(s step) *apperr.Error {
	sign, operand := "->", "integer"
	if s.text {
		sign = "->>"
	}
	if s.isKey {
		operand = "unknown"
	}
	return errNoOperator(Text, sign+" "+operand)
}

func errUnknownType(name string) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "42704", fmt.Sprintf("type \"%s\" does not exist", short(name)))
}

func errNoCast(from, to Kind) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "42846", fmt.Sprintf("cannot cast type %s to %s", from, to))
}

// errPattern is for what is no regular expression.
func errPattern(why string) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "2201B", "invalid regular expression: "+why)
}

func errNotBoolean(truth Truth, kind Kind) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "42804", fmt.Sprintf("argument of IS %s must be type boolean, not type %s", strings.ToUpper(string(truth)), kind))
}

func errBadValue(kind Kind, text string) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "22P02", fmt.Sprintf("invalid input syntax for type %s: \"%s\"", kind, short(text)))
}

func errBadTime(kind Kind, text string) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "22007", fmt.Sprintf("invalid input syntax for type %s: \"%s\"", kind, short(text)))
}

func errTimeRange(text string) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "22008", fmt.Sprintf("date/time field value out of range: \"%s\"", short(text)))
}

func errNumberRange(text string) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "22003", fmt.Sprintf("value \"%s\" is out of range for type integer", short(text)))
}

func errBadList(text string) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "22P02", fmt.Sprintf("malformed array literal: \"%s\"", short(text)))
}

// errBadUTF8 is for bytes that neither engine can keep in a text: broken UTF-8 and NUL.
func errBadUTF8(where string) *apperr.Error {
	e := apperr.New(http.StatusBadRequest, "22021", "invalid byte sequence for encoding \"UTF8\"")
	e.Details = where + " must be UTF-8 without NUL"
	return e
}

var (
	errEmptyAlias = apperr.New(http.StatusBadRequest, "42601", "zero-length delimited identifier")
	errPatternEnd = apperr.New(http.StatusBadRequest, "22025", "LIKE pattern must not end with escape character")
	errNoOrder    = &apperr.Error{Status: http.StatusBadRequest, Code: "PGRST109", Message: "A 'limit' was applied without an explicit 'order'", Hint: "Apply an 'order' using unique column(s)"}
	errAggregate  = apperr.New(http.StatusBadRequest, "PGRST123", "Use of aggregate functions is not allowed")
	errRange      = apperr.New(http.StatusRequestedRangeNotSatisfiable, "PGRST103", "Requested range not satisfiable")
	errNoTarget   = apperr.New(http.StatusBadRequest, "42P10", "there is no unique or exclusion constraint matching the ON CONFLICT specification")
	errTwice      = apperr.New(http.StatusBadRequest, "21000", "ON CONFLICT DO UPDATE command cannot affect row a second time")
	errArgument   = apperr.New(http.StatusBadRequest, "22023", "The reviews cannot be put in this order")
	errTimeout    = apperr.New(http.StatusInternalServerError, "57014", "canceling statement due to statement timeout")
	errPutLimit   = apperr.New(http.StatusBadRequest, "PGRST114", "limit/offset querystring parameters are not allowed for PUT")
	errPutFilters = apperr.New(http.StatusMethodNotAllowed, "PGRST105", "Filters must include all and only primary key columns with 'eq' operators")
	errPutKey     = apperr.New(http.StatusBadRequest, "PGRST115", "Payload values do not match URL in primary key column(s)")
	errNoRoot     = apperr.New(http.StatusNotFound, "PGRST126", "Root endpoint metadata is disabled")
	// PostgreSQL knows no list of lists of texts, which in.() would need.
	errNoArrayOfLists = apperr.New(http.StatusBadRequest, "42704", "could not find array type for data type text[]")
	errReadOnly       = apperr.New(http.StatusMethodNotAllowed, "25006", "cannot execute UPDATE in a read-only transaction")
)

func errMethod(method string) *apperr.Error {
	return apperr.New(http.StatusMethodNotAllowed, "PGRST117", "Unsupported HTTP method: "+short(method))
}

func errRPCMethod(method string) *apperr.Error {
	return apperr.New(http.StatusMethodNotAllowed, "PGRST101", "Cannot use the "+short(method)+" method on RPC")
}

func errOutOfBounds(offset, total int64) *apperr.Error {
	e := *errRange
	e.Details = fmt.Sprintf("An offset of %d was requested, but there are only %d rows.", offset, total)
	return &e
}

func errBadRange(details string) *apperr.Error {
	e := *errRange
	e.Details = details
	return &e
}

func errReorder(details string) *apperr.Error {
	e := *errArgument
	e.Details = details
	return &e
}

// errArgumentOf refuses a value that a function was called with.
func errArgumentOf(why string) *apperr.Error {
	return apperr.New(errArgument.Status, errArgument.Code, why)
}

func errTooManyRows() *apperr.Error {
	e := apperr.New(http.StatusRequestEntityTooLarge, "54000", httpx.ErrTooLarge.Message)
	e.Details = fmt.Sprintf("one request may bring at most %d rows", maxInsertRows)
	return e
}

func errNotSingular(n int64) *apperr.Error {
	e := apperr.New(http.StatusNotAcceptable, "PGRST116", "JSON object requested, multiple (or no) rows returned")
	e.Details = fmt.Sprintf("The result contains %d rows", n)
	return e
}

func errTooManyAffected(n int64) *apperr.Error {
	e := apperr.New(http.StatusBadRequest, "PGRST124", "Query result exceeds max-affected preference constraint")
	e.Details = fmt.Sprintf("The query affects %d rows", n)
	return e
}

func errPreferences(invalid []string) *apperr.Error {
	e := apperr.New(http.StatusBadRequest, "PGRST122", "Invalid preferences given with handling=strict")
	e.Details = short("Invalid preferences: " + strings.Join(invalid, ", "))
	return e
}

func errMediaType(accept string) *apperr.Error {
	return apperr.New(http.StatusNotAcceptable, "PGRST107", "None of these media types are available: "+short(accept))
}

func errSchema() *apperr.Error {
	return apperr.New(http.StatusNotAcceptable, "PGRST106", "The schema must be one of the following: public")
}

// errBody is for a body that is not the JSON which the endpoint reads.
func errBody(message, details string) *apperr.Error {
	e := apperr.New(http.StatusBadRequest, "PGRST102", message)
	e.Details = details
	return e
}

// errDenied refuses a write, or a function: 401 for callers who have not signed in, 403 for those who have.
func errDenied(c identity.Caller, what string) *apperr.Error {
	status := http.StatusForbidden
	if c.Role != identity.Authenticated && c.Role != identity.Service {
		status = http.StatusUnauthorized
	}
	return apperr.New(status, "42501", "permission denied for "+what)
}

func errNull(t *Table, c *Column) *apperr.Error {
	return apperr.New(http.StatusBadRequest, db.NotNullViolation, fmt.Sprintf("null value in column \"%s\" of relation \"%s\" violates not-null constraint", c.Name, t.Name))
}

func errCheck(t *Table, c *Column, details string) *apperr.Error {
	e := apperr.New(http.StatusBadRequest, db.CheckViolation, fmt.Sprintf("new row for relation \"%s\" violates check constraint \"%s_%s_check\"", t.Name, t.Name, c.Name))
	e.Details = details
	return e
}

func errTooLong(c *Column, details string) *apperr.Error {
	e := apperr.New(http.StatusBadRequest, "22001", fmt.Sprintf("value too long for column \"%s\"", c.Name))
	e.Details = details
	return e
}

// errConstraint tells why the database refused a row that had passed the checks here.
func errConstraint(t *Table, err error) error {
	switch {
	case db.IsConstraint(err, db.UniqueViolation):
		e := apperr.New(http.StatusConflict, db.UniqueViolation, fmt.Sprintf("duplicate key value violates unique constraint \"%s_pkey\"", t.Name))
		e.Details = fmt.Sprintf("A row with this %s already exists.", t.Key.Name)
		return e.Because(err)
	case db.IsConstraint(err, db.ForeignKeyViolation):
		return apperr.New(http.StatusConflict, db.ForeignKeyViolation, fmt.Sprintf("insert or update on table \"%s\" violates foreign key constraint \"%s_%s_fkey\"", t.Name, t.Name, t.Key.Name)).Because(err)
	case db.IsConstraint(err, db.CheckViolation):
		return apperr.New(http.StatusBadRequest, db.CheckViolation, fmt.Sprintf("new row for relation \"%s\" violates check constraint", t.Name)).Because(err)
	case db.IsConstraint(err, db.NotNullViolation):
		return apperr.New(http.StatusBadRequest, db.NotNullViolation, fmt.Sprintf("null value in relation \"%s\" violates not-null constraint", t.Name)).Because(err)
	}
	return err
}

// short keeps echoed input from filling an answer.
func short(s string) string {
	const limit = 200
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "…"
}

// WriteError writes an error as PostgREST does: {code, details, hint, message}, absent ones null.
func WriteError(w http.ResponseWriter, _ *http.Request, e *apperr.Error) {
	e = contractError(e)
	if e.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	w.Header().Del("Content-Type")
	_ = httpx.JSON(w, e.Status, struct { // the connection may be gone; nobody is left to tell
		Code    string  `json:"code"`
		Details *string `json:"details"`
		Hint    *string `json:"hint"`
		Message string  `json:"message"`
	}{e.Code, orNull(e.Details), orNull(e.Hint), e.Message})
}

// contractError gives errors of other packages the codes of this surface.
func contractError(e *apperr.Error) *apperr.Error {
	c := *e
	switch {
	case e.Code == identity.ErrExpired.Code && e.Message == identity.ErrExpired.Message:
		c.Code, c.Message = "PGRST303", "JWT expired"
	case e.Code == identity.ErrBadToken.Code:
		c.Code, c.Message = "PGRST301", "JWT invalid"
	case e.Code == identity.ErrNoKey.Code:
		c.Code, c.Hint = "PGRST302", "No `apikey` request header or url param was found."
	case e.Code == httpx.ErrTooLarge.Code:
		c.Code = "54000"
	case e.Code == "not_found": // an address that can be no table's
		c.Code, c.Message = "PGRST125", "Invalid path specified in request URL"
	case e.Code == "unexpected_failure": // apperr.From
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
