package functions

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"

	"atelie/internal/activity"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/settings"
)

// This file handles POST /functions/v1/address-data, with which an owner (administrator) counts, exports or erases everything that is
// stored about an e-mail address. A new table with addresses needs an AddressPlace in addressPlaces of package app.

// AddressPlace is a place with data about e-mail addresses, such as a table. Its functions read and delete the data about one address. The
// parameter address is in lower case. The functions also find stored addresses with upper-case letters.
type AddressPlace struct {
	Name string // name of the place in responses and exports
	// Each calls yield for each entry (a stored record, such as a row) about the address, until yield returns an error. An export contains
	// the entries as JSON.
	Each func(ctx context.Context, q db.Querier, address string, yield func(entry any) error) error
	// Erase deletes the entries about the address.
	Erase func(ctx context.Context, tx *db.Tx, address string) error
}

// addressRequest is the body of a call of address-data.
type addressRequest struct {
	// Action is
	//   - find, or "": only counts the entries
	//   - export: sends the entries as a JSON file
	//   - erase: deletes the entries
	Action  string `json:"action"`
	Address string `json:"address"` // the e-mail address
}

// placeCount is the number of entries about an address in a place. The action erase counts them before it deletes them.
type placeCount struct {
	Name  string `json:"name"` // AddressPlace.Name
	Count int    `json:"count"`
}

// addressResponse is the response to the actions find and erase.
type addressResponse struct {
	Success  bool         `json:"success"`
	Address  string       `json:"address"`
	Places   []placeCount `json:"places"`
	Settings bool         `json:"settings"` // whether the site's settings contain the address; erase does not change the settings
}

// addressData handles the address-data function for owners. Every action refuses the address of an account with a role, so that no owner
// can erase another owner.
func (s *Service) addressData(w http.ResponseWriter, r *http.Request) error {
	var req addressRequest
	if err := httpx.DecodeJSON(w, r, maxBody, &req); err != nil {
		return err
	}
	address := strings.ToLower(trimSpace(req.Address))
	if !isAddress(address) {
		return errInvalid("The address must be an e-mail address")
	}
	w.Header().Set("Cache-Control", "no-store")
	switch req.Action {
	case "", "find", "erase":
	case "export":
		return s.exportAddress(w, r, address)
	default:
		return errInvalid("The action must be find, export or erase")
	}
	var found addressResponse
	err := s.db.WithTx(r.Context(), func(tx *db.Tx) (err error) {
		if err := s.refuseAddressWithRole(r.Context(), tx, address); err != nil {
			return err
		}
		if found, err = s.countEntries(r.Context(), tx, address); err != nil || req.Action != "erase" {
			return err
		}
		for _, place := range s.cfg.AddressPlaces() {
			if err := place.Erase(r.Context(), tx, address); err != nil {
				return err
			}
		}
		if err := s.recordAddressAction(r.Context(), tx, "erase"); err != nil {
			return err
		}
		// The job deletes what no transaction can: mails that are files, and the remains of deleted rows in SQLite's files.
		return s.cfg.Queue.Enqueue(r.Context(), tx, JobCleanUp, cleanUpJob{Address: address})
	})
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, found)
}

// isAddress reports whether text could be an e-mail address. It accepts more texts than emailPattern, because the
// addresses of accounts need not match that pattern.
func isAddress(text string) bool {
	local, domain, found := strings.Cut(text, "@")
	return found && local != "" && domain != "" && len(text) <= maxEmail &&
		!strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}

// refuseAddressWithRole returns errAddressHasRole if an account with a role has the address.
func (s *Service) refuseAddressWithRole(ctx context.Context, tx *db.Tx, address string) error {
	has, err := s.cfg.AddressHasRole(ctx, tx, address)
	if err == nil && has {
		err = errAddressHasRole
	}
	return err
}

// recordAddressAction adds an entry to the activity log. The entry leaves out the address: otherwise it would be data about the address.
func (s *Service) recordAddressAction(ctx context.Context, tx *db.Tx, action string) error {
	return activity.RecordExport(ctx, tx, "address-data "+action, identity.Of(ctx).UserID, s.now())
}

// countEntries counts the entries of each place, and checks whether the settings contain the address.
func (s *Service) countEntries(ctx context.Context, tx *db.Tx, address string) (addressResponse, error) {
	response := addressResponse{Success: true, Address: address}
	for _, place := range s.cfg.AddressPlaces() {
		n := 0
		err := place.Each(ctx, tx, address, func(any) error {
			n++
			return nil
		})
		if err != nil {
			return response, err
		}
		response.Places = append(response.Places, placeCount{place.Name, n})
	}
	notices, err := settings.LoadNotices(ctx, tx)
	if err != nil {
		return response, err
	}
	site, err := settings.LoadSite(ctx, tx)
	for _, other := range append(notices.Emails, site.Email) {
		response.Settings = response.Settings || strings.EqualFold(other, address)
	}
	return response, err
}

// exportAddress responds with a file in JSON that has a list for each place. It sends the entries while it reads them, without a
// transaction, so that a slow client does not block writes.
func (s *Service) exportAddress(w http.ResponseWriter, r *http.Request, address string) error {
	err := s.db.WithTx(r.Context(), func(tx *db.Tx) error {
		if err := s.refuseAddressWithRole(r.Context(), tx, address); err != nil {
			return err
		}
		return s.recordAddressAction(r.Context(), tx, "export")
	})
	if err != nil {
		return err
	}
	ctx := context.WithoutCancel(r.Context()) // sending a long file may take longer than the time limit of a request
	out := startExportFile(w, "address-"+s.now().UTC().Format(time.DateOnly)+".json")
	return out.end(r.Context(), s.writeAddressExport(ctx, out, address))
}

func (s *Service) writeAddressExport(ctx context.Context, w io.Writer, address string) error {
	head, err := json.Marshal(struct {
		Address string    `json:"address"`
		At      time.Time `json:"exported_at"`
	}{address, s.now().UTC()})
	if err != nil {
		return err
	}
	write := func(parts ...string) error {
		_, err := io.WriteString(w, strings.Join(parts, ""))
		return err
	}
	if err := write(strings.TrimSuffix(string(head), "}")); err != nil {
		return err
	}
	for _, place := range s.cfg.AddressPlaces() {
		if err := write(",\n\"", place.Name, "\":["); err != nil {
			return err
		}
		separator := "\n"
		err := place.Each(ctx, s.db, address, func(entry any) error {
			line, err := json.Marshal(entry)
			if err != nil {
				return err
			}
			err = write(separator, string(line))
			separator = ",\n"
			return err
		})
		if err != nil {
			return err
		}
		if err := write("]"); err != nil {
			return err
		}
	}
	return write("}\n")
}
