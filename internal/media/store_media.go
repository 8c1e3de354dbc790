package media

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/media/rendition"
	"atelie/internal/policy"
)

// This file contains the queries on media, the table of what is known about the stored pictures and videos.

// The states of a picture or video. A rendition is a resized copy of a picture. The index of a video says where its frames are in the file.
const (
	stateWaiting = "waiting" // the picture's renditions in the standard widths are not made yet, or the video's index is not moved yet
	stateReady   = "ready"   // the renditions exist, or browsers can play the video before they have received all of it
	stateFailed  = "failed"  // the file cannot be shown; media.Reason is the code of the reason
)

// media is a row of the table media: what is known about the picture or video of an object, beyond the object's own row.
type media struct {
	ObjectID            string
	Version             string          // id of the blob (stored bytes) that the row describes
	Kind, State, Reason string          // Kind is image or video; Reason is a code if State is failed, otherwise ""
	Engine              string          // the engine that made the renditions (rendition.Result.Engine)
	Facts               rendition.Facts // size, placeholder, colours and rights of a picture; for a video, only Width and Height are set
	Original            *files.Blob     // the file as it was uploaded; nil if visitors get the upload itself
	FocusX, FocusY      *float64        // focus point as fractions of width and height from the top left; nil if not set
	Duration            *float64        // seconds; nil for pictures and for videos that cannot be read
	Codec               *string         // nil for pictures and for videos that cannot be read
}

// mediaObjectColumns are the columns of an object o and of its media row m, in the order in which scanMediaObject reads them. If an object
// has no media row (left join), all columns of m are null. Columns with coalesce then become zero values, and scanMediaObject reads the
// other columns into pointers.
const mediaObjectColumns = `o.id, o.bucket_id, o.name, o.blob_id, o.size, o.mime_type, o.etag, o.cache_control, o.created_at, o.updated_at,
	m.object_id, m.blob_id, coalesce(m.kind, ''), coalesce(m.state, ''), coalesce(m.reason, ''), coalesce(m.engine, ''), coalesce(m.width, 0),
	coalesce(m.height, 0), coalesce(m.alpha, false), m.thumbhash, coalesce(m.color, ''), coalesce(m.profile, ''), coalesce(m.wide, false),
	coalesce(m.delta_e, 0), coalesce(m.creator, ''), coalesce(m.rights, ''), m.original_id, coalesce(m.original_size, 0),
	coalesce(m.original_etag, ''), m.focus_x, m.focus_y, m.duration, m.codec`

// selectMediaObject is the beginning of a query for scanMediaObject.
const selectMediaObject = "select " + mediaObjectColumns + " from storage_objects o left join media m on m.object_id = o.id "

// scanMediaObject scans a row of mediaObjectColumns. The field media of the result is nil if no media row describes the object's
// current file.
func scanMediaObject(row db.Row) (result mediaObject, err error) {
	var (
		o                       = &result.Object
		m                       media
		f                       = &m.Facts
		id, version, originalID *string
		original                files.Blob
	)
	err = row.Scan(&o.ID, &o.Bucket, &o.Name, &o.BlobID, &o.Size, &o.MimeType, &o.ETag, &o.CacheControl, &o.CreatedAt, &o.UpdatedAt,
		&id, &version, &m.Kind, &m.State, &m.Reason, &m.Engine, &f.Width,
		&f.Height, &f.Alpha, &f.Thumbhash, &f.Color, &f.Profile, &f.Wide,
		&f.DeltaE, &f.Creator, &f.Rights, &originalID, &original.Size,
		&original.ETag, &m.FocusX, &m.FocusY, &m.Duration, &m.Codec)
	// id is nil if there is no media row. A row with another version describes the previous file of the object.
	if err != nil || id == nil || *version != o.BlobID {
		return result, err
	}
	m.ObjectID, m.Version = *id, *version
	if originalID != nil {
		original.ID, m.Original = *originalID, &original
	}
	result.media = &m
	return result, nil
}

// findMediaObject returns an object and its media row. The media row is nil if there is none.
func findMediaObject(ctx context.Context, q db.Querier, bucketID, name string) (files.Object, *media, error) {
	found, err := scanMediaObject(q.QueryRow(ctx, selectMediaObject+"where o.bucket_id = $1 and o.name = $2", bucketID, name))
	return found.Object, found.media, err
}

func findMediaObjectByID(ctx context.Context, q db.Querier, id string) (files.Object, *media, error) {
	found, err := scanMediaObject(q.QueryRow(ctx, selectMediaObject+"where o.id = $1", id))
	return found.Object, found.media, err
}

// objectName is the bucket and the name of an object.
type objectName struct{ Bucket, Name string }

