package storage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
	"atelie/internal/storage/rendition"
)

// renderTime is how long a request may wait for a rendition that nobody has made yet.
const renderTime = 25 * time.Second

// New sizes that one visitor may have made: other pages than ours ask with a signature or a key.
const (
	maxNewSizes   = 120
	newSizeWindow = 10 * time.Minute
)

// rendering is one request for a rendition. free means sizes as they were asked for, private that no shared cache may
// keep it.
type rendering struct {
	object  address
	wish    transform
	version string // what the address says it is, the first 16 digits of the object's etag
	free    bool
	private bool
}

// RenderPublic answers GET and HEAD /storage/v1/render/image/public/{bucket}/{path...}. Sizes off the ladder are snapped to it, so
// that nobody can have a million of them made.
func (s *Service) RenderPublic(w http.ResponseWriter, r *http.Request) error {
	if s.fromCache(w, r) {
		return nil
	}
	return s.render(w, r, func(b bucket) error {
		if !b.Public {
			return errNoBucket
		}
		return nil
	}, nil, false)
}

// Render answers the same of what the caller's token may read, in any size.
func (s *Service) Render(w http.ResponseWriter, r *http.Request) error {
	caller := identity.Of(r.Context())
	return s.render(w, r, func(b bucket) error {
		if !policy.Object(caller, b.ID, policy.FileRead) {
			return errNoObject
		}
		return nil
	}, nil, true)
}

// RenderSigned answers /storage/v1/render/image/sign/{bucket}/{path...}: the token opens the one rendition that it names.
func (s *Service) RenderSigned(w http.ResponseWriter, r *http.Request) error {
	claims, err := s.signed(forRender, r.URL.Query().Get("token"), r.PathValue("bucket"), r.PathValue("path"))
	if err != nil {
		return err
	}
	if claims.Transform == nil {
		return errBadSigned.Becausef("no transform")
	}
	return s.render(w, r, func(bucket) error { return nil }, claims.Transform, true)
}

func (s *Service) render(w http.ResponseWriter, r *http.Request, visible func(bucket) error, signed *transform, free bool) error {
	b, err := s.bucket(r.Context(), r.PathValue("bucket"))
	if err != nil {
		return err
	}
	if err := visible(b); err != nil {
		return err
	}
	query := r.URL.Query()
	switch name := r.PathValue("path"); {
	case s.cfg.Engine == nil:
		return errNotOffered("render/image")
	case query.Has("versionId"):
		return errNotOffered("versionId")
	case !validName(name):
		return errInvalidKey(name)
	}
	req := rendering{object: address{b.ID, r.PathValue("path")}, version: query.Get("v"), free: free, private: free}
	if signed != nil {
		req.wish = *signed
	} else if req.wish, err = readTransform(query); err != nil {
		return err
	}
	return s.answer(w, r, req)
}

// answer sends a rendition, made now when there is none yet.
func (s *Service) answer(w http.ResponseWriter, r *http.Request, req rendering) error {
	for range 5 { // the picture may be replaced between its row and its file
		o, found, err := s.rendition(r, req)
		if err != nil {
			return err
		}
		f, err := s.blobs.Open(r.Context(), found.BlobID)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		return errors.Join(s.send(w, r, req, o, found, f), f.Close())
	}
	return errNoObject
}

func (s *Service) send(w http.ResponseWriter, r *http.Request, req rendering, o Object, found made, f io.ReadSeeker) error {
	if !found.Eager && s.now().Sub(found.UsedAt) > time.Hour {
		if err := touchMade(r.Context(), s.db, found.BlobID, s.now()); err != nil {
			return err
		}
	}
	c := cached{etag: quoted(found.ETag[:32]), mime: mediaTypes[found.Format], control: "public, max-age=300"}
	current := req.version != "" && req.version == version(o)
	switch {
	case found.substitute:
		c.control = "no-cache"
	case req.private:
		c.control = "private, max-age=300"
	case current:
		c.control = "public, max-age=31536000, immutable"
	}
	if current && !req.private && !found.substitute && found.Size <= maxCached {
		var err error
		if c.bytes, err = io.ReadAll(f); err != nil {
			return err
		}
		f = bytes.NewReader(c.bytes)
		c.object, c.version, c.checked = req.object, o.BlobID, s.now()
		s.cache.put(cacheKey(r), &c)
	}
	c.write(w, r, f)
	return nil
}

