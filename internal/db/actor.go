package db

import (
	"context"

	"github.com/google/uuid"
)

// actorKey is the context key of the actor, the id of the account that makes a change.
type actorKey struct{}

// WithActor returns a context with an account as the actor. Triggers record changes in the tables row_history and activity, with the actor
// of the transaction's context. If account is not a UUID, as for callers with an API key, WithActor returns ctx itself.
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
