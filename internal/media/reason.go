package media

import (
	"net/http"

	"atelie/internal/apperr"
	"atelie/internal/media/rendition"
)

// Codes of the reasons why a picture or a film cannot be shown. They are stored in the column media.reason, so they must not
// change. The admin page shows a text for each code in the owner's language (web/src/components/upload/failure-key.ts). The
// column can also contain the codes of package rendition's errors.
const (
	reasonPicture  = "picture_failed"
	reasonNoFilm   = "film_unreadable"
	reasonMatroska = "film_matroska"
	reasonIndex    = "film_index"
)

// reasonTexts are the English texts of the codes, for the log and for error messages.
var reasonTexts = map[string]string{
	reasonPicture:  "The picture could not be worked on",
	reasonNoFilm:   "The file is not a film that can be read. Please export it again as MP4 (H.264).",
	reasonMatroska: "The film is a Matroska file, which browsers do not play. Please export it as MP4 or WebM.",
	reasonIndex:    "The film's index could not be moved to its beginning: it starts late on slow lines.",
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

// errCannotBeShown returns the error for a picture or film that cannot be shown; reason is from the column media.reason.
func errCannotBeShown(reason string) *apperr.Error {
	return apperr.New(http.StatusUnprocessableEntity, "InvalidRequest", reasonText(reason))
}
