package functions

import (
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/i18n"
	"atelie/internal/jobs"
)

// This file checks and stores replies. A conversation is a visitor's message and the replies to it. Owners (administrators) write replies
// in the admin area (contact_reply.go). The visitor writes them on the page of the private link, /enquiry/{token} (enquiry_page.go).

// maxReplies is the maximum number of replies in a conversation. With more, its page would not be usable.
const maxReplies = 500

// normalizeText trims a multi-line text, and changes line ends to \n and tabs to spaces. Pasted text contains tabs and other line ends.
func normalizeText(text string) string {
	return trimSpace(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", " ").Replace(text))
}

// hasControl reports whether a multi-line text contains control characters other than \n.
func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && unicode.IsControl(r) })
}

// problemOfReply checks a normalized reply. It returns the key of the error message in package i18n, or "" for a valid reply. A reply with
// pictures needs no text.
func problemOfReply(text string, pictures []unsavedPicture) string {
	switch {
	case text == "" && len(pictures) == 0:
		return "enquiry.error.empty"
	case hasControl(text):
		return "contact.error.messageSigns"
	case utf8.RuneCountInString(text) > maxMessage:
		return "contact.error.messageLong"
	}
	return ""
}

// replyID returns the id of a reply. key is the client's idempotency key. If key is "", the id is random. Otherwise, it is derived from the
// message's id, the key and the texts of the reply. So a reply that is sent twice with one key gets the same id, and is stored once. With a
// changed text it gets another id. Replies to different messages never have the same id.
func replyID(messageID, key string, texts ...string) string {
	if key == "" {
		return uuid.NewString()
	}
	name := strings.Join(append([]string{key}, texts...), "\x00")
	return uuid.NewSHA1(uuid.MustParse(messageID), []byte(name)).String()
}

// addReply stores a reply to a message that the transaction has locked (lockMessage). It also
//   - sets the message's status, unless status is ""
//   - records the reply and the message for live changes
//   - lets the private link expire a year from now
//
// added is false if the reply was stored before. The error is errFullConversation if the conversation has maxReplies already.
// An answer to an offer is stored even then.
func (s *Service) addReply(ctx context.Context, tx *db.Tx, r reply, status string) (added bool, err error) {
	n, err := countReplies(ctx, tx, r.MessageID)
	if err == nil && n >= maxReplies && r.Kind != kindAnswer {
		err = errFullConversation
	}
	if err != nil {
		return false, err
	}
	if added, err = insertReply(ctx, tx, r); err != nil || !added {
		return false, err
	}
	if status != "" {
		err = setStatus(ctx, tx, r.MessageID, status)
	}
	return true, errors.Join(
		err,
		s.savePictures(ctx, tx, r),
		extendLinkOf(ctx, tx, r.MessageID, linkExpiry(r.CreatedAt)),
		s.cfg.RecordReply(ctx, tx, r.ID, true),
		s.cfg.RecordUpdated(ctx, tx, r.MessageID),
	)
}

// addVisitorReply stores a visitor's reply, which makes the message new again, and queues the notices about it. The error is
// errNoInboxMessage or errFullConversation if the reply cannot be stored.
func (s *Service) addVisitorReply(ctx context.Context, m contactMessage, text, clientID string, pictures []unsavedPicture) error {
	r := reply{ID: replyID(m.ID, clientID, text), MessageID: m.ID, Author: authorVisitor, Kind: kindReply, Text: text, CreatedAt: s.now(), Delivery: deliveryNone, NewPictures: pictures}
	return s.withLockedMessage(ctx, m.ID, func(ctx context.Context, tx *db.Tx) error {
		return s.addAndAnnounce(ctx, tx, r, m.Language)
	})
}

// withLockedMessage calls change in a transaction that locks a message in the inbox. The end of the request does not interrupt it.
func (s *Service) withLockedMessage(ctx context.Context, messageID string, change func(context.Context, *db.Tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.storeTimeout)
	defer cancel()
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := lockMessage(ctx, tx, messageID); err != nil {
			return err
		}
		return change(ctx, tx)
	})
}

// addAndAnnounce stores a visitor's reply, which makes the message new again, and queues a JobPlan for it. A second call does nothing.
func (s *Service) addAndAnnounce(ctx context.Context, tx *db.Tx, r reply, language i18n.Language) error {
	added, err := s.addReply(ctx, tx, r, "new")
	if err != nil || !added {
		return err
	}
	id := uuid.NewString()
	if _, err := insertNotice(ctx, tx, notice{ID: id, MessageID: r.MessageID, ReplyID: r.ID, Channel: channelPlan, Language: language}, s.now()); err != nil {
		return err
	}
	return s.cfg.Queue.Add(ctx, tx, jobs.Job{Kind: JobPlan, Payload: noticeJob{id}, About: r.MessageID})
}
