package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/files"
	"atelie/internal/identity"
	"atelie/internal/jobs"
	"atelie/internal/storage"
	"atelie/internal/storage/blob"
	"atelie/internal/storage/storagetest"
)

// testVideo describes an MP4 of 640 by 360 pixels and 12.5 s for videoFile. With the zero value, the file begins with the index.
type testVideo struct {
	codec      string // default: avc1
	frames     int    // bytes of mdat; default: 1000
	indexLast  bool   // the index follows the frames
	fragmented bool
	offsets    []byte // replaces the table with the two offsets of the frames
	more       []byte // boxes at the end of the index
}

// isoBox returns an ISO box: its length, its kind and its parts.
func isoBox(kind string, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+8)), kind...), body...)
}

// words returns big-endian 32-bit numbers.
func words(values ...uint32) (b []byte) {
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

// mdat returns the box with the frames: random bytes, so that a test detects bytes at a wrong offset.
func (a testVideo) mdat() []byte {
	if a.frames == 0 {
		a.frames = 1000
	}
	return isoBox("mdat", storagetest.NoisyFilm(a.frames, 3))
}

// videoFile returns an MP4 file.
func videoFile(a testVideo) []byte {
	if a.codec == "" {
		a.codec = "avc1"
	}
	ftyp, mdat := isoBox("ftyp", []byte("isom"), words(512), []byte("isommp41")), a.mdat()
	index := func(first uint32) []byte {
		table := a.offsets
		if table == nil {
			table = isoBox("stco", words(0, 2, first, first+500))
		}
		entry := isoBox(a.codec, make([]byte, 24), []byte{2, 128, 1, 104}, make([]byte, 50))
		return isoBox("moov", isoBox("mvhd", words(0, 0, 0, 1000, 12_500), make([]byte, 80)), isoBox("trak",
			isoBox("tkhd", words(0, 0, 0, 1, 0, 12_500, 0, 0, 0, 0), words(1<<16, 0, 0, 0, 1<<16, 0, 0, 0, 1<<30), words(640<<16, 360<<16)),
			isoBox("mdia", isoBox("hdlr", words(0, 0), []byte("vide"), make([]byte, 12)), isoBox("minf", isoBox("stbl", isoBox("stsd", words(0, 1), entry), table)))), a.more)
	}
	switch {
	case a.fragmented:
		return bytes.Join([][]byte{ftyp, index(0), isoBox("moof"), mdat}, nil)
	case a.indexLast:
		return bytes.Join([][]byte{ftyp, mdat, index(uint32(len(ftyp) + 8))}, nil)
	}
	return bytes.Join([][]byte{ftyp, index(uint32(len(ftyp) + len(index(0)) + 8)), mdat}, nil)
}

// newVideoSite is newEngineSite with the pool for videos.
func newVideoSite(t *testing.T, d *db.DB) *site {
	t.Helper()
	s, _ := newEngineSite(t, d)
	s.cfg.Jobs.HandlePool(1, VideoTimeout, map[string]jobs.Handler{JobVideo: s.ArrangeVideo})
	return s
}

func (s *site) description(at string) (d description, isDescribed bool) {
	s.T.Helper()
	got, err := s.Describe(s.T.Context(), []string{at}, false)
	if err != nil {
		s.T.Fatal(err)
	}
	text, isDescribed := got[at]
	if isDescribed {
		if err := json.Unmarshal(text, &d); err != nil {
			s.T.Fatal(err)
		}
	}
	return d, isDescribed
}

// Proves F-film-index.
func TestIndexIsMovedToTheBeginning(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newVideoSite(t, d)
		behind := testVideo{indexLast: true, frames: 600_000}
		came, want := videoFile(behind), videoFile(testVideo{frames: 600_000})
		up := s.UploadFile("product-images/a.mp4", came)
		before, m := s.media("product-images", "a.mp4")
		if m.Kind != "video" || m.State != stateWaiting || m.Facts.Width != 640 || m.Facts.Height != 360 || *m.Duration != 12.5 || *m.Codec != "avc1" {
			t.Errorf("at once: %+v", m)
		}
		if s.PublicFile("product-images/a.mp4") != string(came) {
			t.Error("not as it came")
		}
		reading, err := s.blobs.Open(t.Context(), before.BlobID)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = reading.Close() }()
		s.runJobs()
		after, m := s.media("product-images", "a.mp4")
		if got := s.PublicFile("product-images/a.mp4"); got != string(want) {
			t.Errorf("%d bytes, want %d with the index in front", len(got), len(want))
		}
		if m.State != stateReady || after.ID != up.ID || after.ETag == before.ETag || after.Size != int64(len(want)) || after.BlobID == before.BlobID ||
			after.UpdatedAt.Sub(before.UpdatedAt) < time.Second || !after.CreatedAt.Equal(before.CreatedAt) {
			t.Errorf("%+v\n%+v\n%+v", before, after, m)
		}
		if got, err := io.ReadAll(reading); err != nil || !bytes.Equal(got, came) {
			t.Errorf("who was reading got %d bytes, %v", len(got), err)
		}
		s.Holds(1)
		// A player that has a part of the old file gets the whole new file.
		for tag, code := range map[string]int{files.Quote(before.ETag): 200, files.Quote(after.ETag): 206, before.UpdatedAt.UTC().Format(http.TimeFormat): 200, after.UpdatedAt.UTC().Format(http.TimeFormat): 206} {
			if rec := s.Call("nobody", "GET", "/object/public/product-images/a.mp4", nil, "Range", "bytes=10-19", "If-Range", tag); rec.Code != code {
				t.Errorf("If-Range %s: %d", tag, rec.Code)
			}
		}
		var info struct {
			ETag        string `json:"etag"`
			Size        int64  `json:"size"`
			ContentType string `json:"content_type"`
		}
		storagetest.Decode(t, s.Call("nobody", "GET", "/object/info/public/product-images/a.mp4", nil), &info)
		if info.ETag != files.Quote(after.ETag) || info.Size != after.Size || info.ContentType != "video/mp4" {
			t.Errorf("%+v", info)
		}
		// A second run of the job does nothing, and a copy needs no job.
		for _, version := range []string{before.BlobID, after.BlobID} {
			if err := s.ArrangeVideo(t.Context(), fmt.Appendf(nil, `{"object_id":%q,"version":%q}`, up.ID, version)); err != nil {
				t.Error(err)
			}
		}
		s.Change("service", "copy", `{"bucketId":"product-images","sourceKey":"a.mp4","destinationKey":"b.mp4","destinationBucket":"cover-images"}`)
		if o, m := s.media("cover-images", "b.mp4"); o.ETag != after.ETag || m.State != stateReady || s.Count("jobs") != 0 {
			t.Errorf("copy: %+v %+v", o, m)
		}
		s.Holds(2)
		if rec := s.Call("admin", "DELETE", "/object/product-images/a.mp4", nil); rec.Code != 200 || s.Count("media") != 1 {
			t.Error(rec.Body)
		}
	})
}

