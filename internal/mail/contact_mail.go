package mail

import (
	"strconv"
	"strings"
	"time"

	"atelie/internal/i18n"
)

// This file has the types for the content of mails about visitors' messages. It also adds that content to the data of the templates (page
// in render.go).

// Contact is a text of a visitor, for a mail to the owner. For the kind ContactNotice it is the message. For ContactAnswer it is what the
// visitor has written later. If the owner replies to the mail, the reply goes to Email.
type Contact struct {
	Name, Email, Text string
	Reason            string // general, commission and so on; its text is mail.reason.<reason> of package i18n
	OfferAnswer       bool   // for a ContactAnswer: whether Text answers an offer
	Review            bool   // for a ContactAnswer: whether Text says that a review was written
}

// variant returns the end of the key of a mail's text in package i18n, such as "subject" in mail.contact_notice.subject. part is subject,
// title, body and so on. If a ContactAnswer is about an answer to an offer or about a review, its subject, title and body have other texts,
// such as offerAnswer.subject. c may be nil.
func (c *Contact) variant(part string) string {
	hasVariants := part == "subject" || part == "title" || part == "body"
	switch {
	case c == nil || !hasVariants:
		return part
	case c.OfferAnswer:
		return "offerAnswer." + part
	case c.Review:
		return "review." + part
	}
	return part
}

// Reply is a text of an owner, for a mail to a visitor: the content of a ContactReply, ContactOffer, ContactProgress or ContactReview.
type Reply struct {
	Text  string
	To    string // e-mail address to which the visitor can answer; "" for none
	Offer *Offer // nil except for ContactOffer
}

// Offer is an offer for a commission (a work that the visitor orders). A day is YYYY-MM-DD. The mail leaves out fields that are "".
type Offer struct {
	Price, Deposit, PromisedOn, ExpiresOn string
}

// Digest is the content of a ContactDigest, one mail about many messages.
type Digest struct {
	Count       int           // number of messages that the mail is about
	Quarantined int           // number of further messages, which are in quarantine because they look like spam
	Newest      []DigestEntry // the newest of the Count messages, one line each
}

// DigestEntry is one message in a digest. Name and Reason have the same meaning as in Contact.
type DigestEntry struct {
	Name, Reason string
	At           time.Time // when the message was sent
	Pictures     int       // number of pictures of a visitor's reply; 0 for a message
}

// Maximum numbers of characters that a mail shows of a text. oneLine truncates longer texts.
const (
	maxName       = 100
	maxEmail      = 254  // also of the values of an offer
	maxDigestName = 60   // of a name in a digest
	maxLine       = 5000 // of one line of a visitor's or an owner's text
)

// addContact adds a visitor's message to the page (the data of a mail's templates): who wrote it, why, and the text as a quote.
func (p *page) addContact(c Contact, l i18n.Language) {
	p.addDetail(l, "name", oneLine(c.Name, maxName))
	p.addDetail(l, "email", oneLine(c.Email, maxEmail))
	p.addDetail(l, "reason", l.Text("mail.reason."+c.Reason))
	p.Quote = paragraphs(c.Text)
}

// addDigest adds a line for each of the newest messages to the page.
func (p *page) addDigest(d Digest, l i18n.Language) {
	for _, e := range d.Newest {
		line := l.Text("mail.reason."+e.Reason) + ", " + l.Time(e.At)
		if e.Pictures > 0 {
			line += ", " + l.Text("mail.pictures", "count", strconv.Itoa(e.Pictures))
		}
		p.Details = append(p.Details, detail{oneLine(e.Name, maxDigestName), line})
	}
}

// addReply adds an owner's text to the page, and the offer that it describes.
func (p *page) addReply(r Reply, l i18n.Language) {
	p.Quote = paragraphs(r.Text)
	if o := r.Offer; o != nil {
		p.addDetail(l, "price", oneLine(o.Price, maxEmail))
		p.addDetail(l, "deposit", oneLine(o.Deposit, maxEmail))
		p.addDetail(l, "promised", oneLine(l.Date(o.PromisedOn), maxEmail))
		p.addDetail(l, "expires", oneLine(l.Date(o.ExpiresOn), maxEmail))
	}
}

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

// paragraphs splits a text at empty lines into paragraphs, and each paragraph into lines. oneLine cleans the lines.
func paragraphs(text string) (all [][]string) {
	for part := range strings.SplitSeq(text, "\n\n") {
		var lines []string
		for line := range strings.SplitSeq(part, "\n") {
			if line = oneLine(line, maxLine); line != "" {
				lines = append(lines, line)
			}
		}
		if len(lines) > 0 {
			all = append(all, lines)
		}
	}
	return all
}
