package rendition

import (
	"net/http"

	"atelie/internal/apperr"
)

// What Make refuses. The codes are stable: they travel from the process that works to the one that asked.
var (
	// ErrTooLarge is a picture with more pixels, a longer side or more need of memory than the limits allow.
	ErrTooLarge = apperr.New(http.StatusUnprocessableEntity, "picture_too_large", "The picture is too large")
	// ErrUnreadable is a file that starts like a picture and is not one that can be decoded.
	ErrUnreadable = apperr.New(http.StatusUnprocessableEntity, "picture_unreadable", "The picture is damaged and cannot be read")
	// ErrTruncated is a picture whose end is missing: an upload or a copy that was cut short.
	ErrTruncated = apperr.New(http.StatusUnprocessableEntity, "picture_truncated", "The picture is not complete: its end is missing")
	// ErrUnsupported is a type, or a variety of one, that this engine does not decode or make.
	ErrUnsupported = apperr.New(http.StatusUnsupportedMediaType, "picture_unsupported", "This kind of picture cannot be read here")
	// ErrNeedsVips is a picture or a format that only libvips can decode or make: HEIC and AVIF.
	ErrNeedsVips = apperr.New(http.StatusUnsupportedMediaType, "picture_needs_vips", "HEIC and AVIF cannot be read here: please send JPEG")
	// ErrOrder is an order that no picture can be made of: sizes below zero, a quality above 100, an unknown word.
	ErrOrder = apperr.New(http.StatusBadRequest, "picture_order_invalid", "The picture cannot be made in this size or format")
)