// Proves F-film-index.
func TestIndexOfAResumableUploadIsMoved(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newVideoSite(t, d)
		came := videoFile(testVideo{indexLast: true, frames: 6 << 20})
		whole := func(context.Context, *db.Tx) error { return nil }
		owner := identity.Caller{Role: identity.Service}
		arriving := storage.ResumableUpload{Bucket: "product-images", Name: "a.mp4", Size: int64(len(came))}
		id := newID()
		half := len(came)*5/6 + 1
		at, err := s.stored.Append(t.Context(), id, blob.Partial{}, came[:half], false)
		if err == nil {
			at, err = s.stored.Append(t.Context(), id, at, came[half:], true)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err = s.stored.Complete(t.Context(), owner, arriving, id, at, sum256(came), whole); err != nil {
			t.Fatal(err)
		}
		s.runJobs()
		want := videoFile(testVideo{frames: 6 << 20})
		if o, m := s.media("product-images", "a.mp4"); m.State != stateReady || o.ETag != sum256(want) || s.PublicFile("product-images/a.mp4") != string(want) {
			t.Errorf("%+v %+v", o, m)
		}
		if err := s.stored.Abandon(t.Context(), id, at); err != nil { // the upload may still have a pending blob
			t.Error(err)
		}
		s.Holds(1)
	})
}