// version is how addresses name a content: the first 16 digits of its SHA-256.
func version(o Object) string { return o.ETag[:min(16, len(o.ETag))] }

// write sends the bytes with the headers of a rendition; ranges and conditions are net/http's (RFC 9110 §13, §14).
func (c *cached) write(w http.ResponseWriter, r *http.Request, f io.ReadSeeker) {
	h := w.Header()
	h.Add("Vary", "Accept")
	h["Content-Type"] = []string{c.mime}
	h["X-Content-Type-Options"] = noSniff
	h["Content-Security-Policy"] = sandbox
	h["Cache-Control"] = []string{c.control}
	h["Etag"] = []string{c.etag}
	if strings.Contains(r.URL.RawQuery, "download") && r.URL.Query().Has("download") {
		h.Set("Content-Disposition", attachment(r.URL.Query().Get("download")))
	}
	if c.bytes != nil && plain(r) { // at one go; ServeContent copies piece by piece
		h["Accept-Ranges"] = bytesUnit
		h["Content-Length"] = []string{strconv.Itoa(len(c.bytes))}
		if _, err := w.Write(c.bytes); err != nil {
			slog.DebugContext(r.Context(), "rendition not delivered", "cause", err) // the visitor has gone
		}
		return
	}
	if strings.Contains(r.Header.Get("Range"), ",") { // several ranges may be ignored
		r = r.Clone(r.Context())
		r.Header.Del("Range")
	}
	http.ServeContent(w, r, "", time.Time{}, f)
}

// plain tells a request for the whole without conditions.
func plain(r *http.Request) bool {
	for _, name := range [...]string{"Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"} {
		if len(r.Header[name]) > 0 {
			return false
		}
	}
	return r.Method == http.MethodGet
}

var (
	bytesUnit = []string{"bytes"}
	noSniff   = []string{"nosniff"}
	sandbox   = []string{"default-src 'none'; sandbox"}
)

// rendition finds what a request asks for, and has it made when there is none.
func (s *Service) rendition(r *http.Request, req rendering) (Object, made, error) {
	ctx := r.Context()
	o, m, err := findShown(ctx, s.db, req.object.Bucket, req.object.Name)
	if errors.Is(err, db.ErrNoRows) {
		return o, made{}, errNoObject
	}
	if err != nil {
		return o, made{}, err
	}
	if m == nil {
		if m, err = s.ensure(ctx, o); err != nil {
			return o, made{}, err
		}
	}
	switch {
	case m.Kind != "image":
		return o, made{}, errNoPicture
	case m.State == failed:
		return o, made{}, errPicture(m.Reason)
	}
	wanted, err := s.wanted(m, req, r.Header.Get("Accept"), o.MimeType)
	if err != nil {
		return o, made{}, err
	}
	names := make([]string, len(wanted))
	for i, w := range wanted {
		names[i] = w.name
	}
	there, err := findMade(ctx, s.db, m.ObjectID, names)
	if err != nil {
		return o, made{}, err
	}
	for _, name := range names {
		if i := slices.IndexFunc(there, func(t made) bool { return t.Name == name }); i >= 0 {
			return o, there[i], nil
		}
	}
	found, err := s.obtain(ctx, m, wanted[len(wanted)-1], req)
	return o, found, err
}

// wanted lists the renditions that would do, the best first; the last one is what is made when there is none.
func (s *Service) wanted(m *media, req rendering, accept, source string) (out []recipe, err error) {
	if t := req.wish.tile; t != nil {
		o, ok := tileOrder(m.Facts.Width, m.Facts.Height, t[0], t[1])
		if !ok {
			return nil, errNoTile
		}
		return []recipe{eager(o)}, nil
	}
	order := req.wish.order(m.Facts.Width, m.Facts.Height, req.free)
	for _, f := range req.wish.formatsFor(accept, source) {
		if order.Format = f; f == rendition.AVIF && !s.cfg.Engine.AVIF() {
			if req.wish.Format == "avif" {
				return nil, errNotOffered("AVIF")
			}
			continue
		}
		out = append(out, asked(order))
	}
	return out, nil
}

