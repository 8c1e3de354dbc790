package resumable

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	tus "github.com/tus/tusd/v2/pkg/handler"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/storage"
	"atelie/internal/storage/blob"
)

// upload is a row of storage_uploads. Received is in bytes; Hash is the state of SHA-256 over them.
type upload struct {
	ID, BlobID, Owner string
	file              storage.Arriving
	ContentType       string
	Metadata          string
	Received          int64
	Stored            blob.Staged
	Hash              []byte
	Finished          bool
	ExpiresAt         time.Time

	s *Service
}

// NewUpload is tusd's: it refuses what an ordinary upload would refuse before the first byte.
func (s *Service) NewUpload(ctx context.Context, info tus.FileInfo) (tus.Upload, error) {
	u, err := s.create(ctx, info)
	if err != nil {
		return nil, wireError(ctx, err)
	}
	return u, nil
}

func (s *Service) create(ctx context.Context, info tus.FileInfo) (*upload, error) {
	caller := identity.Of(ctx)
	owner, grant, err := s.who(ctx)
	if err != nil {
		return nil, err
	}
	upsert, _ := ctx.Value(upsertKey{}).(bool)
	meta := info.MetaData
	u := &upload{
		ID: uuid.NewString(), BlobID: uuid.NewString(), Owner: owner, ContentType: meta["contentType"], Metadata: meta["metadata"], s: s,
		file: storage.Arriving{Bucket: meta["bucketName"], Name: meta["objectName"], Size: info.Size, Upsert: upsert, Grant: grant}, ExpiresAt: s.now().Add(s.life).UTC().Truncate(time.Microsecond),
	}
	if u.file.Bucket == "" || u.file.Name == "" {
		return nil, errBadMetadata
	}
	if seconds := meta["cacheControl"]; seconds != "" {
		u.file.Options.CacheControl = "max-age=" + seconds
	}
	if err := u.readMetadata(); err != nil {
		return nil, err
	}
	if err := s.files.MayArrive(ctx, caller, u.file, nil); err != nil {
		return nil, err
	}
	if len(u.ContentType) > 255 || !utf8.ValidString(u.ContentType) || strings.ContainsRune(u.ContentType, 0) {
		u.ContentType = "" // never used: the bytes decide
	}
	return u, insertUpload(ctx, s.db, u, s.now())
}

func (u *upload) readMetadata() error {
	if u.Metadata == "" {
		return nil
	}
	if !utf8.ValidString(u.Metadata) { // decoding would mend it, and the row keeps it as it came
		return errBadMetadata
	}
	if err := json.Unmarshal([]byte(u.Metadata), &u.file.Options.Metadata); err != nil {
		return errBadMetadata.Because(err)
	}
	return nil
}

