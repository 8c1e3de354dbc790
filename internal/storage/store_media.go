package storage

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/storage/blob"
	"atelie/internal/storage/rendition"
)

// The states of a picture's renditions.
const (
	waiting = "waiting" // asked for, or on their way
	ready   = "ready"   // the ladder is there
	failed  = "failed"  // the file cannot be read; Reason says why
)

// media is a row of the table: what is known of a picture beside its object. Version is the blob that it tells of.
type media struct {
	ObjectID, Version   string
	Kind, State, Reason string
	Engine              string
	Facts               rendition.Facts
	Original            *original
	FocusX, FocusY      *float64
	Duration            *float64 // seconds
	Codec               *string
}

// original is a byte-exact upload. Size is in bytes, ETag its SHA-256.
type original struct {
	BlobID string
	Size   int64
	ETag   string
}

const mediaColumns = `m.object_id, m.blob_id, m.kind, m.state, m.reason, m.engine, m.width, m.height, m.alpha, m.thumbhash, m.color, m.profile, m.wide, m.delta_e,
	m.creator, m.rights, m.original_id, m.original_size, m.original_etag, m.focus_x, m.focus_y, m.duration, m.codec`

// mediaRow takes a media row that may be missing, as an outer join gives it.
type mediaRow struct {
	id, version, kind, state, reason, engine *string
	width, height                            *int
	alpha, wide                              *bool
	thumbhash                                []byte
	color, profile, creator, rights          *string
	deltaE, focusX, focusY, duration         *float64
	originalID, originalETag, codec          *string
	originalSize                             *int64
}

func (r *mediaRow) dest() []any {
	return []any{
		&r.id, &r.version, &r.kind, &r.state, &r.reason, &r.engine, &r.width, &r.height, &r.alpha, &r.thumbhash, &r.color, &r.profile, &r.wide, &r.deltaE,
		&r.creator, &r.rights, &r.originalID, &r.originalSize, &r.originalETag, &r.focusX, &r.focusY, &r.duration, &r.codec,
	}
}

func (r *mediaRow) media() *media {
	if r.id == nil {
		return nil
	}
	m := &media{
		ObjectID: *r.id, Version: *r.version, Kind: *r.kind, State: *r.state, Reason: *r.reason, Engine: *r.engine, FocusX: r.focusX, FocusY: r.focusY,
		Duration: r.duration, Codec: r.codec,
		Facts: rendition.Facts{
			Width: *r.width, Height: *r.height, Alpha: *r.alpha, Thumbhash: r.thumbhash, Color: *r.color, Profile: *r.profile, Wide: *r.wide, DeltaE: *r.deltaE,
			Creator: *r.creator, Rights: *r.rights,
		},
	}
	if r.originalID != nil {
		m.Original = &original{*r.originalID, *r.originalSize, *r.originalETag}
	}
	return m
}

const shownColumns = "o.id, o.bucket_id, o.name, o.blob_id, o.size, o.mime_type, o.etag, o.cache_control, o.created_at, o.updated_at"

func scanShown(row db.Row) (o Object, m *media, err error) {
	var r mediaRow
	err = row.Scan(append([]any{&o.ID, &o.Bucket, &o.Name, &o.BlobID, &o.Size, &o.MimeType, &o.ETag, &o.CacheControl, &o.CreatedAt, &o.UpdatedAt}, r.dest()...)...)
	if m = r.media(); m != nil && m.Version != o.BlobID {
		m = nil // of a file that was replaced just now
	}
	return o, m, err
}

// findShown gives an object with what is known of it as a picture, nil when nothing is.
func findShown(ctx context.Context, q db.Querier, bucketID, name string) (Object, *media, error) {
	return scanShown(q.QueryRow(ctx, "select "+shownColumns+", "+mediaColumns+" from storage_objects o left join media m on m.object_id = o.id where o.bucket_id = $1 and o.name = $2", bucketID, name))
}

func findShownByID(ctx context.Context, q db.Querier, id string) (Object, *media, error) {
	return scanShown(q.QueryRow(ctx, "select "+shownColumns+", "+mediaColumns+" from storage_objects o left join media m on m.object_id = o.id where o.id = $1", id))
}

// address is an object's bucket and name.
type address struct{ Bucket, Name string }