// Proves F-film-same, F-film-media.
//
// A video that begins with its index, and one in another bucket, stay byte for byte.
func TestUnchangedVideos(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newVideoSite(t, d)
		s.makeVault()
		webm := webmVideo()
		for name, c := range map[string]struct {
			file  []byte
			codec string
			plays bool
		}{
			"product-images/front.mp4":      {videoFile(testVideo{}), "avc1", true},
			"cover-images/hevc.mov":         {videoFile(testVideo{codec: "hvc1"}), "hvc1", false},
			"product-images/fragmented.mp4": {videoFile(testVideo{fragmented: true}), "avc1", true},
			"product-images/film.webm":      {webm, "VP9", true},
			"vault/behind.mp4":              {videoFile(testVideo{indexLast: true}), "", false},
		} {
			if rec := s.Call("service", "POST", "/object/"+name, bytes.NewReader(c.file)); rec.Code != 200 {
				t.Fatal(rec.Body)
			}
			if s.Count("jobs") != 0 {
				t.Errorf("%s: a job", name)
			}
			if got := s.Call("service", "GET", "/object/"+name, nil); !bytes.Equal(got.Body.Bytes(), c.file) {
				t.Errorf("%s: %d of %d bytes", name, got.Body.Len(), len(c.file))
			}
			got, isDescribed := s.description(files.PublicPath + name)
			if isDescribed != (c.codec != "") || isDescribed && (got.Kind != "video" || *got.Codec != c.codec || *got.Plays != c.plays || got.Width != 640 || got.Height != 360 || *got.Duration != 12.5 || got.Poster != "" || len(got.Version) != 16) {
				t.Errorf("%s: %t %+v", name, isDescribed, got)
			}
		}
		s.Holds(5)
	})
}

// Proves F-film-media.
func TestPosterOfAVideo(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newVideoSite(t, d)
		s.UploadFile("product-images/o%20mar.v2.MP4", videoFile(testVideo{}))
		const at = "https://site.example" + files.PublicPath + "product-images/o%20mar.v2.MP4"
		if got, _ := s.description(at); got.Poster != "" || got.Still != nil {
			t.Errorf("without a still: %+v", got)
		}
		s.UploadFile("product-images/o%20mar.v2.still.jpg", storagetest.Photo(400, 200))
		s.UploadFile("cover-images/o%20mar.v2.still.jpg", storagetest.Photo(40, 20))
		s.runJobs()
		got, _ := s.description(at + "?x=1#t=3")
		if got.Poster != "https://site.example"+files.PublicPath+"product-images/o%20mar.v2.still.jpg" || got.Still == nil || got.Still.Width != 400 || len(got.Still.Widths) != len(widths(400, 200)) || len(got.Still.Thumbhash) == 0 {
			t.Errorf("%+v %+v", got, got.Still)
		}
		if _, got := s.rendered("nobody", "public/product-images/o%20mar.v2.still.jpg?width=320"); got != "webp 320x160" {
			t.Error(got)
		}
	})
}

// between runs a function after a file is stored.
type between struct {
	Blobs
	do func()
}

func (b between) Put(ctx context.Context, id string, body io.Reader) (files.Blob, error) {
	stored, err := b.Blobs.Put(ctx, id, body)
	if b.do != nil {
		b.do()
	}
	return stored, err
}

// Proves F-film-replaced.
//
// If the owner uploads a new video while the old one is rewritten, the new one stays.
func TestVideoIsReplacedWhileItsIndexMoves(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newVideoSite(t, d)
		s.UploadFile("product-images/a.mp4", videoFile(testVideo{indexLast: true}))
		old, _ := s.media("product-images", "a.mp4")
		if err := s.cfg.Jobs.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Exec(t.Context(), "delete from jobs"); err != nil {
			t.Fatal(err)
		}
		store, next := s.blobs, videoFile(testVideo{codec: "av01"})
		s.blobs = between{store, func() {
			s.blobs = store
			s.UploadFile("product-images/a.mp4", next, "x-upsert", "true")
		}}
		if err := s.ArrangeVideo(t.Context(), fmt.Appendf(nil, `{"object_id":%q,"version":%q}`, old.ID, old.BlobID)); err != nil {
			t.Error(err)
		}
		if _, m := s.media("product-images", "a.mp4"); s.PublicFile("product-images/a.mp4") != string(next) || *m.Codec != "av01" || m.State != stateReady {
			t.Errorf("%+v", m)
		}
		s.Holds(1)
	})
}

