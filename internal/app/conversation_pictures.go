package app

import (
	"context"
	"io"
	"net/http"
	"path"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/functions"
	"atelie/internal/policy"
)

// This file stores, serves, copies and removes the pictures of conversations. A conversation is a message and its replies. Package
// functions (the server functions of the site, such as the contact form) calls these methods, because it does not import packages storage
// and media.

// reviewBucket is the public bucket with the pictures of reviews.
const reviewBucket = "review-images"

// smallPictureWidth is the width, in pixels, of the pictures that a conversation shows.
const smallPictureWidth = 320

// receivePicture stores the file of a picture for a conversation. The caller then calls the returned function Save, which adds the file's
// rows to the tables of package storage. In the end the caller always calls Discard, which deletes the file unless Save was successful.
func (a *App) receivePicture(ctx context.Context, name string, body io.Reader) (functions.ReceivedPicture, error) {
	received, err := a.Storage.Receive(ctx, name, body)
	if err != nil {
		return functions.ReceivedPicture{}, err
	}
	return functions.ReceivedPicture{Width: received.Width, Height: received.Height, Size: received.Size, Save: received.Save, Discard: received.Discard}, nil
}

// servePicture sends a picture of a conversation: smallPictureWidth wide if small is true, otherwise in full size. If the program cannot
// remove the metadata (such as the location) from files of this type, only callers who may replace the file get the file itself. All other
// callers get a rendition (a picture that the program makes from the file) in full size.
func (a *App) servePicture(w http.ResponseWriter, r *http.Request, name string, small bool) error {
	if small {
		return a.Media.RenderPrivate(w, r, policy.ConversationBucket, name, smallPictureWidth)
	}
	if hidden, err := a.Storage.ServePicture(w, r, name); err != nil || !hidden {
		return err
	}
	return a.Media.RenderPrivate(w, r, policy.ConversationBucket, name, 0 /* the full width */)
}

// copyForReview copies a picture of a conversation to the public pictures of reviews. As after receivePicture, the caller calls Save and
// Discard.
func (a *App) copyForReview(ctx context.Context, name string) (functions.ReviewPicture, error) {
	copyName := uuid.NewString()
	copied, err := a.Storage.CopyFromConversation(ctx, name, reviewBucket, copyName)
	if err != nil {
		return functions.ReviewPicture{}, err
	}
	return functions.ReviewPicture{
		ReceivedPicture: functions.ReceivedPicture{Width: copied.Width, Height: copied.Height, Size: copied.Size, Save: copied.Save, Discard: copied.Discard},
		URL:             files.PublicPath + reviewBucket + "/" + copyName,
	}, nil
}

// removePicture removes the picture that a client has sent with a review. All pictures that are sent with one form have one folder.
// removePicture removes the whole folder, so the picture must be the only one of its form.
func (a *App) removePicture(ctx context.Context, tx *db.Tx, name string) error {
	return a.Storage.RemoveFolder(ctx, tx, policy.ConversationBucket, path.Dir(name))
}
