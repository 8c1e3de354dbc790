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
	"maps"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	tus "github.com/tus/tusd/v2/pkg/handler"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/identity"
	"atelie/internal/storage"
	"atelie/internal/storage/blob"
)

// This file creates, continues, finishes and deletes resumable uploads. It implements the interfaces that tusd, the library for the
// protocol, calls.

// upload is a row of storage_uploads. It implements tusd's interfaces Upload and TerminatableUpload.
type upload struct {
	ID             string
	BlobID         string                  // the id under which the blob store has the bytes
	Owner          string                  // who may continue the upload: role and account, or the id of a signed upload URL's token
	file           storage.ResumableUpload // bucket, name, size and options
	ContentType    string                  // the type that the client sent; the object's type is detected from the bytes
	Metadata       string                  // the object's user metadata as JSON text, "" for none
	Received       int64                   // number of received bytes
	Pieces         blob.Partial            // what the blob store needs to append the next piece
	Hash           []byte                  // intermediate state of SHA-256 over the received bytes
	Finished       bool                    // the upload has become an object
	ExpiresAt      time.Time
	MetadataHeader string // Upload-Metadata as the client sent it; "" in rows of versions that did not store it

	service *Service // nil in the list of expired uploads, which needs only the rows
}

// NewUpload implements tusd's DataStore. It checks what can be checked before the first byte has arrived.
func (s *Service) NewUpload(ctx context.Context, info tus.FileInfo) (tus.Upload, error) {
	u, err := s.create(ctx, info)
	if err != nil {
		return nil, tusError(ctx, err)
	}
	return u, nil
}

