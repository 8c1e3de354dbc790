package storage

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// This file creates signed URLs for reading objects, and handles requests to such URLs. A signed URL contains a token, so the request needs
// no key.

// maxExpiresIn is the maximum validity of a signed URL, in seconds: about 68 years.
const maxExpiresIn = 1<<31 - 1

// signRequest is the body of a request to Sign or SignMany.
type signRequest struct {
	ExpiresIn *int64          `json:"expiresIn"` // seconds
	Paths     []string        `json:"paths"`     // names of objects, for SignMany
	Transform json.RawMessage `json:"transform"` // for Sign: size and format of the rendition (a resized copy) that the URL will return
	VersionID *string         `json:"versionId"` // rejected: objects have no versions
}

// readSigning reads and checks a signRequest. lifetime is how long the URL will be valid.
func (s *Service) readSigning(w http.ResponseWriter, r *http.Request) (req signRequest, lifetime time.Duration, err error) {
	if err := httpx.DecodeLenientJSON(w, r, maxBodyBytes, &req); err != nil {
		return req, 0, err
	}
	switch {
	case req.ExpiresIn == nil || *req.ExpiresIn < 1 || *req.ExpiresIn > maxExpiresIn:
		return req, 0, files.ErrInvalidParameter("expiresIn must be a number of seconds from 1 to " + strconv.Itoa(maxExpiresIn))
	case req.VersionID != nil:
		return req, 0, files.ErrNotSupported("versionId")
	}
	req.Transform, err = s.media.ReadTransform(req.Transform)
	return req, time.Duration(*req.ExpiresIn) * time.Second, err
}

// Sign handles POST /storage/v1/object/sign/{bucket}/{path...}. It responds with a signed URL. Whoever has the URL can read the object
// until the URL expires. If the request has a transform, the URL is for the rendition instead.
func (s *Service) Sign(w http.ResponseWriter, r *http.Request) error {
	req, lifetime, err := s.readSigning(w, r)
	if err != nil {
		return err
	}
	bucketID, name := r.PathValue("bucket"), r.PathValue("path")
	if err := s.checkSignable(r, bucketID, name); err != nil {
		return err
	}
	signed, err := s.signedURL(r, bucketID, name, req.Transform, lifetime)
	return respond(w, map[string]string{"signedURL": signed}, err)
}

// checkSignable returns an error unless an object exists and the caller may sign URLs of it.
func (s *Service) checkSignable(r *http.Request, bucketID, name string) error {
	if _, err := s.bucket(r.Context(), bucketID); err != nil {
		return err
	}
	if !policy.Object(identity.Of(r.Context()), bucketID, policy.FileSign) {
		return files.ErrNoObject
	}
	if !files.ValidName(name) {
		return files.ErrInvalidKey(name)
	}
	if _, err := s.cfg.Access.Check(r, bucketID, name); err != nil {
		return err
	}
	_, err := findObject(r.Context(), s.db, bucketID, name)
	return db.NoRowsAs(err, files.ErrNoObject)
}

// signedURL returns a signed URL of an object, or of a rendition if transform is not nil. The URL is relative to /storage/v1. Its name is
// not percent-encoded, because the client encodes the URL. But the client does not encode ? and #, which would end the path. If the name
// has one of them, signedURL encodes the name, so Signed and RenderSigned may receive it encoded twice.
func (s *Service) signedURL(r *http.Request, bucketID, name string, transform json.RawMessage, lifetime time.Duration) (string, error) {
	purpose, prefix := purposeDownload, "/object/sign/"
	if transform != nil {
		purpose, prefix = purposeRender, "/render/image/sign/"
	}
	byOwner := policy.Object(identity.Of(r.Context()), bucketID, policy.FileWrite)
	token, err := s.signToken(purpose, signedClaims{Object: bucketID + "/" + name, ByOwner: byOwner, Transform: transform}, lifetime)
	if strings.ContainsAny(name, "?#") {
		name = strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23").Replace(name)
	}
	return prefix + bucketID + "/" + name + "?token=" + token, err
}

// signedItem is the result of SignMany for one path: a URL, or the reason why there is none.
type signedItem struct {
	Error     *string `json:"error"`
	Path      string  `json:"path"`
	SignedURL *string `json:"signedURL"`
}

// SignMany responds to POST /storage/v1/object/sign/{bucket} with a URL or an error for each path, in the order of the paths.
func (s *Service) SignMany(w http.ResponseWriter, r *http.Request) error {
	req, lifetime, err := s.readSigning(w, r)
	if err != nil {
		return err
	}
	if req.Transform != nil { // the client does not offer this
		return files.ErrNotSupported("transform for several paths")
	}
	if n := len(req.Paths); n == 0 || n > maxNames {
		return files.ErrInvalidParameter("paths must have 1 to " + strconv.Itoa(maxNames) + " entries")
	}
	bucketID := r.PathValue("bucket")
	if _, err := s.bucket(r.Context(), bucketID); err != nil {
		return err
	}
	items := make([]signedItem, 0, len(req.Paths))
	for _, name := range req.Paths {
		item := signedItem{Path: name}
		switch err := s.checkSignable(r, bucketID, name); {
		case files.IsRefusal(err):
			item.Error = new("Either the object does not exist or you do not have access to it")
		case err != nil:
			return err
		default:
			signed, err := s.signedURL(r, bucketID, name, nil, lifetime)
			if err != nil {
				return err
			}
			item.SignedURL = &signed
		}
		items = append(items, item)
	}
	return httpx.JSON(w, http.StatusOK, items)
}

// Signed handles GET and HEAD /storage/v1/object/sign/{bucket}/{path...}. The token in the URL decides who may read the
// object; the caller does not matter.
func (s *Service) Signed(w http.ResponseWriter, r *http.Request) error {
	r, _, err := s.verifySigned(r, purposeDownload)
	if err != nil {
		return err
	}
	return s.serve(w, r, func(bucket) bool { return true }, files.ErrNoObject, func(files.Object) {})
}

// verifySigned verifies the token in the URL of a request, and that it was signed for the object in the URL. It decodes the path value "path"
// if signedURL and the client have both encoded it. The returned request has the mark of an owner's URL if the token has it.
func (s *Service) verifySigned(r *http.Request, purpose string) (*http.Request, *signedClaims, error) {
	claims, err := s.verifyToken(purpose, r.URL.Query().Get("token"))
	if err != nil {
		return r, nil, err
	}
	bucketID, name := r.PathValue("bucket"), r.PathValue("path")
	if decoded, err := url.PathUnescape(name); err == nil && claims.Object == bucketID+"/"+decoded && strings.ContainsAny(decoded, "?#") {
		name = decoded
	}
	if err := checkSignedFor(claims.Object, bucketID, name); err != nil {
		return r, nil, err
	}
	r.SetPathValue("path", name)
	if claims.ByOwner {
		r = files.WithSignedByOwner(r)
	}
	return r, claims, nil
}

// RenderSigned responds to /storage/v1/render/image/sign/{bucket}/{path...} with the rendition that the token describes.
func (s *Service) RenderSigned(w http.ResponseWriter, r *http.Request) error {
	r, claims, err := s.verifySigned(r, purposeRender)
	if err != nil {
		return err
	}
	if claims.Transform == nil {
		return errBadToken.Becausef("no transform")
	}
	return s.media.RenderTransform(w, r, claims.Transform)
}
