package storage

import (
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	"atelie/internal/apperr"
	"atelie/internal/httpx"
	"atelie/internal/i18n"
	"atelie/internal/identity"
)

// The refusals of this surface. Status is the true one, which the contract hides in the body (WIRE, Files).
var (
	errNoBucket    = apperr.New(http.StatusNotFound, "NoSuchBucket", "Bucket not found")
	errNoObject    = apperr.New(http.StatusNotFound, "NoSuchKey", "Object not found")
	errDuplicate   = apperr.New(http.StatusConflict, "ResourceAlreadyExists", "The resource already exists")
	errForbidden   = apperr.New(http.StatusForbidden, "AccessDenied", "new row violates row-level security policy")
	errTooLarge    = apperr.New(http.StatusRequestEntityTooLarge, "EntityTooLarge", "The object exceeded the maximum allowed size")
	errBadType     = apperr.New(http.StatusUnsupportedMediaType, "InvalidMimeType", "mime type is not supported")
	errCompressed  = apperr.New(http.StatusUnsupportedMediaType, "InvalidMimeType", "Files with a content encoding are not supported")
	errNoContent   = apperr.New(http.StatusBadRequest, "InvalidRequest", "No content provided")
	errCutShort    = apperr.New(http.StatusBadRequest, "InvalidRequest", "The upload ended before the file was complete")
	errBadForm     = apperr.New(http.StatusBadRequest, "InvalidRequest", "The form could not be read")
	errSeveral     = apperr.New(http.StatusBadRequest, "InvalidRequest", "Only one file can be uploaded at a time")
	errBadMetadata = apperr.New(http.StatusBadRequest, "InvalidParameter", "metadata must be a JSON object")
	errBadCache    = apperr.New(http.StatusBadRequest, "InvalidParameter", "cacheControl must be a number of seconds or valid Cache-Control directives")
	errQuota       = apperr.New(http.StatusRequestEntityTooLarge, "EntityTooLarge", "The storage is full: its quota has been reached")
	errNotEmpty    = apperr.New(http.StatusConflict, "BucketNotEmpty", "The bucket you tried to delete is not empty")
	errBucketTaken = apperr.New(http.StatusConflict, "BucketAlreadyExists", "The resource already exists")
	errBucketName  = apperr.New(http.StatusBadRequest, "InvalidBucketName", "Bucket name invalid")
	errBucketFixed = apperr.New(http.StatusForbidden, "AccessDenied", "This bucket belongs to the site: it can be neither deleted nor made private")
	errNoToken     = apperr.New(http.StatusBadRequest, "InvalidRequest", "querystring must have required property 'token'")
	errBadSigned   = apperr.New(http.StatusBadRequest, "InvalidJWT", "The signed address is not valid")
	errSignedEnded = apperr.New(http.StatusBadRequest, "InvalidJWT", "The signed address has expired")
	errOtherObject = apperr.New(http.StatusBadRequest, "InvalidSignature", "The signed address belongs to another object")
	errTokenUsed   = apperr.New(http.StatusConflict, "ResourceAlreadyExists", "The signed address has been used already")
	errBadBody     = apperr.New(http.StatusBadRequest, "InvalidRequest", "The request body is not what this call takes")
)

var (
	errNoPicture   = apperr.New(http.StatusBadRequest, "InvalidRequest", "The object is no picture")
	errNoTile      = apperr.New(http.StatusNotFound, "NoSuchKey", "The picture has no such tile")
	errFilmCut     = apperr.New(http.StatusUnsupportedMediaType, "FilmCut", i18n.EN.Text("storage.filmCut"))
	errHEIC        = apperr.New(http.StatusUnsupportedMediaType, "HEICNotRead", i18n.EN.Text("storage.heic"))
	errBroken      = apperr.New(http.StatusUnsupportedMediaType, "PictureBroken", i18n.EN.Text("storage.broken"))
	errHidden      = apperr.New(http.StatusForbidden, "AccessDenied", "Pictures of this type are shown in other formats alone: ask /render/image for them")
	errNotOriginal = apperr.New(http.StatusForbidden, "AccessDenied", "The file as it was uploaded is for who may replace it")
	errMovedIn     = apperr.New(http.StatusBadRequest, "FeatureNotEnabled", "A picture cannot be moved into a bucket of the site, where pictures are cleaned: please copy it")
	errManySizes   = apperr.New(http.StatusTooManyRequests, "SlowDown", "Too many new sizes of pictures were asked for; please try again later")
	errRendering   = apperr.New(http.StatusServiceUnavailable, "SlowDown", "The picture is being prepared, please try again in a moment")
)

