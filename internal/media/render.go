package media

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"atelie/internal/content"
	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/media/rendition"
	"atelie/internal/policy"
)

// This file handles requests for renditions (copies of a picture in another size, shape or format). A missing rendition is made. If that
// takes too long, the response is a substitute (an existing picture, as similar in size as possible).

// defaultRenderTimeout limits how long a request waits for a missing rendition, and how long making the rendition may take. A request of
// the site's own pages waits only for defaultSubstituteDelay, and then gets a substitute.
const (
	defaultRenderTimeout   = 25 * time.Second
	defaultSubstituteDelay = 1500 * time.Millisecond
)

// maxNewSizes is how many missing renditions in arbitrary sizes the clients of one IPv4 address or IPv6 /64 network can request in each
// newSizeWindow. Requests for arbitrary sizes need an API key or a signed URL. The site's own pages do not send such requests.
const (
	maxNewSizes   = 120
	newSizeWindow = 10 * time.Minute
)

// request is one request for a rendition.
type request struct {
	object     objectName
	transform  transform
	urlVersion string // v parameter of the URL: the first 16 digits of the SHA-256 of the object's file; "" if missing
	exact      bool   // true: the requested size is made; false: the size is replaced by one from the ladder (the standard widths)
	private    bool   // no shared cache may store the response
}

// isFromSitePage reports whether the URL has the form that the site's own pages use. Pages prefer a substitute of another size to a long
// wait. The result is false for tiles and share pictures, because they have only one size.
func (r request) isFromSitePage() bool {
	return r.urlVersion != "" && !r.exact && r.transform.tile == nil && r.transform.Resize != frameMode
}

// useInterval is the minimum time between two updates of a rendition's time of use. The time of use matters only for renditions that were
// made on request: if they take too much space, the least recently used ones are deleted.
const useInterval = time.Hour

// servedRows are the database rows from which a request to a public URL was served. The row cache stores them, so that the same request
// can be served again without a query, and during an outage of the database.
type servedRows struct {
	object    files.Object
	rendition servedPicture
	isCurrent bool      // the URL names the object's current content (v parameter)
	expires   time.Time // when the rows must be read again although the content has not changed; zero means never
}

func (rows servedRows) size() int {
	const fixed = 700 // estimated bytes of ids, checksums, times and the cache entry itself
	return fixed + 2*len(rows.object.Name) + len(rows.object.CacheControl) + len(rows.rendition.Name) + len(rows.rendition.content)
}

// RenderPublic handles GET and HEAD /storage/v1/render/image/public/{bucket}/{path...}. It snaps requested sizes to the
// ladder, so that anonymous callers cannot make the server produce renditions without limit.
func (s *Service) RenderPublic(w http.ResponseWriter, r *http.Request) error {
	return s.rows.Serve(w, r, rowKey(r), func(remember func(servedRows)) error {
		req, err := s.readRequest(r, false) // false: sizes are snapped to the ladder
		if err != nil {
			return err
		}
		return s.serve(w, r, req, remember)
	}, func(rows servedRows) error {
		return s.sendFile(w, r, false, rows) // false: the rendition is public
	})
}

// Render handles requests for renditions of objects that the caller may read, in any size.
func (s *Service) Render(w http.ResponseWriter, r *http.Request) error {
	req, err := s.readRequest(r, true) // true: sizes are made as requested
	if err != nil {
		return err
	}
	return s.serve(w, r, req, func(servedRows) {}) // private responses are not cached
}

// RenderTransform responds with the rendition that the token of a signed URL names. text is the transform in the token, as JSON.
func (s *Service) RenderTransform(w http.ResponseWriter, r *http.Request, text json.RawMessage) error {
	req := request{object: objectName{r.PathValue("bucket"), r.PathValue("path")}, urlVersion: r.URL.Query().Get("v"), exact: true, private: true}
	if err := json.Unmarshal(text, &req.transform); err != nil {
		return err
	}
	if _, err := s.bucketIsPublic(r.Context(), req.object.Bucket); err != nil {
		return err
	}
	if err := s.checkRequest(r, req); err != nil {
		return err
	}
	return s.serve(w, r, req, func(servedRows) {})
}

// RenderPrivate responds with a rendition of a picture, in the smallest width of the ladder that is not below width pixels, or else in the
// largest one. A width of 0 means the picture's own width. The caller has checked that the picture may be seen.
func (s *Service) RenderPrivate(w http.ResponseWriter, r *http.Request, bucket, name string, width int) error {
	if s.cfg.Engine == nil {
		return files.ErrNotSupported("render/image")
	}
	req := request{object: objectName{bucket, name}, transform: transform{Width: width}, private: true}
	return s.serve(w, r, req, func(servedRows) {})
}

