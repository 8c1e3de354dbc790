package auth

import (
	"time"
)

// banEnd reads ban_duration: a Go duration from now on, or none for an end of the ban. given is false when there was
// no such field. A banned account cannot sign in, renew its sessions or use them.
func banEnd(text string, now time.Time) (until *time.Time, given bool, err error) {
	switch text {
	case "":
		return nil, false, nil
	case "none":
		return nil, true, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil, false, errBanDuration(err)
	}
	if d == 0 {
		return nil, true, nil
	}
	end := now.Add(d)
	return &end, true, nil
}
