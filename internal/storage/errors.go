package storage

import (
	"net/http"
	"strconv"
	"strings"

	"atelie/internal/apperr"
	"atelie/internal/files"
	"atelie/internal/httpx"
	"atelie/internal/i18n"
	"atelie/internal/identity"
)

// The errors of the endpoints under /storage/v1. WriteError puts the Status of an error into the body of the response, and sends most
// errors with HTTP status 400, as Supabase does.
var (
	errDuplicate       = apperr.New(http.StatusConflict, "ResourceAlreadyExists", "The resource already exists")
	errForbidden       = apperr.New(http.StatusForbidden, "AccessDenied", "new row violates row-level security policy")
	errTooLarge        = apperr.New(http.StatusRequestEntityTooLarge, "EntityTooLarge", "The object exceeded the maximum allowed size")
	errBadType         = apperr.New(http.StatusUnsupportedMediaType, "InvalidMimeType", "mime type is not supported")
	errCompressed      = apperr.New(http.StatusUnsupportedMediaType, "InvalidMimeType", "Files with a content encoding are not supported")
	errNoContent       = apperr.New(http.StatusBadRequest, "InvalidRequest", "No content provided")
	errCutShort        = apperr.New(http.StatusBadRequest, "InvalidRequest", "The upload ended before the file was complete")
	errBadForm         = apperr.New(http.StatusBadRequest, "InvalidRequest", "The form could not be read")
	errSeveralFiles    = apperr.New(http.StatusBadRequest, "InvalidRequest", "Only one file can be uploaded at a time")
	errBadMetadata     = apperr.New(http.StatusBadRequest, "InvalidParameter", "metadata must be a JSON object")
	errBadCacheControl = apperr.New(http.StatusBadRequest, "InvalidParameter", "cacheControl must be a number of seconds or valid Cache-Control directives")
	errQuota           = apperr.New(http.StatusRequestEntityTooLarge, "EntityTooLarge", "The storage is full: its quota has been reached")
	errNotEmpty        = apperr.New(http.StatusConflict, "BucketNotEmpty", "The bucket you tried to delete is not empty")
	errBucketTaken     = apperr.New(http.StatusConflict, "BucketAlreadyExists", "The resource already exists")
	errBucketName      = apperr.New(http.StatusBadRequest, "InvalidBucketName", "Bucket name invalid")
	errBucketFixed     = apperr.New(http.StatusForbidden, "AccessDenied", "This bucket belongs to the site: it can be neither deleted nor made private or public")
	errNoToken         = apperr.New(http.StatusBadRequest, "InvalidRequest", "querystring must have required property 'token'")
	errBadToken        = apperr.New(http.StatusBadRequest, "InvalidJWT", "The signed URL is not valid")
	errTokenExpired    = apperr.New(http.StatusBadRequest, "InvalidJWT", "The signed URL has expired")
	errOtherObject     = apperr.New(http.StatusBadRequest, "InvalidSignature", "The signed URL belongs to another object")
	errTokenUsed       = apperr.New(http.StatusConflict, "ResourceAlreadyExists", "The signed URL has been used already")
	errBadBody         = apperr.New(http.StatusBadRequest, "InvalidRequest", "The request body is not valid for this call")
)

// Errors of pictures.
var (
	errHEIC              = apperr.New(http.StatusUnsupportedMediaType, "HEICNotRead", i18n.EN.Text("storage.heic"))
	errOnlyRenditions    = apperr.New(http.StatusForbidden, "AccessDenied", "Pictures of this type are only sent in other formats: request them from /render/image")
	errOriginalForbidden = apperr.New(http.StatusForbidden, "AccessDenied", "Only callers who may replace the file can get its original")
	errMoveIntoSite      = apperr.New(http.StatusBadRequest, "FeatureNotEnabled",
		"A picture cannot be moved into a bucket of the site, where pictures are stored without private metadata: please copy it")
)

func errTypeRefused(mime string) *apperr.Error {
	return apperr.New(errBadType.Status, errBadType.Code, "mime type "+mime+" is not supported")
}

