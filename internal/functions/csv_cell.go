package functions

import "regexp"

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
