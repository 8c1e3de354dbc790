package storage

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// This file stores, serves and removes the pictures of conversations. A conversation is a visitor's message and its replies. The functions
// check no permissions: the caller must check them, because they depend on private links (the URLs at which visitors follow their
// messages).

// ReceivedPicture is a picture that Receive or CopyFromConversation has stored durably, but to which no row refers yet. The caller calls
// Save to insert the picture's rows, and must always call Discard in the end.
type ReceivedPicture struct {
	Width, Height int   // pixels
	Size          int64 // bytes

	service *Service
	file    *incomingFile
	isSaved bool // Save was successful; the transaction may have been committed, so Discard must not remove the file
}

// Receive reads a picture for a conversation, checks it like an upload, and stores it without its metadata. If the picture has no metadata,
// or if metadata cannot be removed from files of its type, Receive stores the file as it was sent.
//
// The error is apperr.NoSpace if the quota has no room for the largest picture that the bucket accepts. The error is an *apperr.Error with
// a status below 500 if the picture is refused.
func (s *Service) Receive(ctx context.Context, name string, body io.Reader) (*ReceivedPicture, error) {
	return s.receivePicture(ctx, policy.ConversationBucket, name, body)
}

// CopyFromConversation stores a copy of a picture of a conversation in another bucket. As after Receive, the caller calls Save and Discard.
func (s *Service) CopyFromConversation(ctx context.Context, name, bucketID, copyName string) (*ReceivedPicture, error) {
	_, stored, err := s.open(ctx, findObject, policy.ConversationBucket, name, neverPublic) // neverPublic: do not cache the bytes
	if err != nil {
		return nil, err
	}
	defer func() { _ = stored.Close() }() // the file was only read
	return s.receivePicture(ctx, bucketID, copyName, stored.File)
}

// receivePicture stores a picture for a bucket, without rows. Before it reads the picture, it requires room for the largest one that the
// bucket accepts.
func (s *Service) receivePicture(ctx context.Context, bucketID, name string, body io.Reader) (*ReceivedPicture, error) {
	b, err := s.bucket(ctx, bucketID)
	if err != nil {
		return nil, err
	}
	left, err := s.quotaLeft(ctx, bucketID, name)
	if err != nil {
		return nil, err
	}
	if left < s.sizeLimit(b) {
		return nil, apperr.NoSpace
	}
	caller := identity.Caller{Role: identity.Service}
	options := func() (PutOptions, error) { return PutOptions{dropUpload: true}, nil }
	f, err := s.stageAndInspect(ctx, caller, b, name, body, -1, options) // -1: the size is unknown
	if err != nil {
		return nil, err
	}
	r := &ReceivedPicture{service: s, file: f, Width: f.inspection.Width, Height: f.inspection.Height}
	if err := s.store(ctx, f); err != nil {
		r.Discard(ctx)
		return nil, f.limited.explain(err)
	}
	r.Size = f.object.Size
	return r, nil
}

// Save saves the picture's rows.
func (r *ReceivedPicture) Save(ctx context.Context, tx *db.Tx) error {
	_, err := r.service.save(ctx, tx, r.file)
	r.isSaved = err == nil
	return err
}

// Discard removes the picture unless Save was successful. After a successful Save whose transaction was not committed, Sweep removes it.
func (r *ReceivedPicture) Discard(ctx context.Context) {
	if r.isSaved {
		r.file.staged.pending = r.file.unused
	}
	r.file.close(ctx)
}

// RemoveFolder removes the objects of a bucket whose names begin with a folder, for example "a/" for "a/b". Their files are removed after
// the commit.
func (s *Service) RemoveFolder(ctx context.Context, tx *db.Tx, bucketID, folder string) error {
	names, err := listFolder(ctx, tx, bucketID, path.Clean(folder))
	if err != nil {
		return err
	}
	for _, name := range names {
		locked, err := lockObject(ctx, tx, bucketID, name)
		if err == nil {
			err = s.discardObject(ctx, tx, locked)
		}
		if err != nil && !errors.Is(err, db.ErrNoRows) { // removed meanwhile
			return err
		}
	}
	return nil
}

// ServePicture responds with a picture of a conversation. If metadata cannot be removed from its type, hidden is true and nothing was
// written: only renditions of it may be shown.
func (s *Service) ServePicture(w http.ResponseWriter, r *http.Request, name string) (hidden bool, err error) {
	r = r.Clone(r.Context())
	r.URL.RawQuery = "" // no parameter of files applies
	r.SetPathValue("bucket", policy.ConversationBucket)
	r.SetPathValue("path", name)
	err = s.serve(w, r, func(bucket) bool { return true }, files.ErrNoObject, func(files.Object) {})
	if errors.Is(err, errOnlyRenditions) {
		return true, nil
	}
	return false, err
}