// Proves F-film-range.
func TestRangesOfAVideo(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newVideoSite(t, d)
		file := videoFile(testVideo{frames: 2 << 20})
		s.UploadFile("product-images/a.mp4", file)
		o, _ := s.media("product-images", "a.mp4")
		n := len(file)
		for ranged, c := range map[string]struct {
			code     int
			from, to int // the range that is sent
		}{
			"":                                {200, 0, n},
			"bytes=0-1":                       {206, 0, 2}, // Safari's first request
			"bytes=0-":                        {206, 0, n},
			"bytes=-500":                      {206, n - 500, n},
			fmt.Sprintf("bytes=%d-", n-1):     {206, n - 1, n},
			fmt.Sprintf("bytes=5-%d", n+1000): {206, 5, n},
			fmt.Sprintf("bytes=%d-", n):       {416, 0, 0},
			"bytes=5-2":                       {416, 0, 0},
			"bytes=0-1,5-9":                   {200, 0, n}, // several ranges: the whole file
			"lines=1-2":                       {416, 0, 0},
		} {
			for _, method := range []string{"GET", "HEAD"} {
				rec := s.Call("nobody", method, "/object/public/product-images/a.mp4", nil, "Range", ranged)
				h := rec.Header()
				if rec.Code != c.code {
					t.Errorf("%s %q: %d", method, ranged, rec.Code)
					continue
				}
				if c.code == 416 {
					if ranged != "lines=1-2" && h.Get("Content-Range") != "bytes */"+fmt.Sprint(n) && ranged != "bytes=5-2" {
						t.Errorf("%s %q: %v", method, ranged, h)
					}
					continue
				}
				want := file[c.from:c.to]
				if h.Get("Content-Length") != fmt.Sprint(len(want)) || h.Get("ETag") != files.Quote(o.ETag) || h.Get("Accept-Ranges") != "bytes" || h.Get("Content-Type") != "video/mp4" {
					t.Errorf("%s %q: %v", method, ranged, h)
				}
				if c.code == 206 && h.Get("Content-Range") != fmt.Sprintf("bytes %d-%d/%d", c.from, c.to-1, n) {
					t.Errorf("%s %q: %s", method, ranged, h.Get("Content-Range"))
				}
				if method == "HEAD" {
					want = nil
				}
				if !bytes.Equal(rec.Body.Bytes(), want) {
					t.Errorf("%s %q: %d bytes", method, ranged, rec.Body.Len())
				}
			}
		}
		if rec := s.Call("nobody", "GET", "/object/public/product-images/a.mp4", nil, "If-None-Match", files.Quote(o.ETag), "Range", "bytes=0-1"); rec.Code != 304 {
			t.Error(rec.Code)
		}
		var all sync.WaitGroup
		for i := range 32 { // as a player does when it seeks
			all.Go(func() {
				from := i * n / 40
				r := httptest.NewRequestWithContext(t.Context(), "GET", "/storage/v1/object/public/product-images/a.mp4", nil)
				r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, from+99_999))
				rec := httptest.NewRecorder()
				s.HTTP.ServeHTTP(rec, r)
				if rec.Code != 206 || !bytes.Equal(rec.Body.Bytes(), file[from:min(n, from+100_000)]) {
					t.Errorf("from %d: %d, %d bytes", from, rec.Code, rec.Body.Len())
				}
			})
		}
		all.Wait()
	})
}

