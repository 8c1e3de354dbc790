package app

import (
	"context"
	"io"
	"net/http"

	"atelie/internal/functions"
	"atelie/internal/policy"
)

// smallPicture is the width, in pixels, of the pictures that a conversation shows.
const smallPicture = 320

// receivePicture stores a picture for a conversation.
func (a *App) receivePicture(ctx context.Context, name string, body io.Reader) (functions.ReceivedPicture, error) {
	received, err := a.Storage.Receive(ctx, name, body)
	if err != nil {
		return functions.ReceivedPicture{}, err
	}
	return functions.ReceivedPicture{Width: received.Width, Height: received.Height, Size: received.Size, Save: received.Save, Discard: received.Discard}, nil
}

// servePicture responds with a picture of a conversation, small or in full size.
func (a *App) servePicture(w http.ResponseWriter, r *http.Request, name string, small bool) error {
	if small {
		return a.Media.RenderPrivate(w, r, policy.ConversationBucket, name, smallPicture)
	}
	if hidden, err := a.Storage.ServePicture(w, r, name); err != nil || !hidden {
		return err
	}
	return a.Media.RenderPrivate(w, r, policy.ConversationBucket, name, 0)
}
