package storage

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// uploadLife is how long a signed upload address can be used (the client's documentation: two hours).
const uploadLife = 2 * time.Hour

// SignUpload answers POST /storage/v1/object/upload/sign/{bucket}/{path...} with an address for one upload of that
// name. x-upsert: true lets it replace an object.
func (s *Service) SignUpload(w http.ResponseWriter, r *http.Request) error {
	bucketID, name := r.PathValue("bucket"), r.PathValue("path")
	caller, upsert := identity.Of(r.Context()), wantsUpsert(r)
	if _, err := s.mayPut(r.Context(), caller, bucketID, name, upsert); err != nil {
		return err
	}
	token, err := s.sign(forUpload, signedClaims{URL: bucketID + "/" + name, Owner: ownerID(caller), Upsert: upsert}, uploadLife)
	if err != nil {
		return err
	}
	at := url.URL{Path: "/object/upload/sign/" + bucketID + "/" + name}
	return httpx.JSON(w, http.StatusOK, map[string]string{"url": at.EscapedPath() + "?token=" + token, "token": token})
}

// SignedUpload answers PUT on that address. Whether it may replace was decided when it was signed. It is used up by
// the upload that is saved: one that fails may be tried again.
func (s *Service) SignedUpload(w http.ResponseWriter, r *http.Request) error {
	bucketID, name := r.PathValue("bucket"), r.PathValue("path")
	claims, err := s.signed(forUpload, r.URL.Query().Get("token"), bucketID, name)
	if err != nil {
		return err
	}
	used, err := tokenIsUsed(r.Context(), s.db, claims.ID)
	if err != nil {
		return err
	}
	if used {
		return errTokenUsed
	}
	b, err := s.bucket(r.Context(), bucketID)
	if err != nil {
		return err
	}
	o, err := s.receive(w, r, identity.Caller{UserID: claims.Owner}, b, name, claims.Upsert, func(ctx context.Context, tx *db.Tx) error {
		first, err := useToken(ctx, tx, claims.ID, claims.ExpiresAt.Time)
		if err == nil && !first {
			return errTokenUsed
		}
		return err
	})
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, uploaded{o.ID, o.Bucket + "/" + o.Name})
}

func wantsUpsert(r *http.Request) bool {
	return strings.EqualFold(strings.TrimSpace(r.Header.Get("X-Upsert")), "true")
}