// Proves F-film-verify.
func TestVerifyAndRebuildVideos(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newVideoSite(t, d)
		s.UploadFile("product-images/a.mp4", videoFile(testVideo{indexLast: true}))
		s.UploadFile("product-images/b.mp4", storagetest.ISO("isom"))
		var problems []string
		report := func(_, _ int, _, problem string) error {
			problems = append(problems, problem)
			return nil
		}
		check := func(rebuild bool, a, b string) {
			t.Helper()
			problems = nil
			do := s.VerifyMedia
			if rebuild {
				do = func(ctx context.Context, report Progress) (int, error) { return s.RebuildMedia(ctx, false, report) }
			}
			if _, err := do(t.Context(), report); err != nil || len(problems) != 2 || problems[0] != a || problems[1] != b {
				t.Errorf("%v, %q", err, problems)
			}
		}
		check(false, "its index is at the end of the file", reasonText(reasonUnreadableVideo))
		check(true, "", reasonText(reasonUnreadableVideo))
		check(false, "", reasonText(reasonUnreadableVideo))
		if s.PublicFile("product-images/a.mp4") != string(videoFile(testVideo{})) {
			t.Error("the index is not in front")
		}
		s.runJobs() // the upload's own job, which comes too late
		if _, err := d.Exec(t.Context(), "update media set width = 1, duration = 3"); err != nil {
			t.Fatal(err)
		}
		check(false, "its row does not match the file", reasonText(reasonUnreadableVideo))
		check(true, "", reasonText(reasonUnreadableVideo))
		check(false, "", reasonText(reasonUnreadableVideo))
		// Videos from before this program read them are read at its first start.
		for range 2 {
			if _, err := d.Exec(t.Context(), "delete from media"); err != nil {
				t.Fatal(err)
			}
			if err := s.EnsureMedia(t.Context()); err != nil || s.Count("media") != 2 {
				t.Errorf("%v, %d rows", err, s.Count("media"))
			}
		}
		check(false, "", reasonText(reasonUnreadableVideo))
		if _, err := d.Exec(t.Context(), "update storage_objects set etag = 'other' where name = 'a.mp4'"); err != nil {
			t.Fatal(err)
		}
		check(false, "the video: the file has changed", reasonText(reasonUnreadableVideo))
		s.Holds(2)
	})
}

