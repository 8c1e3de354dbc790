package app

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"atelie/internal/auth"
	"atelie/internal/db"
	"atelie/internal/functions"
	"atelie/internal/jobs"
)

// This file lists where the program stores data about an email address, and finds and erases the mails that wait to be sent. An owner (an
// administrator of the site) uses it for visitors who ask what the site stores about their address, or who want this data erased.

// addressPlaces returns every place where data about an email address is stored. For each place, the function Each reads the data about an
// address, and Erase deletes it. Owners find, export and erase this data with the function /functions/v1/address-data. A new table with
// addresses needs an element here.
//
// An erasure follows the order of the list. Accounts come after the activity log and the sign-ins, because the rows of both are found by the
// account's id.
func (a *App) addressPlaces() []functions.AddressPlace {
	return []functions.AddressPlace{
		{Name: "messages", Each: a.Functions.EachMessageOf, Erase: a.Functions.EraseMessagesOf},
		// Messages that look like spam.
		{Name: "quarantine", Each: a.Functions.EachQuarantinedOf, Erase: a.Functions.EraseQuarantinedOf},
		// Mails and webhook calls about visitors' messages.
		{Name: "notices", Each: a.Functions.EachNoticeOf, Erase: a.Functions.EraseNoticesOf},
		// Rows as they were before a change or a deletion.
		{Name: "revisions", Each: a.history.EachRevisionOf, Erase: a.history.EraseRevisionsOf},
		// The log of who changed or exported what.
		{Name: "activity", Each: a.activity.EachEntryAbout, Erase: a.activity.EraseEntriesAbout},
		// The audit log of accounts.
		{Name: "sign_ins", Each: a.Auth.EachAuditEntryOf, Erase: a.Auth.EraseAuditEntriesOf},
		{Name: "accounts", Each: a.Auth.EachAccountOf, Erase: a.Auth.EraseAccountsOf},
		{Name: "queued_mails", Each: a.eachQueuedMailOf, Erase: a.eraseQueuedMailsOf},
		// Without a mail server, mails are written to files. A transaction cannot delete files, so Erase does nothing for them. A job
		// (functions.JobCleanUp) deletes them later.
		{Name: "filed_mails", Each: a.eachFiledMailOf, Erase: func(context.Context, *db.Tx, string) error { return nil }},
	}
}

// queuedMail contains the kind and the addresses of a mail that a job will send. It is decoded from the job's payload, which has only some
// of the fields:
//   - auth.JobMail: Kind, To and, for a change of the email address, NewEmail
//   - auth.JobMessageRequest, a message with a link or code that a client has requested: Kind and, unless it is an SMS, Email
//   - functions.JobDigest, one notice about many messages: Recipient
type queuedMail struct {
	Kind      string `json:"kind"`
	To        string `json:"to"`
	Email     string `json:"email"`
	NewEmail  string `json:"new_email"`
	Recipient string `json:"recipient"`
}

// queuedMailsOf returns the jobs that will send a mail to an address, or a mail that contains the address. It leaves out the jobs about a
// single message of a visitor, because they are deleted together with the message.
func (a *App) queuedMailsOf(ctx context.Context, q db.Querier, address string) ([]jobs.FoundJob, error) {
	return a.Jobs.Find(ctx, q, func(payload []byte) bool {
		var m queuedMail
		if json.Unmarshal(payload, &m) != nil {
			return false
		}
		return slices.ContainsFunc([]string{m.To, m.Email, m.NewEmail, m.Recipient}, func(contained string) bool {
			return strings.EqualFold(contained, address)
		})
	}, auth.JobMail, auth.JobMessageRequest, functions.JobDigest)
}

// eachQueuedMailOf calls yield for each queued mail of an address. It leaves out the mail's link and code, because they are secrets.
func (a *App) eachQueuedMailOf(ctx context.Context, q db.Querier, address string, yield func(any) error) error {
	found, err := a.queuedMailsOf(ctx, q, address)
	if err != nil {
		return err
	}
	for _, j := range found {
		var m queuedMail
		if err := json.Unmarshal(j.Payload, &m); err != nil {
			return err
		}
		if j.Kind == functions.JobDigest {
			m.Kind = "digest"
		}
		err := yield(struct {
			Kind     string     `json:"kind"`
			QueuedAt time.Time  `json:"queued_at"`
			FailedAt *time.Time `json:"failed_at,omitempty"`
		}{m.Kind, j.CreatedAt.UTC(), j.FailedAt})
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *App) eraseQueuedMailsOf(ctx context.Context, tx *db.Tx, address string) error {
	found, err := a.queuedMailsOf(ctx, tx, address)
	if err != nil {
		return err
	}
	for _, j := range found {
		if err := jobs.Remove(ctx, tx, j.ID); err != nil {
			return err
		}
	}
	return nil
}

// eachFiledMailOf calls yield for each mail about an address that was stored as a file on this node, without its text: the text
// may hold a link that signs in.
func (a *App) eachFiledMailOf(ctx context.Context, _ db.Querier, address string, yield func(any) error) error {
	found, err := a.Mail.FilesOf(ctx, address)
	if err != nil {
		return err
	}
	for _, f := range found {
		if err := yield(f); err != nil {
			return err
		}
	}
	return nil
}