// listShown gives those of the named objects that have a media row.
func listShown(ctx context.Context, d *db.DB, names []address) (out map[address]shown, err error) {
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
	rows, err := d.Query(ctx, "select "+shownColumns+", "+mediaColumns+" from "+given+" join storage_objects o on o.bucket_id = ("+bucketOf+") and o.name = ("+nameOf+`)
		join media m on m.object_id = o.id`, string(text))
	if err != nil {
		return nil, err
	}
	all, err := collect(rows, func() (s shown, err error) {
		s.Object, s.media, err = scanShown(rows)
		return s, err
	})
	out = make(map[address]shown, len(all))
	for _, s := range all {
		if s.media != nil {
			out[address{s.Bucket, s.Name}] = s
		}
	}
	return out, err
}

// shown is an object with its media row.
type shown struct {
	Object
	*media
}

// isImage tells pictures from films.
func (s shown) isImage() bool { return strings.HasPrefix(s.MimeType, "image/") }

// listPictures gives the objects that are pictures or films by their type, and their rows, nil where missing.
func listPictures(ctx context.Context, q db.Querier) ([]shown, error) {
	rows, err := q.Query(ctx, "select "+shownColumns+", "+mediaColumns+` from storage_objects o left join media m on m.object_id = o.id
		where o.mime_type like 'image/%' or o.mime_type like 'video/%' order by o.bucket_id, o.name`)
	if err != nil {
		return nil, err
	}
	return collect(rows, func() (s shown, err error) {
		s.Object, s.media, err = scanShown(rows)
		return s, err
	})
}

// insertMedia writes what an upload shows of a picture or a film.
func insertMedia(ctx context.Context, q db.Querier, o Object, p *seen, now time.Time) error {
	var id, etag, size any
	if p.original != nil {
		id, etag, size = p.original.BlobID, p.original.ETag, p.original.Size
	}
	kind, state, reason := "image", waiting, ""
	var duration, codec any
	if p.film != nil {
		kind, state, reason = "video", p.film.state(), p.film.failure
		duration, codec = p.film.columns()
	}
	_, err := q.Exec(ctx, `insert into media (object_id, blob_id, kind, state, reason, width, height, duration, codec, original_id, original_size, original_etag, created_at, updated_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13) on conflict (object_id) do nothing`,
		o.ID, o.BlobID, kind, state, reason, p.width, p.height, duration, codec, id, size, etag, now)
	return err
}

// columns are what a row has of a film: nothing of one that cannot be read.
func (f *filmFacts) columns() (duration, codec any) {
	if f.failure != "" {
		return nil, nil
	}
	return f.Duration.Seconds(), clean(f.Codec)
}

// saveFilmFacts writes what a film says of itself into the row of its version, which becomes another one.
func saveFilmFacts(ctx context.Context, tx *db.Tx, objectID, version, becomes string, f *filmFacts, now time.Time) error {
	duration, codec := f.columns()
	n, err := tx.Exec(ctx, `update media set blob_id = $3, state = $4, reason = $5, width = $6, height = $7, duration = $8, codec = $9, updated_at = $10
		where object_id = $1 and blob_id = $2`, objectID, version, becomes, f.state(), f.failure, f.Width, f.Height, duration, codec, now)
	if err == nil && n != 1 {
		return errObsolete
	}
	return err
}

// replaceBlob gives an object another file in the place of one; false when it does not have that one any more.
func replaceBlob(ctx context.Context, tx *db.Tx, objectID, old, id string, stored blob.Info, at time.Time) (bool, error) {
	n, err := tx.Exec(ctx, "update storage_objects set blob_id = $3, size = $4, etag = $5, updated_at = $6 where id = $1 and blob_id = $2",
		objectID, old, id, stored.Size, stored.SHA256, at)
	return n == 1, err
}

// takeMedia removes what is known of an object and gives the blobs that go with it.
func takeMedia(ctx context.Context, tx *db.Tx, objectID string) (blobs []string, err error) {
	var original *string
	// Whoever stores renditions at the moment holds the row: this waits for what it adds.
	err = tx.QueryRow(ctx, "update media set maker = null where object_id = $1 returning original_id", objectID).Scan(&original)
	if errors.Is(err, db.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, "delete from media_renditions where object_id = $1 returning blob_id", objectID)
	if err != nil {
		return nil, err
	}
	if blobs, err = collect(rows, func() (id string, err error) { return id, rows.Scan(&id) }); err != nil {
		return nil, err
	}
	if original != nil {
		blobs = append(blobs, *original)
	}
	_, err = tx.Exec(ctx, "delete from media where object_id = $1", objectID)
	return blobs, err
}

