package db

import (
	"context"

	"github.com/google/uuid"
)

// actorKey is the context key of the actor (the account that makes a change). The value is the account's id.
type actorKey struct{}

// WithActor returns a context in which the account with this id is the actor. A transaction with this context passes the actor to the
// triggers, which record each change and its actor in the tables row_history and activity. A caller with an API key has no account: if
// account is not a UUID, WithActor returns ctx itself.
func WithActor(ctx context.Context, account string) context.Context {
	id, err := uuid.Parse(account)
	if err != nil {
		return ctx
	}
	return context.WithValue(ctx, actorKey{}, id.String())
}

// actorOf returns the actor of ctx, or "" for none.
func actorOf(ctx context.Context) string {
	actor, _ := ctx.Value(actorKey{}).(string)
	return actor
}
