package storage

import (
	"net/http"

	"atelie/internal/apperr"
	"atelie/internal/storage/rendition"
)

// Why a picture or a film cannot be shown: codes that stay, which media.reason keeps and the owner's page says in her
// language (web/src/components/upload/failure.ts). Pictures have those of package rendition too.
const (
	reasonPicture  = "picture_failed"
	reasonNoFilm   = "film_unreadable"
	reasonMatroska = "film_matroska"
	reasonWork     = "film_index"
)

// reasonTexts are what programs and the log are told of a code.
var reasonTexts = map[string]string{
	reasonPicture:  "The picture could not be worked on",
	reasonNoFilm:   "The file is not a film that can be read. Please export it again as MP4 (H.264).",
	reasonMatroska: "The film is a Matroska file, which browsers do not play. Please export it as MP4 or WebM.",
	reasonWork:     "The film's index could not be moved to its beginning: it starts late on slow lines.",
}

func init() {
	for _, e := range []*apperr.Error{
		rendition.ErrTooLarge, rendition.ErrUnreadable, rendition.ErrTruncated, rendition.ErrUnsupported,
		rendition.ErrNeedsVips, rendition.ErrOrder, rendition.ErrTooSlow, rendition.ErrTooCostly,
	} {
		reasonTexts[e.Code] = e.Message
	}
}

// reasonText says a code in English. Rows from before the codes hold the sentence itself.
func reasonText(reason string) string {
	if text, ok := reasonTexts[reason]; ok {
		return text
	}
	return reason
}

// errPicture refuses a picture that could not be read, for a reason as media.reason has it.
func errPicture(reason string) *apperr.Error {
	return apperr.New(http.StatusUnprocessableEntity, "InvalidRequest", reasonText(reason))
}
