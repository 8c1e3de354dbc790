package demo

import (
	"encoding/json"
	"fmt"
	"image"
	_ "image/jpeg"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "golang.org/x/image/webp"
)

// typedContent is the content with those columns of its rows that the tests check.
type typedContent struct {
	Site     Site
	Products []struct {
		ID, Title, Description, Dimensions, Medium string

		ArtworkType  string   `json:"artwork_type"`
		Image        string   `json:"image_url"`
		ImageGallery []string `json:"image_gallery"`
		VideoGallery []string `json:"video_gallery"`
		CreationDate string   `json:"creation_date"`
		CreatedAt    string   `json:"created_at"`
	}
	Reviews []struct {
		ID, Location string

		ClientName string  `json:"client_name"`
		Image      *string `json:"image_url"`
	}
	Covers []struct {
		ID, Title string

		Media     string `json:"image_url"`
		MediaType string `json:"media_type"`
	}
}

func read(t *testing.T) (c typedContent) {
	t.Helper()
	data, err := embedded.ReadFile("content/content.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestContentIsComplete(t *testing.T) {
	c := read(t)
	videos := 0
	for _, cover := range c.Covers {
		if cover.MediaType == "video" {
			videos++
		}
	}
	if len(c.Products) != 22 || len(c.Reviews) != 6 || len(c.Covers) != 3 || videos != 1 {
		t.Errorf("%d works, %d reviews, %d covers, %d videos", len(c.Products), len(c.Reviews), len(c.Covers), videos)
	}
	ids := map[string]bool{}
	id := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	checkID := func(s string) {
		if !id.MatchString(s) || ids[s] {
			t.Errorf("id %q is malformed or used twice", s)
		}
		ids[s] = true
	}
	for _, p := range c.Products {
		checkID(p.ID)
		if !slices.Contains([]string{"digital", "mural", "watercolour"}, p.ArtworkType) || p.Title == "" || p.Description == "" || p.Medium == "" {
			t.Errorf("%s: incomplete", p.Title)
		}
	}
	for _, r := range c.Reviews {
		checkID(r.ID)
		if !strings.HasSuffix(r.Location, "demo") {
			t.Errorf("the review of %s is not marked as demo", r.ClientName)
		}
	}
	for _, cover := range c.Covers {
		checkID(cover.ID)
		if !slices.Contains([]string{"image", "video"}, cover.MediaType) {
			t.Errorf("%s: media type %q", cover.Title, cover.MediaType)
		}
	}
}

func TestContentAndFilesMatch(t *testing.T) {
	c := read(t)
	used := map[string]bool{c.Site.Portrait: true}
	for _, p := range c.Products {
		for _, name := range append(append(slices.Clone(p.ImageGallery), p.VideoGallery...), p.Image) {
			used[name] = true
		}
	}
	for _, r := range c.Reviews {
		if r.Image != nil {
			used[*r.Image] = true
		}
	}
	for _, cover := range c.Covers {
		used[cover.Media] = true
	}
	var total int64
	err := fs.WalkDir(embedded, "content", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		total += info.Size()
		if strings.HasSuffix(path, ".mp4") && info.Size() > 1_500_000 {
			t.Errorf("%s has %d bytes", path, info.Size())
		}
		if !strings.HasSuffix(path, ".json") && !strings.HasSuffix(path, ".md") && !used[e.Name()] {
			t.Errorf("%s is used nowhere", path)
		}
		delete(used, e.Name())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(used) > 0 {
		t.Errorf("missing files: %v", used)
	}
	if total > 8_000_000 {
		t.Errorf("the demo content has %d bytes, over 8 MB", total)
	}
}

// The gallery shows the newest work first. The list has that order, and no two rows have the same time.
func TestTheNewestWorkIsFirst(t *testing.T) {
	var last time.Time
	for i, p := range read(t).Products {
		made, err := time.Parse(time.DateOnly, p.CreationDate)
		if err != nil {
			t.Fatal(err)
		}
		row, err := time.Parse(time.RFC3339, p.CreatedAt)
		if err != nil {
			t.Fatal(err)
		}
		if row.Before(made) {
			t.Errorf("%s is in the gallery since %s, before it was painted", p.Title, p.CreatedAt)
		}
		if i > 0 && !row.Before(last) {
			t.Errorf("%s is not older than the work before it", p.Title)
		}
		last = row
	}
}

// The page shows the size of a work beside its picture, so their proportions must agree.
func TestDimensionsFitThePictures(t *testing.T) {
	size := regexp.MustCompile(`^([\d.]+) × ([\d.]+) (cm|m|px)$`)
	number := func(s string) float64 {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, p := range read(t).Products {
		m := size.FindStringSubmatch(p.Dimensions)
		if m == nil || (m[3] == "px") != (p.ArtworkType == "digital") {
			t.Errorf("%s: %q", p.Title, p.Dimensions)
			continue
		}
		f, err := open(p.Image)
		if err != nil {
			t.Fatal(err)
		}
		picture, _, err := image.DecodeConfig(f)
		if err != nil {
			t.Fatal(fmt.Errorf("%s: %w", p.Image, err))
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		stated, actual := number(m[1])/number(m[2]), float64(picture.Width)/float64(picture.Height)
		if math.Abs(stated/actual-1) > 0.06 {
			t.Errorf("%s says %s (%.2f), the picture has %.2f", p.Title, p.Dimensions, stated, actual)
		}
	}
}
