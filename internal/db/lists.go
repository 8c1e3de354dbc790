package db

import (
	sqldriver "database/sql/driver"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"modernc.org/sqlite"
)

// This file adds SQL functions to SQLite: for lists of strings and for regular expressions. SQLite stores a list as the text of a JSON array.
// With these functions queries treat a list as PostgreSQL treats an array.

// ListText returns a list of strings in the form in which PostgreSQL prints an array. For the three strings a, "b, c" and the empty string,
// it returns {a,"b, c",""}.
func ListText(items []string) string {
	texts := slices.Clone(items)
	for i, item := range items {
		if item == "" || strings.EqualFold(item, "null") || strings.ContainsAny(item, "\"\\{}, \t\n\v\f\r") {
			texts[i] = `"` + listEscapes.Replace(item) + `"`
		}
	}
	return "{" + strings.Join(texts, ",") + "}"
}

var listEscapes = strings.NewReplacer(`"`, `\"`, `\`, `\\`)

// listKey returns a sort key for a list. The keys have the order of arrays in PostgreSQL: element by element, and a shorter list before a
// longer one that begins with the same elements. The byte 0 ends each element, because no stored string contains it.
func listKey(items []string) []byte {
	key := []byte{1} // so that the key of an empty list is not an empty blob, which would become null in SQL
	for _, item := range items {
		key = append(append(key, item...), 0)
	}
	return key
}

// regexps caches compiled regular expressions, because a statement uses the same expression for each row.
var regexps struct {
	sync.Mutex
	patterns map[string]*regexp.Regexp
}

// maxRegexps is the number of cached expressions at which the cache is emptied.
const maxRegexps = 64

// cachedRegexp returns a compiled expression from the cache, or compiles it. A dot matches line ends too.
func cachedRegexp(pattern string) (*regexp.Regexp, error) {
	regexps.Lock()
	defer regexps.Unlock()
	if re := regexps.patterns[pattern]; re != nil {
		return re, nil
	}
	re, err := regexp.Compile("(?s)" + pattern)
	if err != nil {
		return nil, err
	}
	if regexps.patterns == nil || len(regexps.patterns) >= maxRegexps {
		regexps.patterns = make(map[string]*regexp.Regexp, maxRegexps)
	}
	regexps.patterns[pattern] = re
	return re, nil
}

// registerFunction adds an SQL function of n texts to SQLite. Its result is null if an argument is null.
func registerFunction(name string, n int32, fn func(args []string) (sqldriver.Value, error)) {
	sqlite.MustRegisterDeterministicScalarFunction(name, n, func(_ *sqlite.FunctionContext, args []sqldriver.Value) (sqldriver.Value, error) {
		texts := make([]string, len(args))
		for i, arg := range args {
			text, isText := arg.(string)
			if arg == nil {
				return nil, nil
			}
			if !isText {
				return nil, fmt.Errorf("%s takes texts, not %T", name, arg)
			}
			texts[i] = text
		}
		return fn(texts)
	})
}

// registerListFunction adds an SQL function of one list, which SQLite passes as JSON text.
func registerListFunction(name string, fn func([]string) sqldriver.Value) {
	registerFunction(name, 1, func(args []string) (sqldriver.Value, error) {
		var items []string
		if err := json.Unmarshal([]byte(args[0]), &items); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return fn(items), nil
	})
}

// init adds SQL functions to SQLite for what PostgreSQL does with arrays and regular expressions: list_text(list),
// list_key(list) and matches(text, pattern).
func init() {
	registerListFunction("list_text", func(items []string) sqldriver.Value { return ListText(items) })
	registerListFunction("list_key", func(items []string) sqldriver.Value { return listKey(items) })
	registerFunction("matches", 2, func(args []string) (sqldriver.Value, error) {
		re, err := cachedRegexp(args[1])
		if err != nil {
			return nil, err
		}
		return re.MatchString(args[0]), nil
	})
}