// readRequest reads and checks a request. The bucket must be public or, if exact is true, readable for the caller.
func (s *Service) readRequest(r *http.Request, exact bool) (request, error) {
	req := request{object: objectName{r.PathValue("bucket"), r.PathValue("path")}, urlVersion: r.URL.Query().Get("v"), exact: exact, private: exact}
	public, err := s.bucketIsPublic(r.Context(), req.object.Bucket)
	switch {
	case err != nil:
		return req, err
	case !exact && !public:
		return req, files.ErrNoBucket
	case exact && !policy.Object(identity.Of(r.Context()), req.object.Bucket, policy.FileRead):
		return req, files.ErrNoObject
	}
	if err := s.checkRequest(r, req); err != nil {
		return req, err
	}
	req.transform, err = parseTransform(r.URL.Query())
	return req, err
}

// checkRequest returns an error for a request that is invalid for every picture.
func (s *Service) checkRequest(r *http.Request, req request) error {
	switch {
	case s.cfg.Engine == nil:
		return files.ErrNotSupported("render/image")
	case r.URL.Query().Has("versionId"):
		return files.ErrNotSupported("versionId")
	case !files.ValidName(req.object.Name):
		return files.ErrInvalidKey(req.object.Name)
	}
	return nil
}

func (s *Service) bucketIsPublic(ctx context.Context, id string) (bool, error) {
	if !files.Storable(id) {
		return false, files.ErrNoBucket
	}
	public, err := bucketIsPublic(ctx, s.db, id)
	return public, db.NoRowsAs(err, files.ErrNoBucket)
}

// serve responds with a rendition, which it makes if necessary. It calls remember with the rows from which it serves the
// request.
func (s *Service) serve(w http.ResponseWriter, r *http.Request, req request, remember func(servedRows)) error {
	access, err := s.cfg.Access.Check(r, req.object.Bucket, req.object.Name)
	if err != nil {
		return err
	}
	if access == files.AccessOwner {
		req.private, remember = true, func(servedRows) {}
	}
	for range 5 { // try again if the picture is replaced after its row was read and before its file is opened
		rows, err := s.findRows(r, req)
		if err != nil {
			return err
		}
		remember(rows)
		if err := s.sendFile(w, r, req.private, rows); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return files.ErrNoObject
}

// findRows returns the rows of the requested rendition, which it makes if necessary. For a rendition that can be evicted it updates
// the time of use, once per useInterval.
func (s *Service) findRows(r *http.Request, req request) (rows servedRows, err error) {
	if rows.object, rows.rendition, err = s.findOrMake(r, req); err != nil {
		return rows, err
	}
	rows.isCurrent = req.urlVersion != "" && req.urlVersion == urlVersion(rows.object)
	now, found := s.now(), &rows.rendition
	if found.isFallback {
		rows.expires = now.Add(fallbackLifetime)
	}
	if found.Eager || found.isSubstitute {
		return rows, nil
	}
	if now.Sub(found.UsedAt) >= useInterval {
		s.recordUse(r.Context(), found.BlobID, now)
		found.UsedAt = now
	}
	if next := found.UsedAt.Add(useInterval); rows.expires.IsZero() || next.Before(rows.expires) {
		rows.expires = next
	}
	return rows, nil
}

// recordUse updates the time of use of a rendition, unless the disk is full. An error does not fail the request, because the time only
// decides which rendition is evicted first, and reading can be possible when writing is not.
func (s *Service) recordUse(ctx context.Context, blobID string, now time.Time) {
	if s.cfg.Full != nil && s.cfg.Full() {
		return
	}
	if err := touchRendition(ctx, s.db, blobID, now); err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "the use of a rendition was not recorded", "blob", blobID, "cause", err.Error())
	}
}

// sendFile responds with a rendition. private is request.private. An error means that nothing was written; it is fs.ErrNotExist if
// the file was removed.
func (s *Service) sendFile(w http.ResponseWriter, r *http.Request, private bool, rows servedRows) error {
	found := rows.rendition
	body := files.Body{Bytes: found.content}
	var err error
	switch {
	case found.content != nil:
	case private: // files of private requests are not kept in memory
		body.File, err = s.blobs.Open(r.Context(), found.BlobID)
	default:
		body, err = s.blobs.OpenPublic(r.Context(), files.Blob{ID: found.BlobID, Size: found.Size, ETag: found.ETag})
	}
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }() // it was only read
	cacheControl := "public, max-age=300"
	switch {
	case found.isSubstitute && private:
		cacheControl = "private, no-cache"
	case found.isSubstitute:
		cacheControl = "no-cache"
	case private:
		cacheControl = "private, max-age=300"
	case rows.isCurrent:
		cacheControl = "public, max-age=31536000, immutable"
	}
	h := w.Header()
	h.Add("Vary", "Accept")
	files.SetHeaders(h, found.mime, cacheControl, found.ETag[:32])
	if found.transformations != "" {
		h["X-Transformations"] = []string{found.transformations}
	}
	if strings.Contains(r.URL.RawQuery, "download") && r.URL.Query().Has("download") {
		files.SetAttachment(h, r.URL.Query().Get("download"))
	}
	body.Write(w, r, time.Time{})
	return nil
}