// GetUpload is tusd's. An upload that was whole when its server died is finished here.
func (s *Service) GetUpload(ctx context.Context, id string) (tus.Upload, error) {
	u, err := s.find(ctx, id)
	if err != nil {
		return nil, wireError(ctx, err)
	}
	if u.Received == u.file.Size && !u.Finished {
		if err := u.FinishUpload(ctx); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// GetInfo is tusd's.
func (u *upload) GetInfo(context.Context) (tus.FileInfo, error) {
	meta := tus.MetaData{"bucketName": u.file.Bucket, "objectName": u.file.Name}
	for key, value := range map[string]string{"contentType": u.ContentType, "metadata": u.Metadata} {
		if value != "" {
			meta[key] = value
		}
	}
	return tus.FileInfo{ID: u.ID, Size: u.file.Size, Offset: u.Received, MetaData: meta}, nil
}

// GetReader is tusd's; uploads cannot be read before they are objects.
func (u *upload) GetReader(context.Context) (io.ReadCloser, error) { return nil, tus.ErrNotFound }

// WriteChunk is tusd's: it stores what comes, a piece at a time, and writes down after each how far it got.
func (u *upload) WriteChunk(ctx context.Context, _ int64, src io.Reader) (int64, error) {
	written, err := u.write(ctx, src)
	if refusal(err) {
		err = errors.Join(err, u.remove(context.WithoutCancel(ctx)))
	}
	return written, wireError(ctx, err)
}

// spare is a buffer in which bytes wait until the blob store has them, kept for the next request. A sync.Pool would keep
// one for each processor: that many times 8 MiB.
var spare = make(chan *bytes.Buffer, 1)

func takeBuffer() *bytes.Buffer {
	select {
	case b := <-spare:
		return b
	default:
		return new(bytes.Buffer)
	}
}

func giveBuffer(b *bytes.Buffer) {
	select {
	case spare <- b:
	default: // there is one already
	}
}

func (u *upload) write(ctx context.Context, src io.Reader) (written int64, err error) {
	caller := identity.Of(ctx)
	if err := u.s.files.MayArrive(ctx, caller, u.file, nil); err != nil {
		return 0, err
	}
	sum, err := u.sum()
	if err != nil {
		return 0, err
	}
	b := takeBuffer()
	defer giveBuffer(b)
	for u.Received < u.file.Size {
		b.Reset()
		b.Grow(int(min(u.file.Size-u.Received, blob.PieceSize)) + bytes.MinRead) // at once: growing by doubling leaves twice as much behind
		n, err := io.CopyN(b, src, min(u.file.Size-u.Received, blob.PieceSize))
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return written, err
		}
		if n == 0 {
			break
		}
		if u.Received == 0 && (n >= storage.SniffLength || n == u.file.Size) {
			if err := u.s.files.MayArrive(ctx, caller, u.file, b.Bytes()[:min(n, storage.SniffLength)]); err != nil {
				return written, err
			}
		}
		stored, err := u.s.files.Append(ctx, u.BlobID, u.Stored, b.Bytes(), u.Received+n == u.file.Size)
		if err != nil {
			return written, err
		}
		if _, err := sum.Write(b.Bytes()); err != nil {
			return written, err
		}
		next := *u
		next.Stored, next.Received = stored, u.Received+n
		if next.Hash, err = sum.(encoding.BinaryMarshaler).MarshalBinary(); err != nil {
			return written, err
		}
		if err := saveProgress(ctx, u.s.db, &next, u.Received); err != nil {
			return written, err
		}
		*u = next
		written += n
		if ended {
			break
		}
	}
	return written, nil
}

func (u *upload) sum() (hash.Hash, error) {
	sum := sha256.New()
	if len(u.Hash) == 0 {
		return sum, nil
	}
	return sum, sum.(encoding.BinaryUnmarshaler).UnmarshalBinary(u.Hash)
}

// refusal tells what ends an upload for good from what may pass.
func refusal(err error) bool {
	var known *apperr.Error
	return errors.As(err, &known) && known.Status < http.StatusInternalServerError && known.Status != http.StatusLocked
}

// FinishUpload is tusd's: the upload becomes an object, or is refused and removed.
func (u *upload) FinishUpload(ctx context.Context) error {
	if u.Finished {
		return nil
	}
	sum, err := u.sum()
	if err == nil {
		_, err = u.s.files.Complete(ctx, identity.Of(ctx), u.file, u.BlobID, u.Stored, hex.EncodeToString(sum.Sum(nil)), func(ctx context.Context, tx *db.Tx) error {
			return markFinished(ctx, tx, u.ID)
		})
	}
	if refusal(err) {
		err = errors.Join(err, u.remove(context.WithoutCancel(ctx)))
	}
	u.Finished = err == nil
	return wireError(ctx, err)
}

// AsTerminatableUpload is tusd's.
func (s *Service) AsTerminatableUpload(u tus.Upload) tus.TerminatableUpload { return u.(*upload) }

// Terminate is tusd's. An upload that has become an object leaves the object alone.
func (u *upload) Terminate(ctx context.Context) error { return wireError(ctx, u.remove(ctx)) }

func (u *upload) remove(ctx context.Context) error {
	if err := u.s.files.Abandon(ctx, u.BlobID, u.Stored); err != nil {
		return err
	}
	return deleteUpload(ctx, u.s.db, u.ID)
}
