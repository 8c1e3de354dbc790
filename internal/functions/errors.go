package functions

import (
	"cmp"
	"errors"
	"net/http"

	"atelie/internal/apperr"
	"atelie/internal/httpx"
	"atelie/internal/i18n"
	"atelie/internal/identity"
)

// The errors of /functions/v1. WriteError writes most of them as {success: false, error}. In Supabase, errNoFunction and errForbidden come
// from the gateway (the server in front of the functions), so WriteError writes these two as {code, message}.
var (
	errNoFunction        = apperr.New(http.StatusNotFound, "NOT_FOUND", "Requested function was not found")
	errForbidden         = apperr.New(http.StatusForbidden, "FORBIDDEN", "This key may not call the function")
	errMethodNotAllowed  = apperr.New(http.StatusMethodNotAllowed, "method_not_allowed", "Method not allowed")
	errBadForm           = apperr.New(http.StatusBadRequest, "bad_form", "Could not parse request body as a form")
	errUnsupportedType   = apperr.New(http.StatusUnsupportedMediaType, "unsupported_media_type", "The body must be application/json, application/x-www-form-urlencoded or multipart/form-data, in UTF-8")
	errNotQuarantined    = apperr.New(http.StatusNotFound, "no_message", "There is no such message in quarantine")
	errNoInboxMessage    = apperr.New(http.StatusNotFound, "no_inbox_message", "There is no such message in the inbox")
	errNoReply           = apperr.New(http.StatusNotFound, "no_reply", "There is no such reply to the message")
	errUnreachable       = apperr.New(http.StatusConflict, "unreachable", "The reply cannot reach the visitor: there is no mail server, and the message has no private link")
	errNoMailServer      = apperr.New(http.StatusConflict, "no_mail_server", "The site has no mail server")
	errReplyQueued       = apperr.New(http.StatusConflict, "reply_queued", "The mail with this reply is still being sent")
	errLinksOff          = apperr.New(http.StatusConflict, "links_off", "Private links are turned off in the settings")
	errFullConversation  = apperr.New(http.StatusConflict, "conversation_full", "The conversation has too many replies")
	errStageChanged      = apperr.New(http.StatusConflict, "stage_changed", "The stage of the commission has changed meanwhile")
	errStageStep         = apperr.New(http.StatusConflict, "stage_step", "The commission cannot go from its stage to this one")
	errNotAgreed         = apperr.New(http.StatusConflict, "not_agreed", "Only a commission that is accepted, in progress or finished has a promised date")
	errNoOffer           = apperr.New(http.StatusNotFound, "no_offer", "There is no such offer to the message")
	errUnknownOffer      = apperr.New(http.StatusConflict, "unknown_offer", "This conversation has no such offer")
	errOfferAnswered     = apperr.New(http.StatusConflict, "offer_answered", "The visitor has answered this offer")
	errOfferWithdrawn    = apperr.New(http.StatusConflict, "offer_withdrawn", "This offer was withdrawn")
	errOfferClosed       = apperr.New(http.StatusConflict, "offer_closed", "This offer can no longer be answered, so it is not mailed")
	errOfferExpired      = apperr.New(http.StatusConflict, "offer_expired", "This offer has expired")
	errNoPlaceToAnswer   = apperr.New(http.StatusConflict, "no_link_for_offer", "The visitor could not answer the offer: the message has no private link, and links are turned off in the settings")
	errReviewNotFinished = apperr.New(http.StatusConflict, "review_not_finished", "A review can be asked for when the commission is finished")
	errReviewAsked       = apperr.New(http.StatusConflict, "review_asked", "A review was asked for within the last day, or three times already")
	errReviewWritten     = apperr.New(http.StatusConflict, "review_written", "The client has written the review: approve or decline it")
	errReviewNotOpen     = apperr.New(http.StatusConflict, "review_not_open", "The review can no longer be changed") // by the client
	errReviewApproved    = apperr.New(http.StatusConflict, "review_approved", "The review was approved already")
	errNoReview          = apperr.New(http.StatusConflict, "no_review", "There is no review to decide about")
	errReviewChanged     = apperr.New(http.StatusConflict, "review_changed", "The client has changed the review meanwhile")
	errNoReviewRequest   = apperr.New(http.StatusConflict, "no_review_request", "No review is asked for")
	errReviewClosed      = apperr.New(http.StatusConflict, "review_closed", "The review is no longer asked for, so the request is not mailed")
	errNoPlaceForReview  = apperr.New(http.StatusConflict, "no_link_for_review", "The client could not write a review: the message has no private link, and links are turned off in the settings")
	errTooManyPictures   = apperr.New(http.StatusBadRequest, "too_many_pictures", i18n.EN.Text("enquiry.pictures.many"))
	errLargePicture      = apperr.New(http.StatusRequestEntityTooLarge, "picture_too_large", i18n.EN.Text("enquiry.pictures.large"))
	errBadPicture        = apperr.New(http.StatusUnsupportedMediaType, "picture_type", i18n.EN.Text("enquiry.pictures.type"))
	errPicturesFull      = apperr.New(http.StatusConflict, "pictures_full", i18n.EN.Text("enquiry.pictures.full"))
	errPicturesBusy      = apperr.New(http.StatusTooManyRequests, "pictures_busy", i18n.EN.Text("enquiry.pictures.busy"))
	errTooManyRequests   = apperr.New(http.StatusTooManyRequests, "too_many_requests_for_links", "Too many requests. Please try again in a minute.")
	errNoAccount         = apperr.New(http.StatusBadRequest, "no_account", "A calendar belongs to an account: please use the token of an account, not a key.")
	errNoCalendar        = apperr.New(http.StatusNotFound, "no_calendar", "There is no calendar at this URL.")
	errNoAddress         = apperr.New(http.StatusBadRequest, "no_address", "There is no e-mail address to send to")
	errAddressHasRole    = apperr.New(http.StatusConflict, "address_has_role", "This address belongs to an account with a role. Take the role away first (atelie owner remove), or delete its messages one by one.")
	errTooManyTests      = apperr.New(http.StatusTooManyRequests, "too_many_requests", "Too many test mails. Please try again in a minute.")
	errTooManyMessages   = apperr.New(http.StatusTooManyRequests, "too_many_requests", "Too many messages. Please try again in a minute.")
)