// Proves F-film-refused.
//
// A video with false data never stops the site and is never ignored: it is refused, marked as failed, or, if only its frames are broken, played
// up to them.
func TestHostileVideos(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a large corpus")
	}
	ftyp := isoBox("ftyp", []byte("isom"), words(512), []byte("isommp41"))
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	good := videoFile(testVideo{indexLast: true})
	many := bytes.Repeat(isoBox("free"), 1_000_000)
	large := func(kind string, size uint64) []byte {
		return join(words(1), []byte(kind), binary.BigEndian.AppendUint64(nil, size))
	}
	var deep []byte
	for left := uint32(7 << 20); left > 0; left -= 8 {
		deep = append(binary.BigEndian.AppendUint32(deep, left), "trak"...)
	}
	files := map[string]struct {
		file []byte
		want string // a state, or "cut"
	}{
		"cut in the index":           {good[:len(good)-40], "cut"},
		"cut in the pictures":        {good[:200], "cut"},
		"pictures beyond any file":   {join(ftyp, large("mdat", math.MaxInt64)), "cut"},
		"pictures beyond 63 bits":    {join(ftyp, large("mdat", math.MaxUint64)), stateFailed},
		"an index of 2 GB":           {join(ftyp, words(1<<31), []byte("moov")), "cut"},
		"an index of no bytes":       {join(ftyp, words(8), []byte("moov")), stateFailed},
		"an index to the end":        {join(ftyp, words(0), []byte("moov"), make([]byte, 500)), stateFailed},
		"a box of 3 bytes":           {join(ftyp, words(3), []byte("mdat")), stateFailed},
		"no index":                   {join(ftyp, isoBox("mdat", make([]byte, 900))), stateFailed},
		"two indexes":                {join(good, good[len(ftyp):]), stateFailed},
		"a million boxes":            {join(ftyp, many[:7<<20], isoBox("moov")), stateFailed},
		"a million boxes within":     {videoFile(testVideo{indexLast: true, more: many[:7<<20]}), stateFailed},
		"indexes in indexes":         {videoFile(testVideo{indexLast: true, more: deep}), stateReady},
		"offsets without end":        {videoFile(testVideo{indexLast: true, offsets: isoBox("stco", words(0, math.MaxUint32))}), stateFailed},
		"offsets that wrap":          {videoFile(testVideo{indexLast: true, offsets: isoBox("co64", words(0, 1, math.MaxUint32, math.MaxUint32))}), stateFailed},
		"offsets beyond the file":    {videoFile(testVideo{indexLast: true, offsets: isoBox("stco", words(0, 2, math.MaxUint32, 1<<31))}), stateReady},
		"a compressed index":         {videoFile(testVideo{indexLast: true, more: isoBox("cmov", words(9))}), stateFailed},
		"sound alone":                {join(ftyp, isoBox("mdat"), isoBox("moov", isoBox("mvhd", make([]byte, 100)))), stateFailed},
		"a codec of control signs":   {videoFile(testVideo{indexLast: true, codec: "\x00\xff\x01\n"}), stateReady},
		"text behind the header":     {join(ftyp, []byte("<script>alert(1)</script>")), stateFailed},
		"nothing behind the header":  {ftyp, stateFailed},
		"pictures to the end, twice": {join(ftyp, words(0), []byte("mdat"), good), stateFailed},
		"Matroska":                   {storagetest.EBML("matroska"), stateFailed},
		"WebM of noise":              {storagetest.EBML("webm"), stateFailed},
		"WebM cut short":             {webmVideo()[:60], stateFailed},
		"WebM of a huge part":        {append(webmVideo()[:32], 0x16, 0x54, 0xae, 0x6b, 0x01, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff), stateFailed},
		"WebM in WebM":               {bytes.Repeat(append([]byte{0x18, 0x53, 0x80, 0x67}, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), 20_000), ""},
	}
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newVideoSite(t, d)
		for name, c := range files {
			t.Run(name, func(t *testing.T) {
				begin := time.Now()
				object := "a" + strings.ReplaceAll(name, " ", "-")
				rec := s.Call("admin", "POST", "/object/product-images/"+object, bytes.NewReader(c.file))
				if rec.Code >= 500 {
					t.Fatalf("%d %s", rec.Code, rec.Body)
				}
				if c.want == "" {
					storagetest.Refused(t, rec, "415", "invalid_mime_type")
					return
				}
				if c.want == "cut" {
					rec = s.Call("admin", "POST", "/object/product-images/"+object, bytes.NewReader(c.file), "Accept-Language", "pt")
					if e := storagetest.Refused(t, rec, "415", "invalid_mime_type"); !strings.Contains(e.Message, "falta-lhe o fim") {
						t.Error(e.Message)
					}
					return
				}
				if rec.Code != 200 {
					t.Fatalf("%d %s", rec.Code, rec.Body)
				}
				s.runJobs()
				_, m := s.media("product-images", object)
				if m.State != c.want || (m.State == stateFailed) != (m.Reason != "") {
					t.Errorf("%s %q, want %s", m.State, m.Reason, c.want)
				}
				if _, err := s.Describe(t.Context(), []string{"/storage/v1/object/public/product-images/" + object}, true); err != nil {
					t.Error(err)
				}
				if rec := s.Call("nobody", "GET", "/object/public/product-images/"+object, nil, "Range", "bytes=0-1"); rec.Code != 206 {
					t.Error(rec.Code)
				}
				if took := time.Since(begin); took > time.Minute {
					t.Errorf("took %s", took)
				}
			})
		}
		if failed := s.Count("storage_trash"); failed != 0 {
			t.Errorf("%d blobs are still pending", failed)
		}
	})
}

// webmVideo is a VP9 video of 640 by 360 pixels and 12.5 s without frames.
func webmVideo() []byte {
	element := func(id string, parts ...[]byte) []byte {
		body := bytes.Join(parts, nil)
		return append(append([]byte(id), 0x10, byte(len(body)>>16), byte(len(body)>>8), byte(len(body))), body...)
	}
	return append(element("\x1a\x45\xdf\xa3", element("\x42\x82", []byte("webm"))), element("\x18\x53\x80\x67",
		element("\x15\x49\xa9\x66", element("\x2a\xd7\xb1", []byte{0x0F, 0x42, 0x40}), element("\x44\x89", binary.BigEndian.AppendUint64(nil, math.Float64bits(12_500)))),
		element("\x16\x54\xae\x6b", element("\xae", element("\x83", []byte{1}), element("\x86", []byte("V_VP9")), element("\xe0", element("\xb0", []byte{2, 0x80}), element("\xba", []byte{1, 0x68})))),
		element("\x1f\x43\xb6\x75", make([]byte, 300)))...)
}

func sum256(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