// listMediaObjects returns the named objects that have a media row, by their names.
func listMediaObjects(ctx context.Context, d *db.DB, names []objectName) (out map[objectName]mediaObject, err error) {
	pairs := make([][2]string, len(names))
	for i, n := range names {
		pairs[i] = [2]string{n.Bucket, n.Name}
	}
	text, err := json.Marshal(pairs)
	if err != nil {
		return nil, err
	}
	given, bucketOf, nameOf := "json_each($1) as given", "given.value ->> 0", "given.value ->> 1"
	if d.Dialect == db.Postgres {
		given = "jsonb_array_elements($1::text::jsonb) as given(value)"
	}
	all, err := db.Collect(ctx, d, scanMediaObject, "select "+mediaObjectColumns+" from "+given+" join storage_objects o on o.bucket_id = ("+bucketOf+") and o.name = ("+nameOf+`)
		join media m on m.object_id = o.id`, string(text))
	out = make(map[objectName]mediaObject, len(all))
	for _, s := range all {
		if s.media != nil {
			out[objectName{s.Bucket, s.Name}] = s
		}
	}
	return out, err
}

// mediaObject is an object with its media row.
type mediaObject struct {
	files.Object
	*media
}

// isImage reports whether the object is a picture by its type, and not a video.
func (s mediaObject) isImage() bool { return strings.HasPrefix(s.MimeType, "image/") }

// listPicturesAndVideos returns all objects that are pictures or videos by their type, with their media rows. The field media is
// nil for an object without a media row.
func listPicturesAndVideos(ctx context.Context, q db.Querier) ([]mediaObject, error) {
	return db.Collect(ctx, q, scanMediaObject, selectMediaObject+"where o.mime_type like 'image/%' or o.mime_type like 'video/%' order by o.bucket_id, o.name")
}

// insertMedia inserts the media row of an uploaded picture or video.
func insertMedia(ctx context.Context, q db.Querier, o files.Object, i *files.Inspection, original *files.Blob, now time.Time) error {
	var id, etag, size any
	if original != nil {
		id, etag, size = original.ID, original.ETag, original.Size
	}
	kind, state, reason := "image", stateWaiting, ""
	var duration, codec any
	if i.Video != nil {
		kind, state, reason = "video", videoState(i.Video), i.Video.Failure
		duration, codec = videoColumns(i.Video)
	}
	_, err := q.Exec(ctx, `insert into media (object_id, blob_id, kind, state, reason, width, height, thumbhash, color, duration, codec, original_id, original_size, original_etag, created_at, updated_at, private)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $15, $16) on conflict (object_id) do nothing`,
		o.ID, o.BlobID, kind, state, reason, i.Width, i.Height, i.Thumbhash, i.Color, duration, codec, id, size, etag, now, o.Bucket == policy.ConversationBucket)
	return err
}

// videoColumns returns the values of the columns duration (in seconds) and codec. For a video that cannot be read, both are nil.
func videoColumns(f *files.Video) (duration, codec any) {
	if f.Failure != "" {
		return nil, nil
	}
	return f.Duration.Seconds(), storableText(f.Codec)
}

// saveVideoFacts saves the properties of a video into its media row, and changes the row's version to newVersion. The error is
// errObsolete if the row has another version than version.
func saveVideoFacts(ctx context.Context, tx *db.Tx, objectID, version, newVersion string, i *files.Inspection, now time.Time) error {
	duration, codec := videoColumns(i.Video)
	n, err := tx.Exec(ctx, `update media set blob_id = $3, state = $4, reason = $5, width = $6, height = $7, duration = $8, codec = $9, updated_at = $10
		where object_id = $1 and blob_id = $2`, objectID, version, newVersion, videoState(i.Video), i.Video.Failure, i.Width, i.Height, duration, codec, now)
	if err == nil && n != 1 {
		return errObsolete
	}
	return err
}

// replaceBlob replaces an object's blob. It returns false if the object does not have the blob old any more.
func replaceBlob(ctx context.Context, tx *db.Tx, objectID, old string, stored files.Blob, at time.Time) (bool, error) {
	return db.Changed(ctx, tx, "update storage_objects set blob_id = $3, size = $4, etag = $5, updated_at = $6 where id = $1 and blob_id = $2",
		objectID, old, stored.ID, stored.Size, stored.ETag, at)
}

// lockOriginal locks an object's media row and returns its original, nil if it has none. A transaction that is storing renditions has
// locked the row: lockOriginal waits for it, so that its renditions are known.
func lockOriginal(ctx context.Context, tx *db.Tx, objectID string) (*files.Blob, error) {
	var (
		id, etag *string
		size     *int64
	)
	err := tx.QueryRow(ctx, "update media set maker = null where object_id = $1 returning original_id, original_size, original_etag", objectID).Scan(&id, &size, &etag)
	if err != nil || id == nil {
		return nil, err
	}
	return &files.Blob{ID: *id, Size: *size, ETag: *etag}, nil
}

