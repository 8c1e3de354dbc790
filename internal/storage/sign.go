package storage

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// maxExpiresIn is the longest life of a signed address, in seconds: some 68 years.
const maxExpiresIn = 1<<31 - 1

// signRequest is the body of both calls; Paths is for several.
type signRequest struct {
	ExpiresIn *int64          `json:"expiresIn"`
	Paths     []string        `json:"paths"`
	Transform json.RawMessage `json:"transform"`
	VersionID *string         `json:"versionId"`
}

func (req *signRequest) life() (time.Duration, error) {
	switch {
	case req.ExpiresIn == nil || *req.ExpiresIn < 1 || *req.ExpiresIn > maxExpiresIn:
		return 0, errInvalidParameter("expiresIn must be a number of seconds from 1 to " + strconv.Itoa(maxExpiresIn))
	case req.VersionID != nil:
		return 0, errNotOffered("versionId")
	}
	return time.Duration(*req.ExpiresIn) * time.Second, nil
}

// readSigning reads the body of both calls: its paths, the rendition that is wished for, and how long it holds.
func readSigning(w http.ResponseWriter, r *http.Request) (paths []string, wish *transform, life time.Duration, err error) {
	var req signRequest
	if err := httpx.DecodeJSON(w, r, maxBody, &req); err != nil {
		return nil, nil, 0, err
	}
	if life, err = req.life(); err != nil {
		return nil, nil, 0, err
	}
	wish, err = decodeTransform(req.Transform)
	return req.Paths, wish, life, err
}

// Sign answers POST /storage/v1/object/sign/{bucket}/{path...} with an address that needs no other key until it ends.
func (s *Service) Sign(w http.ResponseWriter, r *http.Request) error {
	_, wish, life, err := readSigning(w, r)
	if err != nil {
		return err
	}
	bucketID, name := r.PathValue("bucket"), r.PathValue("path")
	if _, err := s.readable(r, bucketID, name); err != nil {
		return err
	}
	address, err := s.signedAddress(bucketID, name, wish, life)
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, map[string]string{"signedURL": address})
}

// readable finds an object that the caller may read.
func (s *Service) readable(r *http.Request, bucketID, name string) (Object, error) {
	if _, err := s.bucket(r.Context(), bucketID); err != nil {
		return Object{}, err
	}
	if !policy.Object(identity.Of(r.Context()), bucketID, policy.FileRead) {
		return Object{}, errNoObject
	}
	if !validName(name) {
		return Object{}, errInvalidKey(name)
	}
	o, err := findObject(r.Context(), s.db, bucketID, name)
	if errors.Is(err, db.ErrNoRows) {
		return Object{}, errNoObject
	}
	return o, err
}

// refusal tells a caller's fault from ours.
func refusal(err error) bool {
	var e *apperr.Error
	return errors.As(err, &e) && e.Status < http.StatusInternalServerError
}

// signedAddress is relative to /storage/v1. The name stands in it as it is: the client encodes the address, but for ? and
// #, which would end the path. A name with one of these is encoded here, and so arrives encoded once or twice. With a
// wish it opens that rendition alone, and not the object.
func (s *Service) signedAddress(bucketID, name string, wish *transform, life time.Duration) (string, error) {
	purpose, prefix := forDownload, "/object/sign/"
	if wish != nil {
		purpose, prefix = forRender, "/render/image/sign/"
	}
	token, err := s.sign(purpose, signedClaims{URL: bucketID + "/" + name, Transform: wish}, life)
	if strings.ContainsAny(name, "?#") {
		name = strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23").Replace(name)
	}
	return prefix + bucketID + "/" + name + "?token=" + token, err
}

// signedItem is one answer of several: an address, or why there is none.
type signedItem struct {
	Error     *string `json:"error"`
	Path      string  `json:"path"`
	SignedURL *string `json:"signedURL"`
}

// SignMany answers POST /storage/v1/object/sign/{bucket}: each path gets its address or its error, in order.
func (s *Service) SignMany(w http.ResponseWriter, r *http.Request) error {
	paths, wish, life, err := readSigning(w, r)
	if err != nil {
		return err
	}
	if wish != nil { // the client has none for several
		return errNotOffered("transform for several paths")
	}
	if n := len(paths); n == 0 || n > maxRemoved {
		return errInvalidParameter("paths must have 1 to " + strconv.Itoa(maxRemoved) + " entries")
	}
	bucketID := r.PathValue("bucket")
	if _, err := s.bucket(r.Context(), bucketID); err != nil {
		return err
	}
	items := make([]signedItem, 0, len(paths))
	for _, name := range paths {
		item := signedItem{Path: name}
		switch _, err := s.readable(r, bucketID, name); {
		case refusal(err):
			text := "Either the object does not exist or you do not have access to it"
			item.Error = &text
		case err != nil:
			return err
		default:
			address, err := s.signedAddress(bucketID, name, nil, life)
			if err != nil {
				return err
			}
			item.SignedURL = &address
		}
		items = append(items, item)
	}
	return httpx.JSON(w, http.StatusOK, items)
}

// Signed answers GET and HEAD /storage/v1/object/sign/{bucket}/{path...}: the token alone opens it.
func (s *Service) Signed(w http.ResponseWriter, r *http.Request) error {
	claims, err := s.signature(forDownload, r.URL.Query().Get("token"))
	if err != nil {
		return err
	}
	bucketID, name := r.PathValue("bucket"), r.PathValue("path")
	if decoded, err := url.PathUnescape(name); err == nil && claims.URL == bucketID+"/"+decoded && strings.ContainsAny(decoded, "?#") {
		name = decoded // see signedAddress
	}
	if claims.URL != bucketID+"/"+name {
		return errOtherObject.Becausef("signed for %q", claims.URL)
	}
	r.SetPathValue("path", name)
	return s.serve(w, r, func(bucket) bool { return true }, errNoObject)
}
