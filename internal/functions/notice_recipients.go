package functions

import (
	"context"
	netmail "net/mail"
	"slices"
	"strings"
	"unicode"

	"atelie/internal/i18n"
	"atelie/internal/settings"
)

// This file finds the recipients of notices: mails to owners (administrators) about visitors' messages. It also hashes e-mail addresses,
// for limits of the mails to one mailbox.

// Recipient is the e-mail address to which a mail is sent, and the language of the mail.
type Recipient struct {
	Email    string
	Language i18n.Language
}

// findRecipients returns the recipients of notices by mail. If the settings have e-mail addresses, these are the first maxRecipients of
// them. If the settings have none, they are all owners. Invalid addresses are left out.
//
// The mails are in the language of the settings. If the settings have none, an owner gets mails in the language of the account, and the
// addresses in the settings get mails in the language of the first owner.
func (s *Service) findRecipients(ctx context.Context, notices settings.Notices) ([]Recipient, error) {
	owners, err := s.cfg.Owners(ctx)
	if err != nil {
		return nil, err
	}
	if len(notices.Emails) == 0 {
		list := slices.DeleteFunc(slices.Clone(owners), func(r Recipient) bool { return !isMailable(r.Email) })
		for i := range list {
			if notices.Language != "" {
				list[i].Language = notices.Language
			}
		}
		return list, nil
	}
	language := notices.Language
	if language == "" && len(owners) > 0 {
		language = owners[0].Language
	}
	list := make([]Recipient, 0, len(notices.Emails))
	for _, email := range notices.Emails {
		if email = strings.TrimSpace(email); isMailable(email) && len(list) < maxRecipients {
			list = append(list, Recipient{email, i18n.Choose(string(language))})
		}
	}
	return list, nil
}

// isMailable reports whether mail can be sent to an e-mail address. The text must be one address without a name, such as ana@example.com,
// and without control characters.
func isMailable(email string) bool {
	a, err := netmail.ParseAddress(email)
	return err == nil && a.Address == email && len(email) <= maxEmail && !strings.ContainsFunc(email, unicode.IsControl)
}

// hashMailbox returns a hash of the mailbox that an e-mail address belongs to. Many providers deliver several spellings of an
// address to one mailbox, so the hash ignores case and, in the part before the @, dots and everything after a plus sign.
func hashMailbox(email string) string {
	local, domain, _ := strings.Cut(strings.ToLower(email), "@")
	local, _, _ = strings.Cut(local, "+")
	return hashText(strings.ReplaceAll(local, ".", "") + "@" + domain)
}