// pictureErrorTexts are the texts of i18n for errors of pictures, by their codes.
var pictureErrorTexts = map[string]string{
	errTooManyPictures.Code: "enquiry.pictures.many", errLargePicture.Code: "enquiry.pictures.large", errBadPicture.Code: "enquiry.pictures.type",
	errPicturesFull.Code: "enquiry.pictures.full", errPicturesBusy.Code: "enquiry.pictures.busy",
}

// answerErrorTexts are the texts of i18n for errors of answers to offers, by their codes.
var answerErrorTexts = map[string]string{
	errUnknownOffer.Code: "enquiry.offer.error.none", errOfferAnswered.Code: "enquiry.offer.error.answered",
	errOfferWithdrawn.Code: "enquiry.offer.state.withdrawn", errOfferExpired.Code: "enquiry.offer.state.expired",
}

// otherErrorTexts are the texts of i18n for other errors that a page explains, by their codes.
var otherErrorTexts = map[string]string{
	errTooManyMessages.Code: "contact.tooMany", httpx.ErrTooLarge.Code: "contact.tooLarge",
	errReviewNotOpen.Code: "enquiry.review.error.closed", errFullConversation.Code: "enquiry.full",
}

// alertText returns the text with which a page tells a visitor about an error. That of errInvalid is in the language of the page already.
func alertText(l i18n.Language, e *apperr.Error) string {
	key := cmp.Or(pictureErrorTexts[e.Code], answerErrorTexts[e.Code], otherErrorTexts[e.Code])
	switch {
	case errors.Is(e, errInvalid("")):
		return e.Message
	case key == "" && e.Status >= http.StatusInternalServerError:
		key = "contact.toast.errorBody"
	}
	return l.Text(cmp.Or(key, "contact.unreadable"))
}

// errInvalid returns the error for an invalid request. text describes the mistake.
func errInvalid(text string) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "invalid", text)
}

// gatewayErrors contains the errors that in Supabase come from the gateway. The key is the error's code in this program. The value has the
// code and the message of the gateway. Keys in lower case are codes of the packages httpx and identity, which all APIs of this program use.
var gatewayErrors = map[string]struct{ code, message string }{
	errNoFunction.Code:        {errNoFunction.Code, errNoFunction.Message},
	"not_found":               {errNoFunction.Code, errNoFunction.Message}, // code of the router, for a path below that of a function
	errForbidden.Code:         {errForbidden.Code, errForbidden.Message},
	identity.ErrNoKey.Code:    {"UNAUTHORIZED_NO_AUTH_HEADER", "Missing authorization header"},
	identity.ErrBadToken.Code: {"UNAUTHORIZED_INVALID_JWT_FORMAT", "Invalid JWT"},
	identity.ErrExpired.Code:  {"UNAUTHORIZED_INVALID_JWT_FORMAT", "Invalid JWT"},
}

// WriteError writes {code, message}, the form of Supabase's gateway, for the errors in gatewayErrors. It writes
// {success: false, error}, the form of a function's own errors, for all others.
func WriteError(w http.ResponseWriter, _ *http.Request, e *apperr.Error) {
	var body any = struct {
		Success bool   `json:"success"`
		Error   string `json:"error"`
	}{false, e.Message}
	if g, ok := gatewayErrors[e.Code]; ok {
		body = struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		}{g.code, g.message}
	}
	_ = httpx.JSON(w, e.Status, body) // fails only if the client has closed the connection
}
