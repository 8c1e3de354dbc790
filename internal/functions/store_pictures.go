package functions

import (
	"context"
	"time"

	"atelie/internal/db"
)

// This file reads and writes contact_pictures, the table of the pictures that belong to replies. Package storage stores the files of the
// pictures as objects.

// picture is a picture of a reply: a row of contact_pictures.
type picture struct {
	ID        string `json:"id"`
	MessageID string `json:"-"`
	ReplyID   string `json:"reply_id"`
	Position  int    `json:"position"` // order among the pictures of the reply, from 1
	Name      string `json:"name"`     // name of the object in the bucket conversation-pictures
	Width     int    `json:"width"`
	Height    int    `json:"height"`
	Bytes     int64  `json:"bytes"` // size of the file
}

func insertPicture(ctx context.Context, tx *db.Tx, p picture, at time.Time) error {
	return db.Exec(ctx, tx, "insert into contact_pictures (id, message_id, reply_id, position, name, width, height, bytes, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
		p.ID, p.MessageID, p.ReplyID, p.Position, p.Name, p.Width, p.Height, p.Bytes, at)
}

// hasObject is an SQL condition on a picture p: its object exists.
const hasObject = "exists (select 1 from storage_objects o where o.bucket_id = 'conversation-pictures' and o.name = p.name)"

// listPictures returns the pictures of the replies to messages. It leaves out pictures whose object is missing.
func listPictures(ctx context.Context, q db.Querier, messageIDs ...string) ([]picture, error) {
	list, args := db.AppendList(nil, messageIDs)
	return db.Collect(ctx, q, func(row db.Row) (p picture, err error) {
		err = row.Scan(&p.ID, &p.MessageID, &p.ReplyID, &p.Position, &p.Name, &p.Width, &p.Height, &p.Bytes)
		return p, err
	}, "select id, message_id, reply_id, position, name, width, height, bytes from contact_pictures p where message_id in ("+list+") and "+hasObject+" order by reply_id, position", args...)
}

// countPictures returns how many pictures one author has in a conversation, and how many pictures visitors have added to all
// conversations since a time.
func countPictures(ctx context.Context, q db.Querier, messageID, author string, since time.Time) (byAuthor, byVisitors int, err error) {
	err = q.QueryRow(ctx, `select (select count(*) from contact_pictures p join contact_replies r on r.id = p.reply_id where p.message_id = $1 and r.author = $2),
		(select count(*) from contact_pictures p join contact_replies r on r.id = p.reply_id where p.created_at > $3 and r.author = 'visitor')`, messageID, author, since).Scan(&byAuthor, &byVisitors)
	return byAuthor, byVisitors, err
}

// replyPictures is an SQL expression: the number of pictures of a reply r.
const replyPictures = "(select count(*) from contact_pictures p where p.reply_id = r.id)"

func countReplyPictures(ctx context.Context, q db.Querier, replyID string) (int, error) {
	return db.One[int](ctx, q, "select count(*) from contact_pictures where reply_id = $1", replyID)
}

// findPicture returns the name of the object of a picture. hash is hashText of the token of the private link to its conversation. The
// error is db.ErrNoRows if there is no valid link, or its conversation has no such picture.
func findPicture(ctx context.Context, q db.Querier, hash, id string, now time.Time) (string, error) {
	return db.One[string](ctx, q, "select p.name from contact_links l join contact_pictures p on p.message_id = l.message_id where l.token_hash = $1 and l.expires_at > $2 and p.id = $3", hash, now, id)
}

// PictureNames returns the names of all objects that are pictures of conversations.
func (s *Service) PictureNames(ctx context.Context) ([]string, error) {
	return db.Collect(ctx, s.db, db.ScanOne[string], "select name from contact_pictures")
}
