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
	// maxSmallOnDisk is the maximum size of a small blob in the data folder. Larger ones are sent by sendfile, without using memory.
	maxSmallOnDisk = 256 << 10
	// maxSmallInBucket is the maximum size of a small blob in an S3 bucket, including blobCacheOverhead and the reserve of readAll. It is the
	// size of the largest entry that content.Cache stores. It is larger than maxSmallOnDisk, because reading from S3 costs a request.
	maxSmallInBucket = blobCacheBytes / content.MaxShare
	// blobCacheOverhead is an estimate of what an entry needs besides its bytes.
	blobCacheOverhead = 300
)

// blobCache caches small blobs of public files: the bytes by the id of the blob. An entry cannot become stale, because the bytes under an
// id never change. The cache does not decide who may read a file: callers must check that before they call OpenPublic.
type blobCache struct {
	blobs    *content.Cache[string, []byte]
	maxSmall int64           // bytes; larger blobs are not cached
	lookups  content.Lookups // counts of hits and misses
}

// versionless takes the place of the content version (the number that each change of visible content raises) in the calls of content.Cache.
// That cache drops its values when the version changes, so a constant version keeps them.
var versionless content.Versions

func newBlobCache(store blob.Store) *blobCache {
	sizeOf := func(b []byte) int { return cap(b) + blobCacheOverhead }
	c := &blobCache{blobs: content.NewCache[string](blobCacheBytes, sizeOf), maxSmall: maxSmallInBucket - blobCacheOverhead - bytes.MinRead}
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
	whole, isHit := b.cache.blobs.Get(versionless, f.ID)
	b.cache.lookups.Record(isHit)
	if isHit {
		return files.Body{Bytes: whole}, nil
	}
	whole, err := b.cache.blobs.Load(ctx, versionless, f.ID, func(ctx context.Context) ([]byte, bool, error) {
		read, err := b.readAll(ctx, f)
		return read, true /* cacheable */, err
	})
	return files.Body{Bytes: whole}, err
}

// readAll reads a blob into memory.
func (b *Blobs) readAll(ctx context.Context, f files.Blob) (_ []byte, err error) {
	file, err := b.store.Open(ctx, f.ID)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	buffer := bytes.NewBuffer(make([]byte, 0, f.Size+bytes.MinRead)) // ReadFrom would grow a buffer without that reserve
	if _, err := buffer.ReadFrom(file); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}
