package rendition

import (
	"fmt"
	"net/http"

	"atelie/internal/apperr"
)

// What a Studio refuses besides what Make does.
var (
	// ErrTooSlow is a picture whose job took longer than a job may.
	ErrTooSlow = apperr.New(http.StatusUnprocessableEntity, "picture_too_slow", "The picture took too long to work on")
	// ErrTooCostly is a picture that wants more memory than there is for one.
	ErrTooCostly = apperr.New(http.StatusUnprocessableEntity, "picture_too_costly", "The picture takes more memory to work on than there is for one")
)

// errTooCostly refuses a picture that could not be made even with nothing else running.
func errTooCostly(bytes, budget int64) *apperr.Error {
	return apperr.New(ErrTooCostly.Status, ErrTooCostly.Code,
		fmt.Sprintf("The picture would take %d MB of memory to work on; this server has %d MB for pictures", bytes>>20, budget>>20))
}