// copyMedia inserts a copy of an object's media row for another object. The copy has no original.
func copyMedia(ctx context.Context, tx *db.Tx, fromID, toID string) error {
	const columns = "blob_id, kind, state, reason, engine, width, height, alpha, thumbhash, color, profile, wide, delta_e, creator, rights, focus_x, focus_y, duration, codec, poster, created_at, updated_at"
	return db.Exec(ctx, tx, "insert into media (object_id, "+columns+") select $2, "+columns+" from media where object_id = $1", fromID, toID)
}

func moveRenditions(ctx context.Context, tx *db.Tx, fromID, toID string) error {
	return db.Exec(ctx, tx, "update media_renditions set object_id = $2 where object_id = $1", fromID, toID)
}

// setVersion sets the blob that a media row describes, of which no renditions exist yet.
func setVersion(ctx context.Context, tx *db.Tx, objectID, blobID string) error {
	return db.Exec(ctx, tx, "update media set blob_id = $2, state = case when kind = 'image' and state = 'ready' then 'waiting' else state end where object_id = $1", objectID, blobID)
}

// findWaiting returns the kind of an object's file, and whether its state is stateWaiting.
func findWaiting(ctx context.Context, q db.Querier, o files.Object) (kind string, waiting bool, err error) {
	var state string
	err = q.QueryRow(ctx, "select kind, state from media where object_id = $1 and blob_id = $2", o.ID, o.BlobID).Scan(&kind, &state)
	if errors.Is(err, db.ErrNoRows) {
		return "", false, nil
	}
	return kind, state == stateWaiting, err
}

// setOriginal sets the original of a media row; nil is none.
func setOriginal(ctx context.Context, tx *db.Tx, objectID string, original *files.Blob) error {
	var id, etag, size any
	if original != nil {
		id, etag, size = original.ID, original.ETag, original.Size
	}
	return db.Exec(ctx, tx, "update media set original_id = $2, original_size = $3, original_etag = $4 where object_id = $1", objectID, id, size, etag)
}

func deleteMediaRow(ctx context.Context, tx *db.Tx, objectID string) error {
	return db.Exec(ctx, tx, "delete from media where object_id = $1", objectID)
}

// deleteMedia deletes an object's media row and renditions, and returns the ids of the blobs to which they referred.
func deleteMedia(ctx context.Context, tx *db.Tx, objectID string) (blobs []string, err error) {
	original, err := lockOriginal(ctx, tx, objectID)
	if errors.Is(err, db.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if blobs, err = db.Collect(ctx, tx, db.ScanOne[string], "delete from media_renditions where object_id = $1 returning blob_id", objectID); err != nil {
		return nil, err
	}
	if original != nil {
		blobs = append(blobs, original.ID)
	}
	return blobs, deleteMediaRow(ctx, tx, objectID)
}

// saveFacts saves a picture's state and the facts that decoding it has shown.
func saveFacts(ctx context.Context, tx *db.Tx, objectID, state string, r rendition.Result, now time.Time) error {
	f := r.Facts
	return db.Exec(ctx, tx, `update media set state = $2, reason = '', engine = $3, width = $4, height = $5, alpha = $6, thumbhash = $7, color = $8, profile = $9, wide = $10,
		delta_e = $11, creator = $12, rights = $13, updated_at = $14 where object_id = $1`,
		objectID, state, r.Engine, f.Width, f.Height, f.Alpha, f.Thumbhash, storableText(f.Color), storableText(f.Profile), f.Wide, f.DeltaE, storableText(f.Creator), storableText(f.Rights), now)
}

// failMedia records that a waiting picture or video cannot be shown, and why. reason is a code.
func failMedia(ctx context.Context, q db.Querier, objectID, version, reason string, now time.Time) error {
	return db.Exec(ctx, q, "update media set state = 'failed', reason = $3, updated_at = $4 where object_id = $1 and blob_id = $2 and state = 'waiting'", objectID, version, storableText(reason), now)
}

// resetMedia makes a picture or video waiting again.
func resetMedia(ctx context.Context, q db.Querier, objectID, version string, now time.Time) error {
	return db.Exec(ctx, q, "update media set state = 'waiting', reason = '', updated_at = $3 where object_id = $1 and blob_id = $2", objectID, version, now)
}

// setFocus saves the focus point of a picture. It returns false if there is no media row of a picture.
func setFocus(ctx context.Context, q db.Querier, bucketID, name string, x, y float64, now time.Time) (bool, error) {
	return db.Changed(ctx, q, `update media set focus_x = $3, focus_y = $4, updated_at = $5
		where kind = 'image' and object_id = (select id from storage_objects where bucket_id = $1 and name = $2)`, bucketID, name, x, y, now)
}

// storableText returns a text without the characters that files.Storable does not accept. Invalid UTF-8 becomes U+FFFD.
func storableText(s string) string {
	return strings.Map(func(r rune) rune {
		if !files.Storable(string(r)) {
			return -1
		}
		return r
	}, s)
}

func bucketIsPublic(ctx context.Context, q db.Querier, id string) (bool, error) {
	return db.One[bool](ctx, q, "select public from storage_buckets where id = $1", id)
}
