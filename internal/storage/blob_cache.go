package storage

import (
	"bytes"
	"context"
	"errors"

	"atelie/internal/content"
	"atelie/internal/files"
	"atelie/internal/storage/blob"
)

// This file caches the blobs (the bytes) of small public files in memory, so that most requests for them do not read the store.

// Limits of blobCache, in bytes.
const (
	// blobCacheBytes is the maximum size of all entries together.
	blobCacheBytes = 16 << 20
	// maxSmallOnDisk is the maximum size of a small blob (a blob that is cached) in the data folder. Larger blobs are sent by sendfile,
	// without using memory: the kernel copies the file to the connection.
	maxSmallOnDisk = 256 << 10
	// maxEntryBytes is the size of the largest entry that content.Cache stores. It is the only limit for small blobs in an S3 bucket. Such
	// blobs may be larger than small blobs in the data folder, because each read from S3 costs a request.
	maxEntryBytes = blobCacheBytes / content.MaxShare
	// blobCacheOverhead is an estimate of the memory that an entry needs besides the bytes of the blob.
	blobCacheOverhead = 300
)

// blobCache caches small blobs of public files: the bytes by the id of the blob. An entry cannot become stale, because the bytes under an
// id never change. The cache does not decide who may read a file: callers must check that before they call OpenPublic.
type blobCache struct {
	entries  *content.Cache[string, []byte]
	maxSmall int64           // maximum size of a small blob in bytes
	lookups  content.Lookups // counts of hits and misses
}

// versionless is the content version of all entries of blobCache. content.Cache drops an entry when the content version (the number that
// each change of visible content raises) differs from that of the entry. Blobs never change, so this constant version keeps their entries.
var versionless content.Versions

func newBlobCache(store blob.Store) *blobCache {
	sizeOf := func(b []byte) int { return cap(b) + blobCacheOverhead }
	// readAll reads a blob into a buffer that is bytes.MinRead larger than the blob. The cache counts this space too.
	maxSmallInBucket := int64(maxEntryBytes - blobCacheOverhead - bytes.MinRead)
	c := &blobCache{entries: content.NewCache[string](blobCacheBytes, sizeOf), maxSmall: maxSmallInBucket}
	if _, onDisk := store.(*blob.Disk); onDisk {
		c.maxSmall = maxSmallOnDisk
	}
	return c
}

// OpenPublic opens the blob of a file that anyone may read, for reading until ctx ends. It caches the bytes of a small blob.
// The error is fs.ErrNotExist if there is no such blob.
func (b *Blobs) OpenPublic(ctx context.Context, f files.Blob) (files.Body, error) {
	if f.Size > b.cache.maxSmall {
		file, err := b.store.Open(ctx, f.ID)
		return files.Body{File: file}, err
	}
	blobBytes, isHit := b.cache.entries.Get(versionless, f.ID)
	b.cache.lookups.Record(isHit)
	if isHit {
		return files.Body{Bytes: blobBytes}, nil
	}
	blobBytes, err := b.cache.entries.Load(ctx, versionless, f.ID, func(ctx context.Context) ([]byte, bool, error) {
		blobBytes, err := b.readAll(ctx, f)
		return blobBytes, true /* cacheable */, err
	})
	return files.Body{Bytes: blobBytes}, err
}

// readAll reads a blob into memory.
func (b *Blobs) readAll(ctx context.Context, f files.Blob) (_ []byte, err error) {
	file, err := b.store.Open(ctx, f.ID)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	buffer := bytes.NewBuffer(make([]byte, 0, f.Size+bytes.MinRead)) // ReadFrom would grow a buffer that has no MinRead spare bytes
	if _, err := buffer.ReadFrom(file); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}
