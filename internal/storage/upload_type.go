package storage

import (
	"net/http"

	"atelie/internal/files"
)

// This file decides whether the type of an upload is accepted. It detects the type by the file's first bytes.

// maxImageBytes is the size limit of a picture in bytes. The limit of other files is Config.MaxUpload.
const maxImageBytes = 50 << 20

// accept returns the type of a file that begins with head. It returns an error if the bucket does not accept a file of that type and name.
func (s *Service) accept(b bucket, name string, head []byte) (*files.Type, error) {
	kind := files.Detect(head)
	if kind == nil {
		return nil, errTypeRefused(http.DetectContentType(head))
	}
	if err := s.checkDecodable(kind); err != nil {
		return nil, err
	}
	return kind, checkAllowed(b, kind, name)
}

// acceptSized is accept for a file whose size in bytes is known. It also rejects a picture that is too large.
func (s *Service) acceptSized(b bucket, name string, head []byte, size int64) (*files.Type, error) {
	kind, err := s.accept(b, name, head)
	if err == nil && kind.Image && size > maxImageBytes {
		err = errTooLarge.Becausef("%d bytes of at most %d", size, maxImageBytes)
	}
	return kind, err
}

// checkDecodable rejects a picture that this machine cannot decode, if its type keeps metadata (KeepsMetadata: the program cannot remove
// the metadata from files of this type). Visitors see such a picture only as renditions (resized copies), and renditions need decoding.
func (s *Service) checkDecodable(kind *files.Type) error {
	switch {
	case !kind.KeepsMetadata || s.media.Reads(kind):
		return nil
	case kind == files.HEIC:
		return errHEIC
	}
	return errTypeRefused(kind.MIME)
}

// checkAllowed rejects a type that the bucket does not allow, or that contradicts the name's extension.
func checkAllowed(b bucket, kind *files.Type, name string) error {
	switch {
	case !b.allows(kind.MIME):
		return errTypeRefused(kind.MIME)
	case !kind.Fits(name):
		return errWrongExtension(kind.MIME)
	}
	return nil
}