// lockMedia keeps a row as it is until the transaction ends; false when it is gone or tells of another file.
func lockMedia(ctx context.Context, tx *db.Tx, objectID, version string) (bool, error) {
	n, err := tx.Exec(ctx, "update media set kind = kind where object_id = $1 and blob_id = $2", objectID, version)
	return n == 1, err
}

// claimMedia takes the right to make renditions of a picture, or makes it longer.
func claimMedia(ctx context.Context, q db.Querier, objectID, version, maker string, now, until time.Time) (bool, error) {
	n, err := q.Exec(ctx, `update media set maker = $3, making_until = $5 where object_id = $1 and blob_id = $2
		and (maker is null or maker = $3 or making_until <= $4)`, objectID, version, maker, now, until)
	return n == 1, err
}

func releaseMedia(ctx context.Context, q db.Querier, objectID, maker string) error {
	_, err := q.Exec(ctx, "update media set maker = null, making_until = null where object_id = $1 and maker = $2", objectID, maker)
	return err
}

// saveFacts writes what a decode has shown.
func saveFacts(ctx context.Context, tx *db.Tx, objectID, state string, r rendition.Result, now time.Time) error {
	f := r.Facts
	_, err := tx.Exec(ctx, `update media set state = $2, reason = '', engine = $3, width = $4, height = $5, alpha = $6, thumbhash = $7, color = $8, profile = $9, wide = $10,
		delta_e = $11, creator = $12, rights = $13, updated_at = $14 where object_id = $1`,
		objectID, state, r.Engine, f.Width, f.Height, f.Alpha, f.Thumbhash, clean(f.Color), clean(f.Profile), f.Wide, f.DeltaE, clean(f.Creator), clean(f.Rights), now)
	return err
}

// failMedia notes that a picture cannot be read.
func failMedia(ctx context.Context, q db.Querier, objectID, version, reason string, now time.Time) error {
	_, err := q.Exec(ctx, "update media set state = 'failed', reason = $3, updated_at = $4 where object_id = $1 and blob_id = $2 and state = 'waiting'", objectID, version, clean(reason), now)
	return err
}

// resetMedia lets everything be made anew.
func resetMedia(ctx context.Context, q db.Querier, objectID, version string, now time.Time) error {
	_, err := q.Exec(ctx, "update media set state = 'waiting', reason = '', updated_at = $3 where object_id = $1 and blob_id = $2", objectID, version, now)
	return err
}

// setFocus writes the point that must stay in sight; false when nothing is known of the object.
func setFocus(ctx context.Context, q db.Querier, bucketID, name string, x, y float64, now time.Time) (bool, error) {
	n, err := q.Exec(ctx, `update media set focus_x = $3, focus_y = $4, updated_at = $5
		where kind = 'image' and object_id = (select id from storage_objects where bucket_id = $1 and name = $2)`, bucketID, name, x, y, now)
	return n == 1, err
}

// made is a row of media_renditions. Size is in bytes, ETag the SHA-256 of the bytes.
type made struct {
	Name, BlobID, ETag string
	Format             rendition.Format
	Width, Height      int
	Size               int64
	P3, Eager          bool
	Revision           int
	substitute         bool // stands for another one that is not there yet
	UsedAt             time.Time
}

const madeColumns = "name, blob_id, format, width, height, size, etag, p3, revision, eager, used_at"

func scanMade(row db.Row) (r made, err error) {
	return r, row.Scan(&r.Name, &r.BlobID, &r.Format, &r.Width, &r.Height, &r.Size, &r.ETag, &r.P3, &r.Revision, &r.Eager, &r.UsedAt)
}

// listMade gives a picture's renditions.
func listMade(ctx context.Context, q db.Querier, objectID string) ([]made, error) {
	rows, err := q.Query(ctx, "select "+madeColumns+" from media_renditions where object_id = $1 order by name", objectID)
	if err != nil {
		return nil, err
	}
	return collect(rows, func() (made, error) { return scanMade(rows) })
}

