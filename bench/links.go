package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// linkTables prints whether response times reveal that a private link (the secret URL at which a visitor follows a message) has existed. The
// response for a link that has ended must take as long as the response for a link that never existed. linkTables uses new sites.
func linkTables(ctx context.Context, out io.Writer) (err error) {
	defer func() { err = errors.Join(err, dbtest.Stop()) }() // ends the PostgreSQL server that FreshPostgres starts
	for _, engine := range engines {
		databaseURL, err := engine.url(ctx)
		if err != nil {
			return err
		}
		if err := linkRows(ctx, out, strings.TrimSuffix(engine.name, " (without fsync)"), databaseURL); err != nil {
			return err
		}
	}
	return nil
}

// linkRows measures one database engine and prints its rows. It sends pairs of requests in random order: one for a link that has ended, and
// one for a link that never existed. databaseURL is "" for SQLite in the data folder.
func linkRows(ctx context.Context, out io.Writer, engine, databaseURL string) (err error) {
	site, err := newBenchSite(ctx, out, databaseURL)
	if err != nil {
		return err
	}
	defer site.close()
	if databaseURL == "" {
		databaseURL = "sqlite:" + filepath.Join(site.dir, "atelie.db")
	}
	d, err := db.Open(ctx, databaseURL, db.NoHooks)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	links, picture, err := site.endedLinks(ctx, d)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "\nResponse times for private links that have existed, of those for an unknown one, on %s, "+
		"%d tries each in random turns: medians, their ratio with its 95 %% interval (bootstrap), Mann-Whitney's p\n", engine, timedTries); err != nil {
		return err
	}
	contentType, pictures, err := linkForm([2]string{"text", "Is it blue?"}, []byte("not a picture"))
	if err != nil {
		return err
	}
	const urlencoded = "application/x-www-form-urlencoded"
	for _, request := range []struct{ name, method, subpath, contentType, body string }{
		{"page", http.MethodGet, "", "", ""},
		{"text", http.MethodPost, "", urlencoded, url.Values{"text": {"Is it blue?"}}.Encode()},
		{"text with a picture", http.MethodPost, "", contentType, pictures},
		{"erasure", http.MethodPost, "", urlencoded, "action=erase&confirm=yes"},
		{"picture", http.MethodGet, "/picture/" + picture, "", ""},
	} {
		for _, kind := range []string{"expired", "renewed", "erased"} {
			var times [2][]time.Duration // for the link that has ended, and for an unknown one
			for range timedTries {
				if err := db.Exec(ctx, d, "delete from rate_limits"); err != nil { // a link takes ten texts a minute
					return err
				}
				first := rand.IntN(2)
				for _, which := range []int{first, 1 - first} {
					target := links[kind]
					if which == 1 {
						target = unknownLink()
					}
					begin := time.Now()
					if err := site.visit(ctx, request.method, target+request.subpath, request.contentType, request.body, http.StatusNotFound); err != nil {
						return err
					}
					times[which] = append(times[which], time.Since(begin))
				}
			}
			difference, low, high := medianDifference(times[0], times[1])
			unknown := float64(median(times[1]))
			ratio := func(d time.Duration) float64 { return 1 + float64(d)/unknown }
			p, verdict := mannWhitney(times[0], times[1]), "indistinguishable"
			if p < distinctAtP {
				verdict = "DIFFERENT"
			}
			recordCost(fmt.Sprintf("%s of an %s link on %s, of an unknown one", request.name, kind, engine), ratio(difference))
			if _, err := fmt.Fprintf(out, "  %-20s %-8s %6d µs   unknown %6d µs   ratio %.3f [%.3f, %.3f]   p %.3f   %s\n", request.name, kind,
				median(times[0]).Microseconds(), median(times[1]).Microseconds(), ratio(difference), ratio(low), ratio(high), p, verdict); err != nil {
				return err
			}
		}
	}
	return nil
}

// unknownLink returns a path that looks like that of a private link.
func unknownLink() string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	token := make([]byte, 22)
	for i := range token {
		token[i] = letters[rand.IntN(len(letters))]
	}
	return "/enquiry/" + string(token)
}

// linkForm returns a form with a text field and a file.
func linkForm(field [2]string, picture []byte) (contentType, body string, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	err = w.WriteField(field[0], field[1])
	if part, failed := w.CreateFormFile("picture", "a.jpg"); failed == nil {
		_, failed = part.Write(picture)
		err = errors.Join(err, failed)
	}
	return w.FormDataContentType(), b.String(), errors.Join(err, w.Close())
}

// visit sends a request as a visitor's browser does, and checks its status.
func (b *benchSite) visit(ctx context.Context, method, target, contentType, body string, want int) error {
	r, err := http.NewRequestWithContext(ctx, method, b.server.url+target, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "text/html")
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	err = errors.Join(err, response.Body.Close())
	if err == nil && response.StatusCode != want {
		err = fmt.Errorf("%s %s: %s", method, target, response.Status)
	}
	return err
}

// endedLinks makes links, and ends each in another way. It returns their paths, and the id of a picture in the conversation of the expired
// one.
func (b *benchSite) endedLinks(ctx context.Context, d *db.DB) (links map[string]string, picture string, err error) {
	if err := db.Exec(ctx, d, "insert into site_settings (key, value, updated_at) values ('site', $1, $2) on conflict (key) do update set value = excluded.value", `{"name":"Alvor","enquiryLinks":true}`, time.Now()); err != nil {
		return nil, "", err
	}
	links = map[string]string{}
	ids := map[string]string{}
	for _, kind := range []string{"expired", "renewed", "erased"} {
		body, err := b.send(ctx, http.MethodPost, b.server.url+"/functions/v1/submit-contact", b.anonKey, map[string]any{"name": kind, "email": "rui@example.com", "message": "How large is the mural?", "follow": true})
		if err != nil {
			return nil, "", err
		}
		var given struct {
			URL string `json:"enquiry_url"`
		}
		if err := json.Unmarshal(body, &given); err != nil {
			return nil, "", err
		}
		_, token, found := strings.Cut(given.URL, "/enquiry/")
		if !found {
			return nil, "", fmt.Errorf("no link: %s", body)
		}
		links[kind] = "/enquiry/" + token
		if ids[kind], err = db.One[string](ctx, d, "select id from contact_submissions where name = $1", kind); err != nil {
			return nil, "", err
		}
	}
	// The picture's row is enough: an ended link shows none.
	reply, picture := "10000000-0000-4000-8000-000000000001", "10000000-0000-4000-8000-000000000002"
	if err := errors.Join(
		db.Exec(ctx, d, "insert into contact_replies (id, message_id, author, text, created_at, delivery) values ($1, $2, 'visitor', 'See', $3, 'none')", reply, ids["expired"], time.Now()),
		db.Exec(ctx, d, "insert into contact_pictures (id, message_id, reply_id, position, name, width, height, bytes, created_at) values ($1, $2, $3, 1, 'a/b/1', 3, 2, 100, $4)", picture, ids["expired"], reply, time.Now()),
		db.Exec(ctx, d, "update contact_links set expires_at = $1 where message_id = $2", time.Now().Add(-time.Minute), ids["expired"]),
	); err != nil {
		return nil, "", err
	}
	if _, err := b.send(ctx, http.MethodPost, b.server.url+"/functions/v1/contact-reply", b.serviceKey, map[string]string{"action": "renew", "message_id": ids["renewed"]}); err != nil {
		return nil, "", err
	}
	return links, picture, b.visit(ctx, http.MethodPost, links["erased"], "application/x-www-form-urlencoded", "action=erase&confirm=yes", http.StatusOK)
}
