package rendition

import (
	"fmt"
	"net/http"

	"atelie/internal/apperr"
)

// Errors of Make and Processor for a picture or an order (the description of a rendition to make) that they reject. The codes must not
// change, because they are stored in the column media.reason.
var (
	// ErrTooLarge is for a picture with more pixels, a longer side or more estimated memory than Limits allows.
	ErrTooLarge = apperr.New(http.StatusUnprocessableEntity, "picture_too_large", "The picture is too large")
	// ErrUnreadable is for a file that begins like a picture but cannot be decoded.
	ErrUnreadable = apperr.New(http.StatusUnprocessableEntity, "picture_unreadable", "The picture is damaged and cannot be read")
	// ErrTruncated is for a picture whose end is missing, for example after an interrupted copy.
	ErrTruncated = apperr.New(http.StatusUnprocessableEntity, "picture_truncated", "The picture is not complete: its end is missing")
	// ErrUnsupported is for a type, or a variant of a type, that this engine can neither decode nor make.
	ErrUnsupported = apperr.New(http.StatusUnsupportedMediaType, "picture_unsupported", "This kind of picture cannot be read here")
	// ErrNeedsVips is for HEIC and AVIF: only libvips can decode or make them.
	ErrNeedsVips = apperr.New(http.StatusUnsupportedMediaType, "picture_needs_vips", "HEIC and AVIF cannot be read here: please send JPEG")
	// ErrOrder is for an invalid order, such as one with a negative size, a quality above 100, or an unknown format or fit.
	ErrOrder = apperr.New(http.StatusBadRequest, "picture_order_invalid", "The picture cannot be made in this size or format")
	// ErrTooSlow is for a picture whose job exceeded its time limit.
	ErrTooSlow = apperr.New(http.StatusUnprocessableEntity, "picture_too_slow", "The picture took too long to process")
	// ErrTooCostly is for a picture whose job ran out of memory (Config.JobMemory), or would need more memory than all jobs together
	// may have (Config.Memory).
	ErrTooCostly = apperr.New(http.StatusUnprocessableEntity, "picture_too_costly", "The picture needs more memory to process than one picture may use")
)

// newTooCostlyError returns an ErrTooCostly whose text names the memory that the job needs and the budget for all jobs. Both are in bytes.
func newTooCostlyError(bytes, budget int64) *apperr.Error {
	return apperr.New(ErrTooCostly.Status, ErrTooCostly.Code,
		fmt.Sprintf("The picture would need %d MB of memory to process; this server has %d MB for pictures", bytes>>20, budget>>20))
}
