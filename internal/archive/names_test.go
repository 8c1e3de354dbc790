package archive

import (
	"encoding/json"
	"slices"
	"testing"

	"atelie/internal/db"
)

// TestEveryTableIsExportedOrLeftOut checks that each table is in one of two lists: exported, or leftOut, which has a reason for each table.
func TestEveryTableIsExportedOrLeftOut(t *testing.T) {
	if err := checkTables(); err != nil {
		t.Error(err)
	}
	names, err := db.TableNames()
	if err != nil {
		t.Fatal(err)
	}
	for table, reason := range leftOut {
		if !slices.Contains(names, table) || slices.Contains(exported, table) || reason == "" {
			t.Errorf("%s, left out because %q, is not a table or is also exported", table, reason)
		}
	}
	for _, table := range exported {
		if !slices.Contains(names, table) {
			t.Errorf("%s is not a table", table)
		}
	}
}

func TestFilesAreNamedAfterTheirRows(t *testing.T) {
	titles := newFileTitles()
	for table, row := range map[string]string{
		"products":      `{"title":"Água & sal, nº 2","image_url":"https://x.example/storage/v1/object/public/product-images/z/1.PNG","image_gallery":["/storage/v1/object/public/product-images/a/1.png"],"video_gallery":["/storage/v1/object/public/product-images/f.mp4"]}`,
		"site_settings": `{"key":"site","value":{"portrait":"/storage/v1/object/public/product-images/me.jpg"}}`,
	} {
		if err := titles.addRow(table, json.RawMessage(row)); err != nil {
			t.Fatal(err)
		}
	}
	if err := titles.addRow("site_settings", json.RawMessage(`{"key":"notice.email","value":[]}`)); err != nil {
		t.Error(err)
	}
	all := []File{{Bucket: "product-images", Name: "a/1.png"}, {Bucket: "product-images", Name: "z/1.PNG"}, {Bucket: "product-images", Name: "f.mp4"}, {Bucket: "product-images", Name: "f.still.jpg"},
		{Bucket: "product-images", Name: "me.jpg"}, {Bucket: "My bucket", Name: "x/漢字 ß.webp"}, {Bucket: "my bucket", Name: "...."}, {Bucket: "con", Name: "A.b?c"}}
	nameFiles(all, titles)
	for i, want := range []string{"files/product-images/agua-sal-no-2-2.png", "files/product-images/agua-sal-no-2.png", "files/product-images/agua-sal-no-2.mp4", "files/product-images/agua-sal-no-2-still.jpg",
		"files/product-images/portrait.jpg", "files/my-bucket/漢字-ß.webp", "files/my-bucket/file", "files/con/a"} {
		if all[i].Path != want || !validName(all[i].Path) {
			t.Errorf("%s/%s: %q, want %q", all[i].Bucket, all[i].Name, all[i].Path, want)
		}
	}
	used := usedNames{}
	for _, want := range []string{"a.png", "a-2.png", "a-3.png"} {
		if got := used.pick("a", ".png"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestRelativeURLs(t *testing.T) {
	for _, c := range [][3]string{
		{"site/index.html", "site/pt/index.html", "pt/index.html"},
		{"site/pt/works/a.html", "site/assets/style.css", "../../assets/style.css"},
		{"site/works/a.html", "site/works/b.html", "b.html"},
		{"site/works/a.html", "files/x/ã b.png", "../../files/x/%C3%A3%20b.png"},
		{"site/index.html", "site/index.html", "index.html"},
	} {
		if got := relativeURL(c[0], c[1]); got != c[2] {
			t.Errorf("%s → %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

func TestURLsOfArchivedFilesAreRebased(t *testing.T) {
	here := map[string]bool{"product-images/a ã.png": true}
	for given, want := range map[string]string{
		"https://old.example/storage/v1/object/public/product-images/a%20%C3%A3.png?x=1":                                  "http://new.example/storage/v1/object/public/product-images/a%20%C3%A3.png?x=1",
		"/storage/v1/object/public/product-images/a%20%C3%A3.png":                                                         "/storage/v1/object/public/product-images/a%20%C3%A3.png",
		"https://old.example/storage/v1/object/public/product-images/other.png":                                           "https://old.example/storage/v1/object/public/product-images/other.png",
		`{"https://old.example/storage/v1/object/public/product-images/a%20%C3%A3.png":{"en":"<é>"},"/b.png":{"pt":"B"}}`: `{"/b.png":{"pt":"B"},"http://new.example/storage/v1/object/public/product-images/a%20%C3%A3.png":{"en":"<é>"}}`,
		`{"https://old.example/storage/v1/object/public/product-images/a%20%C3%A3.png":"a text"}`:                         `{"https://old.example/storage/v1/object/public/product-images/a%20%C3%A3.png":"a text"}`,
		"see https://old.example/storage/v1/object/public/product-images/a%20%C3%A3.png":                                  "see https://old.example/storage/v1/object/public/product-images/a%20%C3%A3.png",
	} {
		value, err := json.Marshal(map[string]any{"a": []any{given, 1e3, nil}})
		if err != nil {
			t.Fatal(err)
		}
		moved, err := rebaseValue(value, "http://new.example", here)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string][]any
		if err := json.Unmarshal(moved, &got); err != nil || got["a"][0] != want {
			t.Errorf("%s: %v, want %s (%v)", given, got, want, err)
		}
	}
}

func TestTwoWidthsOfASrcsetAreKept(t *testing.T) {
	for given, want := range map[string][]candidate{
		"": nil,
		"/a?width=256 256w,/a?width=640 640w, /a?width=1024 1024w": {{"/a?width=640", 640}, {"/a?width=1024", 1024}},
		"/a 2400w":         {{"/a", 2400}},
		"/a,b 320w, /c 1x": {{"/a,b", 320}},
	} {
		if got := chooseCandidates(given); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", given, got, want)
		}
	}
}