// obtain has a rendition made: once over all callers and nodes. Who would wait too long gets the nearest one that exists.
func (s *Service) obtain(ctx context.Context, m *media, w recipe, req rendering) (found made, err error) {
	if req.free {
		if err := s.mayMake(ctx); err != nil {
			return made{}, err
		}
	}
	key := m.Version + "/" + w.name
	if err := s.refusals.get(key, s.now()); err != nil {
		return made{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, renderTime)
	defer cancel()
	err = s.alone(ctx, m.ObjectID, m.Version, func(ctx context.Context, o Object, m *media) error {
		there, err := findMade(ctx, s.db, m.ObjectID, []string{w.name})
		if err != nil {
			return err
		}
		if len(there) == 0 {
			wanted, facts := s.along(o, m, w)
			// What has begun is finished when the visitor leaves: the next one wants it too.
			work, end := context.WithTimeout(context.WithoutCancel(ctx), renderTime)
			defer end()
			if wanted, err = s.missing(work, m, wanted); err != nil {
				return err
			}
			if err := s.produce(work, o, m, wanted, facts); err != nil {
				if refusal(err) {
					s.refusals.put(key, err, s.now())
				}
				return err
			}
			if there, err = findMade(work, s.db, m.ObjectID, []string{w.name}); err != nil {
				return err
			}
		}
		if len(there) == 0 {
			return errObsolete
		}
		found = there[0]
		return nil
	})
	switch {
	case err == nil && !found.Eager:
		return found, s.evict(context.WithoutCancel(ctx))
	case errors.Is(err, errObsolete):
		return made{}, errNoObject.Because(err)
	case errors.Is(err, context.DeadlineExceeded):
		return s.nearest(context.WithoutCancel(ctx), m, w)
	}
	return found, err
}

// along is what is made together with a rendition, in one decode: the whole ladder of a picture of the site that has
// none yet, all tiles with one.
func (s *Service) along(o Object, m *media, w recipe) (wanted []recipe, facts bool) {
	width, height := m.Facts.Width, m.Facts.Height
	for stage := range stageAVIF {
		all := recipes(stage, o.Bucket, width, height)
		if slices.ContainsFunc(all, func(r recipe) bool { return r.name == w.name }) {
			return all, stage == stageLadder && m.State == waiting
		}
	}
	return []recipe{w}, false
}

// mayMake counts new sizes against what one visitor may have made.
func (s *Service) mayMake(ctx context.Context) error {
	hits, err := s.db.Hit(ctx, "new picture size", httpx.LimitSubject(ctx), newSizeWindow, s.now())
	if err != nil {
		return err
	}
	if hits > maxNewSizes {
		return errManySizes.Becausef("%d in %s", hits, newSizeWindow)
	}
	return nil
}

// nearest gives the rendition next in size that exists in the same format, larger ones first.
func (s *Service) nearest(ctx context.Context, m *media, w recipe) (made, error) {
	all, err := listMade(ctx, s.db, m.ObjectID)
	if err != nil {
		return made{}, err
	}
	var best *made
	for i, r := range all {
		if r.Format != w.order.Format || !strings.HasPrefix(r.Name, string(rendition.Contain)) || w.order.Crop != (rendition.Rect{}) {
			continue
		}
		larger := r.Width >= w.order.Width
		if best == nil || larger && (best.Width < w.order.Width || r.Width < best.Width) || !larger && best.Width < w.order.Width && r.Width > best.Width {
			best = &all[i]
		}
	}
	if best == nil {
		return made{}, errRendering
	}
	best.substitute = true
	return *best, nil
}

// evict removes the least recently used of the renditions that were made because somebody asked, until the others fit.
func (s *Service) evict(ctx context.Context) error {
	sum, err := lazyBytes(ctx, s.db)
	for err == nil && sum > s.cfg.Lazy {
		err = s.db.WithTx(ctx, func(tx *db.Tx) error {
			blobID, size, err := takeOldest(ctx, tx)
			if err != nil {
				return err
			}
			sum -= size
			return s.discard(ctx, tx, blobID)
		})
	}
	if errors.Is(err, db.ErrNoRows) {
		return nil
	}
	return err
}