// urlVersion returns the version of an object's content in URLs: the first 16 digits of its SHA-256.
func urlVersion(o files.Object) string { return o.ETag[:min(16, len(o.ETag))] }

// servedPicture is the picture that is sent for a request for a rendition: that rendition, or a substitute.
type servedPicture struct {
	renditionRow

	mime            string
	transformations string // value of the X-Transformations header; "" for substitutes
	isSubstitute    bool   // another picture than the requested rendition
	isFallback      bool   // another format would have been better, but does not exist yet
	content         []byte // the bytes, if they are not in the store; else nil
}

// findOrMake finds the requested rendition, and makes it if there is none. If that takes too long, it returns a substitute.
func (s *Service) findOrMake(r *http.Request, req request) (files.Object, servedPicture, error) {
	ctx := r.Context()
	o, m, err := findMediaObject(ctx, s.db, req.object.Bucket, req.object.Name)
	if err != nil {
		return o, servedPicture{}, db.NoRowsAs(err, files.ErrNoObject)
	}
	if m == nil {
		if t := files.TypeOf(o.MimeType); t == nil || !t.Image {
			return o, servedPicture{}, errNoPicture
		}
		if m, err = s.addMedia(ctx, o); err != nil {
			return o, servedPicture{}, err
		}
	}
	switch {
	case m.Kind != "image":
		return o, servedPicture{}, errNoPicture
	case m.State == stateFailed:
		return o, servedPicture{}, errCannotBeShown(m.Reason)
	}
	wanted, err := s.wantedRecipes(m, req, r.Header.Get("Accept"), o.MimeType)
	if err != nil {
		return o, servedPicture{}, err
	}
	found, err := firstRendition(ctx, s.db, m.ObjectID, wanted)
	if err == nil && found == nil {
		found, err = s.obtain(ctx, o, m, wanted[len(wanted)-1], req)
	}
	if errors.Is(err, errNotYet) {
		other, err := s.findSubstitute(ctx, o, m, wanted[len(wanted)-1].order)
		return o, other, err
	}
	if err != nil {
		return o, servedPicture{}, err
	}
	return o, servedPicture{
		renditionRow: *found, mime: mediaTypes[found.Format], isFallback: found.Name != wanted[0].name,
		transformations: req.transform.transformationsHeader(wanted[len(wanted)-1].order, req.exact),
	}, nil
}

// firstRendition returns the first of the wanted renditions that exists, or nil.
func firstRendition(ctx context.Context, d *db.DB, objectID string, wanted []recipe) (*renditionRow, error) {
	names := make([]string, len(wanted))
	for i, w := range wanted {
		names[i] = w.name
	}
	existing, err := findRenditions(ctx, d, objectID, names)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if i := slices.IndexFunc(existing, func(t renditionRow) bool { return t.Name == name }); i >= 0 {
			return &existing[i], nil
		}
	}
	return nil, nil
}

// wantedRecipes returns the renditions that can be sent for a request, the best first. If none exists, the last one is made.
func (s *Service) wantedRecipes(m *media, req request, accept, source string) (out []recipe, err error) {
	if t := req.transform.tile; t != nil {
		o, ok := tileOrder(m.Facts.Width, m.Facts.Height, t[0], t[1])
		if !ok {
			return nil, errNoTile
		}
		return []recipe{eagerRecipe(o)}, nil
	}
	order := req.transform.order(m.Facts.Width, m.Facts.Height, req.exact)
	for _, f := range req.transform.formatsFor(accept, source, m.Facts.Alpha) {
		if order.Format = f; f == rendition.AVIF && !s.cfg.Engine.AVIF() {
			if req.transform.Format == "avif" {
				return nil, files.ErrNotSupported("AVIF")
			}
			continue
		}
		if f == rendition.PNG { // PNG is lossless and has no quality
			order.Quality = 0
		}
		out = append(out, recipe{name: nameOf(order), order: order})
	}
	return out, nil
}

// errNotYet is returned for a rendition that was not made in time. The request then gets a substitute.
var errNotYet = errors.New("the rendition is not made yet")

