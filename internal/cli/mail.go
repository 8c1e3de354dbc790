package cli

import (
	"atelie/internal/app"
	"atelie/internal/i18n"
	"atelie/internal/mail"
)

// mailCommand is the command atelie mail. It sends a test mail.
type mailCommand struct {
	Test mailTestCommand `cmd:"" help:"Send a test mail now and print the result."`
}

type mailTestCommand struct {
	Address  string `arg:"" help:"Recipient of the mail."`
	Language string `enum:"en,pt" default:"en" help:"Language of the mail: en or pt."`
}

// Run sends a test mail without the job queue, so that it reports wrong settings immediately. The destination of the mail is the
// mail server, or a file in the data folder.
func (c *mailTestCommand) Run(env *environment) error {
	return env.with(func(a *app.App) error {
		destination, err := a.SendMail(env.ctx, mail.Message{Kind: mail.Test, To: c.Address, Language: i18n.Choose(c.Language), At: env.now()})
		if err != nil {
			return err
		}
		if env.cfg.Mail.SMTPURL == "" {
			return env.printf("No SMTP server is set (ATELIE_SMTP_URL). The mail is in %s\n", destination)
		}
		return env.printf("%s has accepted the mail for %s.\n", destination, c.Address)
	})
}