func errInvalidKey(name string) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "InvalidKey", "Invalid key: "+name)
}

func errTypeRefused(mime string) *apperr.Error {
	return apperr.New(errBadType.Status, errBadType.Code, "mime type "+mime+" is not supported")
}

func errWrongExtension(mime string) *apperr.Error {
	return apperr.New(errBadType.Status, errBadType.Code, "The file is "+mime+", which its name does not say")
}

func errTooManyPixels(width, height int) *apperr.Error {
	return apperr.New(errTooLarge.Status, errTooLarge.Code,
		fmt.Sprintf("The picture has %d x %d pixels; it may have %d megapixels and %d pixels on a side", width, height, maxPixels/1_000_000, maxSide))
}

func errInvalidParameter(text string) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "InvalidParameter", text)
}

// errNotOffered refuses an option of the client that this server does not have, rather than pass over it.
func errNotOffered(what string) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "FeatureNotEnabled", what+" is not offered here")
}

// shape is how the contract names an error: the old word in "error", the newer one in "code".
type shape struct{ word, code string }

// shapes lists the codes whose two words differ, and those that come from outside this package.
var shapes = map[string]shape{
	"BucketAlreadyExists":     {"Duplicate", "BucketAlreadyExists"},
	"BucketNotEmpty":          {"InvalidRequest", "BucketNotEmpty"},
	"NoSuchBucket":            {"Bucket not found", "NoSuchBucket"},
	"NoSuchKey":               {"not_found", "NoSuchKey"},
	"ResourceAlreadyExists":   {"Duplicate", "ResourceAlreadyExists"},
	"AccessDenied":            {"Unauthorized", "AccessDenied"},
	"EntityTooLarge":          {"Payload too large", "EntityTooLarge"},
	"InvalidMimeType":         {"invalid_mime_type", "InvalidMimeType"},
	"FilmCut":                 {"invalid_mime_type", "InvalidMimeType"},
	"HEICNotRead":             {"invalid_mime_type", "InvalidMimeType"},
	"PictureBroken":           {"invalid_mime_type", "InvalidMimeType"},
	"payload_too_large":       {"Payload too large", "EntityTooLarge"},
	"bad_json":                {"InvalidRequest", "InvalidRequest"},
	"bad_request":             {"InvalidRequest", "InvalidRequest"},
	"unexpected_failure":      {"Internal", "InternalError"},
	identity.ErrNoKey.Code:    {"Unauthorized", "AccessDenied"},
	identity.ErrBadToken.Code: {"Unauthorized", "InvalidJWT"},
}

// sentences are for a person, in the visitor's language.
var sentences = map[string]string{"HEICNotRead": "storage.heic", "PictureBroken": "storage.broken", "FilmCut": "storage.filmCut"}

// WriteError answers as the contract does (WIRE, Files): HTTP 400 with the true status as text in statusCode, except
// for refused tokens, which are HTTP 401 on every surface (READING §2), and failures of our own.
func WriteError(w http.ResponseWriter, r *http.Request, e *apperr.Error) {
	s, ok := shapes[e.Code]
	if !ok {
		s = shape{e.Code, e.Code}
	}
	status := http.StatusBadRequest
	if e.Status == http.StatusUnauthorized || e.Status >= http.StatusInternalServerError {
		status = e.Status
	}
	message := e.Message
	if key, ok := sentences[e.Code]; ok {
		message = i18n.Choose(r.Header.Get("Accept-Language")).Text(key)
	}
	w.Header().Set("Cache-Control", "no-store")
	err := httpx.JSON(w, status, struct {
		StatusCode string `json:"statusCode"`
		Error      string `json:"error"`
		Message    string `json:"message"`
		Code       string `json:"code"`
	}{strconv.Itoa(e.Status), s.word, message, s.code})
	if err != nil { // the visitor has gone
		slog.DebugContext(r.Context(), "error not delivered", "cause", err)
	}
}
