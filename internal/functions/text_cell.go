package functions

import "regexp"

// formulaStart matches the places in a cell of a CSV file where a spreadsheet could begin a formula: at the start of the cell,
// and after the separators with which another program may split the line, as Excel does at semicolons in Portugal. Signs of
// full width count too, because some spreadsheets treat them like those of ASCII.
var formulaStart = regexp.MustCompile(`((?:^|[\t\r\n,;|])[\s"']*)([=+\-@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}])`)

// textCell returns text that no spreadsheet runs as a formula: an apostrophe stands before what could begin one, and before a
// tab or a line end at the start.
func textCell(text string) string {
	text = formulaStart.ReplaceAllString(text, "$1'$2")
	if text != "" && (text[0] == '\t' || text[0] == '\r' || text[0] == '\n') {
		return "'" + text
	}
	return text
}