// obtain makes a rendition, once for all callers and nodes, and waits for it. Requests of the site's pages wait only for
// substituteDelay. If the picture's jobs have not finished, such a request waits at most for the picture's first size, and the
// result is errNotYet.
func (s *Service) obtain(ctx context.Context, o files.Object, m *media, w recipe, req request) (*renditionRow, error) {
	wait := s.renderTimeout
	pending := m.State == stateWaiting && s.cfg.Jobs != nil && files.SiteBucket(o.Bucket)
	if req.isFromSitePage() {
		wait = s.substituteDelay
		if pending {
			if m.isDecoded() || (o.Size <= smallFileBytes && !files.TypeOf(o.MimeType).KeepsMetadata) { // there is a substitute to show
				return nil, errNotYet
			}
			w = eagerRecipe(widthOrder(firstWidths(m.Facts.Width, m.Facts.Height)[0], rendition.WebP))
		}
	}
	if req.exact {
		if err := s.countNewSize(ctx); err != nil {
			return nil, err
		}
	}
	if f, ok := s.failures.Get(content.Versions{}, m.Version+"/"+w.name); ok && s.now().Before(f.expires) {
		return nil, f.err
	}
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	found, err := s.makeOnce(limited, m, w)
	switch {
	case errors.Is(err, errObsolete):
		return nil, files.ErrNoObject.Because(err)
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return nil, errNotYet
	case err == nil && req.isFromSitePage() && pending: // the first size was made, which may not be the requested size
		return nil, errNotYet
	}
	return found, err
}

// makeOnce makes a rendition once for all concurrent callers in this process. It continues when the callers have left,
// because the next request needs the rendition too.
func (s *Service) makeOnce(ctx context.Context, m *media, w recipe) (*renditionRow, error) {
	key := m.Version + "/" + w.name
	done := s.making.DoChan(key, func() (any, error) {
		s.running.Add(1)
		defer s.running.Done()
		work, end := context.WithTimeout(s.lifetime, s.renderTimeout)
		defer end()
		return s.makeNow(work, key, m, w)
	})
	select {
	case r := <-done:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*renditionRow), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// makeNow makes a rendition and those that are made with it (recipesMadeWith), unless another node has already made it.
func (s *Service) makeNow(ctx context.Context, key string, m *media, w recipe) (found *renditionRow, err error) {
	err = s.withLease(ctx, m.ObjectID, m.Version, func(ctx context.Context, o files.Object, m *media) error {
		if found, err = firstRendition(ctx, s.db, m.ObjectID, []recipe{w}); err != nil || found != nil {
			return err
		}
		wanted, stage := recipesMadeWith(o, m, w)
		if wanted, err = s.listMissing(ctx, m, wanted); err != nil {
			return err
		}
		if err := s.produce(ctx, o, m, wanted, stage); err != nil {
			if files.IsRefusal(err) {
				s.failures.Put(content.Versions{}, key, failure{err, s.now().Add(failureLifetime)})
			}
			return err
		}
		found, err = firstRendition(ctx, s.db, m.ObjectID, []recipe{w})
		return err
	})
	if err == nil && found == nil {
		err = errObsolete
	}
	if err == nil && !found.Eager {
		err = s.evict(ctx)
	}
	return found, err
}

// recipesMadeWith returns the renditions that are made together with w, from one decoded source: all renditions of the stage to
// which w belongs, or w alone if it belongs to no stage. The share picture has no substitute, so it is made alone, without the ladder.
func recipesMadeWith(o files.Object, m *media, w recipe) (wanted []recipe, stage int) {
	if share := eagerRecipe(shareOrder()); w.name == share.name {
		return []recipe{share}, onDemand
	}
	width, height := m.Facts.Width, m.Facts.Height
	for stage := range stageAVIF {
		all := recipes(stage, o.Bucket, width, height)
		if slices.ContainsFunc(all, func(r recipe) bool { return r.name == w.name }) {
			return all, stage
		}
	}
	return []recipe{w}, onDemand
}

// countNewSize counts a new size for the client's IP address or network. It returns errManySizes beyond maxNewSizes.
func (s *Service) countNewSize(ctx context.Context) error {
	hits, err := s.db.Hit(ctx, "new picture size", httpx.LimitSubject(ctx), newSizeWindow, s.now())
	if err == nil && hits > maxNewSizes {
		return errManySizes.Becausef("%d in %s", hits, newSizeWindow)
	}
	return err
}

// evict removes the least recently used of the renditions that were made on request, until the total size of the remaining
// ones is within Config.MaxLazyBytes.
func (s *Service) evict(ctx context.Context) error {
	sum, err := lazyBytes(ctx, s.db)
	for err == nil && sum > s.cfg.MaxLazyBytes {
		err = s.db.WithTx(ctx, func(tx *db.Tx) error {
			blobID, size, err := deleteOldestLazy(ctx, tx)
			if err != nil {
				return err
			}
			sum -= size
			return s.blobs.Discard(ctx, tx, blobID)
		})
	}
	return db.NoRowsAs(err, nil)
}
