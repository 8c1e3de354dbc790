package supabase

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"atelie/internal/files"
)

// Folder is a folder with a project's files, each at bucket/name, such as product-images/2024/vase.jpg. Symbolic links that lead out of the
// folder are not followed. Folder implements Files.
type Folder struct{ root *os.Root }

// NewFolder opens the folder with this path. The caller closes it.
func NewFolder(name string) (*Folder, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &Folder{root}, nil
}

// Close closes the folder.
func (f *Folder) Close() error { return f.root.Close() }

// List implements Files. If no subfolder has the name of the bucket, List finds no files and returns nil.
func (f *Folder) List(ctx context.Context, bucket string, yield func(File) error) error {
	err := fs.WalkDir(f.root.FS(), bucket, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case e.IsDir() || path.Base(name) == placeholderFile: // Supabase puts placeholderFile into empty folders
			return nil
		}
		return yield(File{Name: strings.TrimPrefix(name, bucket+"/")})
	})
	if _, statErr := f.root.Stat(bucket); errors.Is(statErr, fs.ErrNotExist) {
		return nil // WalkDir has failed because there is no such subfolder
	}
	return err
}

// Open implements Files. It ignores head, because only what the caller reads is read from the disk.
func (f *Folder) Open(_ context.Context, bucket string, file File, _ bool) (io.ReadCloser, int64, error) {
	opened, err := f.root.Open(filepath.FromSlash(bucket + "/" + file.Name))
	if err != nil {
		return nil, 0, ErrNoFile
	}
	info, err := opened.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, 0, errors.Join(ErrNoFile, opened.Close())
	}
	return opened, info.Size(), nil
}

// has reports whether the folder has a file.
func (f *Folder) has(bucket, name string) bool {
	if !files.ValidName(name) {
		return false
	}
	info, err := f.root.Stat(filepath.FromSlash(bucket + "/" + name))
	return err == nil && info.Mode().IsRegular()
}