// create checks a new upload and inserts its row.
func (s *Service) create(ctx context.Context, info tus.FileInfo) (*upload, error) {
	caller := identity.Of(ctx)
	owner, grant, err := s.owner(ctx)
	if err != nil {
		return nil, err
	}
	upsert, _ := ctx.Value(upsertKey{}).(bool)
	header, _ := ctx.Value(metadataHeaderKey{}).(string)
	if len(header) > maxMetadataHeader || !utf8.ValidString(header) {
		return nil, errBadMetadata.Becausef("%d bytes", len(header))
	}
	meta := info.MetaData
	file := storage.ResumableUpload{Bucket: meta["bucketName"], Name: meta["objectName"], Size: info.Size, Grant: grant}
	file.Options.Upsert = upsert
	u := &upload{
		ID: uuid.NewString(), BlobID: uuid.NewString(), Owner: owner, file: file, ContentType: meta["contentType"], Metadata: meta["metadata"],
		ExpiresAt: s.now().Add(s.expiry).UTC().Truncate(time.Microsecond), MetadataHeader: header, service: s,
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
	if err := s.storage.CheckResumable(ctx, caller, u.file, nil); err != nil {
		return nil, err
	}
	if len(u.ContentType) > 255 || !utf8.ValidString(u.ContentType) || strings.ContainsRune(u.ContentType, 0) {
		u.ContentType = "" // the bytes decide the type
	}
	return u, insertUpload(ctx, s.db, u, s.now())
}

// readMetadata parses Metadata into the options of the file.
func (u *upload) readMetadata() error {
	if u.Metadata == "" {
		return nil
	}
	if !utf8.ValidString(u.Metadata) { // Unmarshal would replace invalid bytes, and the row would keep them
		return errBadMetadata
	}
	if err := json.Unmarshal([]byte(u.Metadata), &u.file.Options.Metadata); err != nil {
		return errBadMetadata.Because(err)
	}
	return nil
}

// GetUpload implements tusd's DataStore. If all bytes of the upload have arrived but its node died before it was finished, it
// finishes the upload.
func (s *Service) GetUpload(ctx context.Context, id string) (tus.Upload, error) {
	u, err := s.find(ctx, id)
	if err != nil {
		return nil, tusError(ctx, err)
	}
	if u.Received == u.file.Size && !u.Finished {
		if err := u.FinishUpload(ctx); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// GetInfo implements tusd's Upload.
func (u *upload) GetInfo(context.Context) (tus.FileInfo, error) {
	meta := tus.MetaData{"bucketName": u.file.Bucket, "objectName": u.file.Name, "contentType": u.ContentType, "metadata": u.Metadata}
	maps.DeleteFunc(meta, func(_, value string) bool { return value == "" })
	return tus.FileInfo{ID: u.ID, Size: u.file.Size, Offset: u.Received, MetaData: meta}, nil
}

// GetReader implements tusd's Upload. An upload cannot be read before it is an object.
func (u *upload) GetReader(context.Context) (io.ReadCloser, error) { return nil, tus.ErrNotFound }

// WriteChunk implements tusd's Upload. It stores src in pieces and saves the progress after each piece. A rejected upload is
// removed.
func (u *upload) WriteChunk(ctx context.Context, _ int64, src io.Reader) (int64, error) {
	written, err := u.write(ctx, src)
	if endsUpload(err) {
		err = errors.Join(err, u.remove(context.WithoutCancel(ctx)))
	}
	return written, tusError(ctx, err)
}

// spareBuffer holds at most one buffer for pieces, which the next request reuses. A sync.Pool would keep one of 8 MiB per
// processor.
var spareBuffer = make(chan *bytes.Buffer, 1)

func takeBuffer() *bytes.Buffer {
	select {
	case b := <-spareBuffer:
		return b
	default:
		return new(bytes.Buffer)
	}
}

func giveBuffer(b *bytes.Buffer) {
	select {
	case spareBuffer <- b:
	default: // there is a spare buffer already
	}
}

func (u *upload) write(ctx context.Context, src io.Reader) (written int64, err error) {
	caller := identity.Of(ctx)
	if err := u.service.storage.CheckResumable(ctx, caller, u.file, nil); err != nil {
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
		b.Grow(int(min(u.file.Size-u.Received, blob.PieceSize)) + bytes.MinRead) // growing by doubling would allocate twice as much
		n, err := io.CopyN(b, src, min(u.file.Size-u.Received, blob.PieceSize))
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return written, err
		}
		if n == 0 {
			break
		}
		if u.Received == 0 && (n >= files.SniffLength || n == u.file.Size) {
			if err := u.service.storage.CheckResumable(ctx, caller, u.file, b.Bytes()[:min(n, files.SniffLength)]); err != nil {
				return written, err
			}
		}
		if check := u.service.CheckSpace; check != nil { // before each piece: one request can bring gigabytes
			if err := check(); err != nil {
				return written, err
			}
		}
		stored, err := u.service.storage.Append(ctx, u.BlobID, u.Pieces, b.Bytes(), u.Received+n == u.file.Size)
		if err != nil {
			return written, err
		}
		_, _ = sum.Write(b.Bytes()) // never fails
		next := *u
		next.Pieces, next.Received = stored, u.Received+n
		if next.Hash, err = sum.(encoding.BinaryMarshaler).MarshalBinary(); err != nil {
			return written, err
		}
		if err := saveProgress(ctx, u.service.db, &next, u.Received); err != nil {
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

// endsUpload reports whether an error ends an upload permanently. After other errors the client may try again.
func endsUpload(err error) bool { return files.IsRefusal(err) && !errors.Is(err, errLocked) }

// FinishUpload implements tusd's Upload. It makes the upload an object, or rejects and removes it.
func (u *upload) FinishUpload(ctx context.Context) error {
	if u.Finished {
		return nil
	}
	sum, err := u.sum()
	if err == nil {
		_, err = u.service.storage.Complete(ctx, identity.Of(ctx), u.file, u.BlobID, u.Pieces, hex.EncodeToString(sum.Sum(nil)), func(ctx context.Context, tx *db.Tx) error {
			return setFlag(ctx, tx, u.ID, "finished")
		})
	}
	if endsUpload(err) {
		err = errors.Join(err, u.remove(context.WithoutCancel(ctx)))
	}
	u.Finished = err == nil
	return tusError(ctx, err)
}

// AsTerminatableUpload implements tusd's TerminaterDataStore.
func (s *Service) AsTerminatableUpload(u tus.Upload) tus.TerminatableUpload { return u.(*upload) }

// Terminate implements tusd's TerminatableUpload. If the upload has become an object, the object stays.
func (u *upload) Terminate(ctx context.Context) error { return tusError(ctx, u.remove(ctx)) }

func (u *upload) remove(ctx context.Context) error {
	if err := u.service.storage.Abandon(ctx, u.BlobID, u.Pieces); err != nil {
		return err
	}
	return deleteUpload(ctx, u.service.db, u.ID)
}
