package media

import (
	"fmt"
	"net/http"

	"atelie/internal/apperr"
	"atelie/internal/i18n"
)

// Errors of requests for renditions, and of uploads (errFilmCut, errBroken, errTooManyPixels).
var (
	errNoPicture = apperr.New(http.StatusBadRequest, "InvalidRequest", "The object is no picture")
	errNoTile    = apperr.New(http.StatusNotFound, "NoSuchKey", "The picture has no such tile")
	errFilmCut   = apperr.New(http.StatusUnsupportedMediaType, "FilmCut", i18n.EN.Text("storage.filmCut"))
	errBroken    = apperr.New(http.StatusUnsupportedMediaType, "PictureBroken", i18n.EN.Text("storage.broken"))
	errManySizes = apperr.New(http.StatusTooManyRequests, "SlowDown", "Too many new sizes of pictures were asked for; please try again later")
)

// errTooManyPixels returns the error for a picture of that size, which exceeds the limits.
func errTooManyPixels(width, height int) *apperr.Error {
	return apperr.New(http.StatusRequestEntityTooLarge, "EntityTooLarge",
		fmt.Sprintf("The picture has %d x %d pixels; it may have %d megapixels and %d pixels on a side", width, height, maxPixels/1_000_000, maxSide))
}
