// Package archive writes and reads archives. An archive is a zip file with the content of a site: its rows as JSON, the files as they were
// uploaded, and a static copy of the public pages. An archive has no passwords, keys or sessions. docs/hosting.md describes the format.
//
// The command "atelie export" calls Export. The command "atelie import" calls Open, Verify and Import, and needs an empty site.
package archive

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"atelie/internal/db"
)

// Format is the version of the archive format that an export writes. An import accepts this version and all earlier ones.
const Format = 1

// Names of the entries and folders in an archive.
const (
	manifestName = "site.json"
	readmeName   = "README.txt"
	tablesFolder = "tables/"
	filesFolder  = "files/"                      // contains the uploaded files, byte for byte
	staticFolder = "site/"                       // contains the static copy
	filesList    = tablesFolder + "files.json"   // a JSON array of File
	bucketsList  = tablesFolder + "buckets.json" // a JSON array with the settings of each bucket (a named group of stored files)
)

// entryTime is the modification time of all entries of an archive. It is constant, so that exports of the same content are equal byte for
// byte. It is the earliest time that a zip file can contain.
var entryTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// Manifest is the content of site.json, the last entry of an archive.
type Manifest struct {
	Format  int    `json:"format"`  // version of the archive format
	Schema  int64  `json:"schema"`  // schema version of the database
	Program string `json:"program"` // version of the program
	SiteURL string `json:"site_url"`
	// Owners are the email addresses of the owners (people with access to the admin area). An import creates no accounts from them.
	Owners  []string          `json:"owners"`
	Rows    map[string]int64  `json:"rows"`     // number of rows, by table
	Files   int               `json:"files"`    // number of uploaded files
	Pages   int               `json:"pages"`    // number of pages of the static copy
	LeftOut map[string]string `json:"left_out"` // the reason why a table is not in the archive, by table
	Entries []Entry           `json:"entries"`  // all entries except site.json
}

// Entry describes an entry of the zip file.
type Entry struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`   // bytes before compression
	SHA256 string `json:"sha256"` // of the bytes before compression, in hexadecimal digits
}

// File is a stored file of the site. The archive has it as an element of the JSON array in tables/files.json. The fields with the tag "-" are
// not in the JSON: an export reads them from the database, and an import takes SHA256 and Size from the manifest and leaves the others zero.
type File struct {
	Path         string          `json:"path"` // the name of the file's entry in the zip file
	Bucket       string          `json:"bucket"`
	Name         string          `json:"name"` // the name of the object in its bucket
	CacheControl string          `json:"cache_control"`
	Metadata     json.RawMessage `json:"metadata,omitempty"` // the JSON object that came with the upload
	Focus        *[2]float64     `json:"focus,omitempty"`    // the picture's focus point, as fractions of width and height

	BlobID, SHA256   string `json:"-"` // BlobID is the id of the stored bytes
	Size             int64  `json:"-"` // bytes
	PublicIsStripped bool   `json:"-"` // the public file is a copy of this one without metadata
}

// View identifies a page of the static copy. A long gallery is divided into several pages, called parts.
type View struct {
	Path     string // path of the page's URL on the site
	Language string // en or pt
	Work     string // id of the work that the page shows, or ""
	Series   string // slug (name in URLs) of the series that the page shows, or ""
	Part     int    // number of the part, from 0
}

// Config gives exports and imports access to the rest of the program.
type Config struct {
	DB              *db.DB
	SiteURL, APIURL string // public URLs of the site and of its backend
	Program         string // version of the program
	Now             func() time.Time

	Owners  func(ctx context.Context) ([]string, error)                        // email addresses
	Files   func(ctx context.Context, q db.Querier) ([]File, error)            // all files, in a fixed order, with empty paths
	Buckets func(ctx context.Context, q db.Querier) ([]json.RawMessage, error) // settings of each bucket

	// For exports. Open opens the bytes of a file. Paths returns the paths of the public pages. Render returns the HTML of a page and the
	// number of parts into which its gallery is divided. Locate returns the view of the page that shows linked.Work; ok is false if there is
	// no such work. Get responds to a GET request for a path of the site.
	Open   func(ctx context.Context, blobID string) (io.ReadSeekCloser, error)
	Paths  func(ctx context.Context) ([]string, error)
	Render func(ctx context.Context, v View) (html []byte, parts int, err error)
	Locate func(ctx context.Context, linked View) (at View, ok bool, err error)
	Get    func(ctx context.Context, target string) (Response, error)

	// For imports. Put stores a file as an upload does.
	SaveBucket func(ctx context.Context, bucket json.RawMessage) error
	Put        func(ctx context.Context, f File, body io.Reader) error
	SetFocus   func(ctx context.Context, f File) error
}

// Response is the response to a GET request.
type Response struct {
	Status      int
	ContentType string
	Body        []byte
}

// Progress is called during an export or import. step is "pages", "tables", "files" or "check". done of the step's total items are
// finished.
type Progress func(step string, done, total int)