// findMade gives those of the named renditions that exist.
func findMade(ctx context.Context, d *db.DB, objectID string, names []string) ([]made, error) {
	text, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	given := "(select value from json_each($2))"
	if d.Dialect == db.Postgres {
		given = "(select jsonb_array_elements_text($2::text::jsonb))"
	}
	rows, err := d.Query(ctx, "select "+madeColumns+" from media_renditions where object_id = $1 and name in "+given, objectID, string(text))
	if err != nil {
		return nil, err
	}
	return collect(rows, func() (made, error) { return scanMade(rows) })
}

// insertMade adds a rendition, or puts it in the place of one that an older encoder has made; replaced is its blob.
func insertMade(ctx context.Context, tx *db.Tx, objectID string, r made) (replaced string, err error) {
	err = tx.QueryRow(ctx, "delete from media_renditions where object_id = $1 and name = $2 returning blob_id", objectID, r.Name).Scan(&replaced)
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		return "", err
	}
	_, err = tx.Exec(ctx, `insert into media_renditions (object_id, name, blob_id, format, width, height, size, etag, p3, revision, eager, used_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		objectID, r.Name, r.BlobID, string(r.Format), r.Width, r.Height, r.Size, r.ETag, r.P3, r.Revision, r.Eager, r.UsedAt)
	return replaced, err
}

func touchMade(ctx context.Context, q db.Querier, blobID string, now time.Time) error {
	_, err := q.Exec(ctx, "update media_renditions set used_at = $2 where blob_id = $1", blobID, now)
	return err
}

// lazyBytes sums the renditions that were made when somebody asked.
func lazyBytes(ctx context.Context, q db.Querier) (sum int64, err error) {
	err = q.QueryRow(ctx, "select cast(coalesce(sum(size), 0) as bigint) from media_renditions where not eager").Scan(&sum)
	return sum, err
}

// takeOldest removes the least recently used of these and gives its blob and size, or ErrNoRows.
func takeOldest(ctx context.Context, tx *db.Tx) (blobID string, size int64, err error) {
	err = tx.QueryRow(ctx, `delete from media_renditions where blob_id = (select blob_id from media_renditions where not eager order by used_at, blob_id limit 1)
		returning blob_id, size`).Scan(&blobID, &size)
	return blobID, size, err
}

func newID() string { return uuid.NewString() }

// clean makes a text of a file's metadata storable.
func clean(s string) string {
	if storable(s) {
		return s
	}
	kept := make([]rune, 0, len(s))
	for _, r := range s {
		if r >= ' ' && storable(string(r)) {
			kept = append(kept, r)
		}
	}
	return string(kept)
}

// isPublic tells whether an object still has that content and anybody may see it.
func isPublic(ctx context.Context, q db.Querier, at address, version string) (there bool, err error) {
	err = q.QueryRow(ctx, "select b.public from storage_objects o join storage_buckets b on b.id = o.bucket_id where o.bucket_id = $1 and o.name = $2 and o.blob_id = $3",
		at.Bucket, at.Name, version).Scan(&there)
	return there, err
}

// listLadders gives the sizes in bytes of pictures' rungs in WebP, by object and width.
func listLadders(ctx context.Context, d *db.DB, objectIDs []string) (map[string]map[int]int64, error) {
	text, err := json.Marshal(objectIDs)
	if err != nil {
		return nil, err
	}
	given := "(select value from json_each($1))"
	if d.Dialect == db.Postgres {
		given = "(select jsonb_array_elements_text($1::text::jsonb)::uuid)"
	}
	out := map[string]map[int]int64{}
	rows, err := d.Query(ctx, "select object_id, width, size from media_renditions where eager and name like 'contain-%.webp' and object_id in "+given, string(text))
	if err != nil {
		return nil, err
	}
	_, err = collect(rows, func() (none struct{}, err error) {
		var (
			id    string
			width int
			size  int64
		)
		if err := rows.Scan(&id, &width, &size); err != nil {
			return none, err
		}
		if out[id] == nil {
			out[id] = map[int]int64{}
		}
		out[id][width] = size
		return none, nil
	})
	return out, err
}

// outdateMade has a rendition made again by the next one who looks for what is missing; it is shown until then.
func outdateMade(ctx context.Context, q db.Querier, blobID string) error {
	_, err := q.Exec(ctx, "update media_renditions set revision = 0 where blob_id = $1", blobID)
	return err
}

func deleteMade(ctx context.Context, tx *db.Tx, blobID string) error {
	_, err := tx.Exec(ctx, "delete from media_renditions where blob_id = $1", blobID)
	return err
}
