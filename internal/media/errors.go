package media

import (
	"fmt"
	"net/http"

	"atelie/internal/apperr"
	"atelie/internal/i18n"
	"atelie/internal/media/rendition"
)

// This file has the errors of this package, and the reasons why a stored picture or video cannot be shown. Codes and texts say film for a
// video.

// Errors of requests for renditions (resized copies of pictures), and of uploads (errVideoTruncated, errUnreadableImage, errTooManyPixels).
// A tile is a square part of a large picture, for zooming in.
var (
	errNoPicture       = apperr.New(http.StatusBadRequest, "InvalidRequest", "The object is not a picture")
	errNoTile          = apperr.New(http.StatusNotFound, "NoSuchKey", "The picture has no such tile")
	errVideoTruncated  = apperr.New(http.StatusUnsupportedMediaType, "FilmCut", i18n.EN.Text("storage.filmCut"))
	errUnreadableImage = apperr.New(http.StatusUnsupportedMediaType, "PictureBroken", i18n.EN.Text("storage.broken"))
	errManySizes       = apperr.New(http.StatusTooManyRequests, "SlowDown", "Too many new sizes of pictures were requested; please try again later")
)

// errTooManyPixels returns the error for a picture with more pixels than maxPixels, or a side longer than maxSide.
func errTooManyPixels(width, height int) *apperr.Error {
	return apperr.New(http.StatusRequestEntityTooLarge, "EntityTooLarge",
		fmt.Sprintf("The picture has %d x %d pixels; it may have %d megapixels and %d pixels on a side", width, height, maxPixels/1_000_000, maxSide))
}

// Codes of the reasons why a picture or a video cannot be shown. They are stored in the column media.reason, so they must not change. The
// column can also contain the codes of the errors of package rendition.
//
// A new code needs an English text in reasonTexts. It can get texts in the owner's languages, for the admin pages, in
// web/src/components/upload/failure-key.ts.
const (
	reasonPicture         = "picture_failed"
	reasonUnreadableVideo = "film_unreadable"
	reasonMatroska        = "film_matroska" // a format of videos that browsers do not play
	reasonIndex           = "film_index"    // the video's index could not be moved to the beginning of the file
)

// reasonTexts are the English texts of the codes, for the log and for error messages.
var reasonTexts = map[string]string{
	reasonPicture:         "The picture could not be processed",
	reasonUnreadableVideo: "The file is not a film that can be read. Please export it again as MP4 (H.264).",
	reasonMatroska:        "The film is a Matroska file, which browsers do not play. Please export it as MP4 or WebM.",
	reasonIndex:           "The film starts late on slow networks: its index could not be moved to the start.",
}

func init() {
	for _, e := range []*apperr.Error{
		rendition.ErrTooLarge, rendition.ErrUnreadable, rendition.ErrTruncated, rendition.ErrUnsupported,
		rendition.ErrNeedsVips, rendition.ErrOrder, rendition.ErrTooSlow, rendition.ErrTooCostly,
	} {
		reasonTexts[e.Code] = e.Message
	}
}

// reasonText returns the text of a code. It returns any other text unchanged, because old rows contain a text in place of a
// code.
func reasonText(reason string) string {
	if text, ok := reasonTexts[reason]; ok {
		return text
	}
	return reason
}

// errCannotBeShown returns the error for a picture or video that cannot be shown; reason is from the column media.reason.
func errCannotBeShown(reason string) *apperr.Error {
	return apperr.New(http.StatusUnprocessableEntity, "InvalidRequest", reasonText(reason))
}
