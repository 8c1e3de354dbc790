package mail

import "strings"

// addCopy adds the text of a visitor's message to a ContactCopy (a mail that sends visitors their own message), as a quote without links.
func (p *page) addCopy(text string) {
	p.Quote = paragraphs(text)
	for _, lines := range p.Quote {
		for i, line := range lines {
			lines[i] = breakLinks.Replace(line)
		}
	}
}

// breakLinks puts an invisible space (U+200B) after the characters by which mail programs recognize URLs and e-mail addresses. The programs
// then do not show them as links. A visitor can enter any text and somebody else's address, so the text must not lead to other sites.
var breakLinks = strings.NewReplacer(".", ".\u200b", ":", ":\u200b", "/", "/\u200b", "@", "@\u200b")
