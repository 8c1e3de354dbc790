package db

import (
	sqldriver "database/sql/driver"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"modernc.org/sqlite"
)

// ListText writes a list of texts as PostgreSQL prints an array: {a,"b, c",""}.
func ListText(items []string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		if item != "" && !strings.EqualFold(item, "null") && !strings.ContainsAny(item, "\"\\{}, \t\n\v\f\r") {
			b.WriteString(item)
			continue
		}
		b.WriteByte('"')
		for j := range len(item) {
			if item[j] == '"' || item[j] == '\\' {
				b.WriteByte('\\')
			}
			b.WriteByte(item[j])
		}
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return b.String()
}

// listKey gives bytes that sort as PostgreSQL sorts the arrays: entry by entry, and a list before its continuations. No
// text holds the byte 0, so that it may end an entry.
func listKey(items []string) []byte {
	key := []byte{1} // an empty blob would come as null
	for _, item := range items {
		key = append(append(key, item...), 0)
	}
	return key
}

// compiled keeps the last regular expressions; a statement asks for the same one in each row.
var compiled struct {
	sync.Mutex
	patterns map[string]*regexp.Regexp
}

const maxCompiled = 64

func compile(pattern string) (*regexp.Regexp, error) {
	compiled.Lock()
	defer compiled.Unlock()
	if re := compiled.patterns[pattern]; re != nil {
		return re, nil
	}
	re, err := regexp.Compile("(?s)" + pattern)
	if err != nil {
		return nil, err
	}
	if compiled.patterns == nil || len(compiled.patterns) >= maxCompiled {
		compiled.patterns = make(map[string]*regexp.Regexp, maxCompiled)
	}
	compiled.patterns[pattern] = re
	return re, nil
}

// onList makes a SQL function of one that takes a list; the list comes as JSON text, and null stays null.
func onList(name string, fn func([]string) sqldriver.Value) {
	sqlite.MustRegisterDeterministicScalarFunction(name, 1, func(_ *sqlite.FunctionContext, args []sqldriver.Value) (sqldriver.Value, error) {
		if args[0] == nil {
			return nil, nil
		}
		text, ok := args[0].(string)
		if !ok {
			return nil, fmt.Errorf("%s takes a text, not %T", name, args[0])
		}
		var items []string
		if err := json.Unmarshal([]byte(text), &items); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return fn(items), nil
	})
}

// init gives SQLite what PostgreSQL does with arrays and with regular expressions: list_text(list), list_key(list) and
// matches(text, pattern).
func init() {
	onList("list_text", func(items []string) sqldriver.Value { return ListText(items) })
	onList("list_key", func(items []string) sqldriver.Value { return listKey(items) })
	sqlite.MustRegisterDeterministicScalarFunction("matches", 2, func(_ *sqlite.FunctionContext, args []sqldriver.Value) (sqldriver.Value, error) {
		if args[0] == nil || args[1] == nil {
			return nil, nil
		}
		text, ok := args[0].(string)
		pattern, ok2 := args[1].(string)
		if !ok || !ok2 {
			return nil, fmt.Errorf("matches takes texts, not %T and %T", args[0], args[1])
		}
		re, err := compile(pattern)
		if err != nil {
			return nil, err
		}
		return re.MatchString(text), nil
	})
}
