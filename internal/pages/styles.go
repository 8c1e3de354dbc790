package pages

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
)

var sheetLink = regexp.MustCompile(`[ \t]*<link rel="stylesheet"[^>]* href="/([^"]+)">\n?`)

// withStyles writes the site's one sheet into the shell in place of the link to it: the first paint then needs a single
// answer. The policy allows style elements; the sheet names all its files from the root.
func (s *Service) withStyles(shell []byte) ([]byte, error) {
	links := sheetLink.FindAllSubmatchIndex(shell, -1)
	if len(links) == 0 {
		return shell, nil
	}
	if len(links) > 1 {
		return nil, errors.New("index.html links more than one sheet: their order would be lost")
	}
	at := links[0]
	file := s.assets[string(shell[at[2]:at[3]])]
	if file == nil {
		return nil, fmt.Errorf("the site has no sheet %s", shell[at[2]:at[3]])
	}
	form, err := file.body()
	if err != nil {
		return nil, err
	}
	sheet := form.plain()
	if bytes.Contains(bytes.ToLower(sheet), []byte("</style")) {
		return nil, errors.New("the site's sheet would close its own element")
	}
	return bytes.Join([][]byte{shell[:at[0]], shell[at[1]:]}, bytes.Join([][]byte{[]byte("<style>"), []byte("</style>\n")}, bytes.TrimSpace(sheet))), nil
}
