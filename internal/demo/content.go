// Package demo loads demo content (the works of an invented artist) into a new site. It stores files and rows through the services that the
// admin area uses.
package demo

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
)

//go:embed content
var embedded embed.FS

// Content is the parsed content.json. Products, Reviews and Covers are rows of the tables products, reviews and cover_images, with file names
// where the tables have URLs (fileColumns). File names have no folder: pictures are in the folder content/images, videos in the folder
// content.
type Content struct {
	Site     Site             `json:"site"`
	Products []map[string]any `json:"products"`
	Reviews  []map[string]any `json:"reviews"`
	Covers   []map[string]any `json:"covers"`
}

// Site holds the settings of the demo artist's site. Portrait is the file name of the artist's portrait.
type Site struct {
	Name      string `json:"name"`
	Instagram string `json:"instagram"`
	Facebook  string `json:"facebook"`
	WhatsApp  string `json:"whatsapp"`
	Email     string `json:"email"`
	Portrait  string `json:"portrait"`
	// Texts has texts of the site by language and key. All other texts stay as they are on a new site.
	Texts map[string]map[string]string `json:"texts"`
}

// Read parses the embedded content.
func Read() (Content, error) {
	var c Content
	data, err := embedded.ReadFile("content/content.json")
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("content.json: %w", err)
	}
	return c, nil
}

// open opens a picture or a video of the demo content.
func open(name string) (fs.File, error) {
	f, err := embedded.Open("content/images/" + name)
	if err == nil {
		return f, nil
	}
	return embedded.Open("content/" + name)
}