func errWrongExtension(mime string) *apperr.Error {
	return apperr.New(errBadType.Status, errBadType.Code, "The file is "+mime+", which does not match the extension of its name")
}

// errorNames are the two names of an error in a response. The field "error" has the older name, and the field "code" has the newer one.
type errorNames struct{ older, newer string }

// errorNamesByCode maps an error's Code to its two names. A Code that is not listed is used for both.
var errorNamesByCode = map[string]errorNames{
	"BucketAlreadyExists":     {"Duplicate", "BucketAlreadyExists"},
	"BucketNotEmpty":          {"InvalidRequest", "BucketNotEmpty"},
	"NoSuchBucket":            {"Bucket not found", "NoSuchBucket"},
	"NoSuchKey":               {"not_found", "NoSuchKey"},
	"ResourceAlreadyExists":   {"Duplicate", "ResourceAlreadyExists"},
	"AccessDenied":            {"Unauthorized", "AccessDenied"},
	apperr.NoSpace.Code:       {"InsufficientStorage", "InsufficientStorage"},
	"EntityTooLarge":          {"Payload too large", "EntityTooLarge"},
	"InvalidMimeType":         {"invalid_mime_type", "InvalidMimeType"},
	"FilmCut":                 {"invalid_mime_type", "InvalidMimeType"},
	"HEICNotRead":             {"invalid_mime_type", "InvalidMimeType"},
	"PictureBroken":           {"invalid_mime_type", "InvalidMimeType"},
	"payload_too_large":       {"Payload too large", "EntityTooLarge"},
	"method_not_allowed":      {"method_not_allowed", "MethodNotAllowed"},
	"bad_json":                {"InvalidRequest", "InvalidRequest"},
	"bad_request":             {"InvalidRequest", "InvalidRequest"},
	"unexpected_failure":      {"Internal", "InternalError"},
	httpx.ErrNoDatabase.Code:  {"DatabaseError", "DatabaseError"},
	apperr.Timeout.Code:       {"DatabaseTimeout", "DatabaseTimeout"},
	identity.ErrNoKey.Code:    {"Unauthorized", "AccessDenied"},
	identity.ErrBadToken.Code: {"Unauthorized", "InvalidJWT"},
	identity.ErrExpired.Code:  {"Unauthorized", "InvalidJWT"},
}

// messageKeys maps an error's Code to the key of a text of package i18n. The message of the response is this text in the language that the
// request asks for. Other errors have their own message, in English.
var messageKeys = map[string]string{apperr.NoSpace.Code: "storage.diskFull", "HEICNotRead": "storage.heic", "PictureBroken": "storage.broken", "FilmCut": "storage.filmCut"}

// publicRenditions is the beginning of the public URLs of renditions, which the site's pages use.
const publicRenditions = "/storage/v1/render/image/public/"

// WriteError responds with an error (docs/contracts/storage.md). statusCode in the body is e.Status as text. The HTTP status
// is 400, except that it is e.Status for rejected tokens (401, as on every surface), wrong methods (405), public renditions
// of missing objects (404), and failures of the server.
func WriteError(w http.ResponseWriter, r *http.Request, e *apperr.Error) {
	names, ok := errorNamesByCode[e.Code]
	if !ok {
		names = errorNames{e.Code, e.Code}
	}
	status := http.StatusBadRequest
	// Browsers request public renditions. A 404 tells caches and search engines that a picture is gone.
	gone := e.Code == files.ErrNoObject.Code && strings.HasPrefix(r.URL.Path, publicRenditions)
	if gone || e.Status == http.StatusUnauthorized || e.Status == http.StatusMethodNotAllowed || e.Status >= http.StatusInternalServerError {
		status = e.Status
	}
	message := e.Message
	if key, ok := messageKeys[e.Code]; ok {
		message = i18n.Choose(r.Header.Get("Accept-Language")).Text(key)
	}
	w.Header().Set("Cache-Control", "no-store")
	_ = httpx.JSON(w, status, struct { // an error means that the client has gone
		StatusCode string `json:"statusCode"`
		Error      string `json:"error"`
		Message    string `json:"message"`
		Code       string `json:"code"`
	}{strconv.Itoa(e.Status), names.older, message, names.newer})
}
