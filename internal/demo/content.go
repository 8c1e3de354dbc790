// Package demo holds the demo content and loads it through the code that the owner's own uploads and rows take.
package demo

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
)

//go:embed content
var embedded embed.FS

// Content is what content.json says. File names are relative to the content's folders.
type Content struct {
	Site     Site      `json:"site"`
	Products []Product `json:"products"`
	Reviews  []Review  `json:"reviews"`
	Covers   []Cover   `json:"covers"`
}

// Site is what the demo artist says about the site; Portrait names a file.
type Site struct {
	Name      string `json:"name"`
	Instagram string `json:"instagram"`
	Facebook  string `json:"facebook"`
	WhatsApp  string `json:"whatsapp"`
	Email     string `json:"email"`
	Portrait  string `json:"portrait"`
	// Texts says by language what differs from the seed of the settings.
	Texts map[string]map[string]string `json:"texts"`
}

// Product is a row of products (spec §3); Image and the galleries name files.
type Product struct {
	ID             string   `json:"id"`
	Title          string   `json:"title"`
	Description    string   `json:"description"`
	ArtworkType    string   `json:"artwork_type"`
	Image          string   `json:"image"`
	ImageGallery   []string `json:"image_gallery"`
	VideoGallery   []string `json:"video_gallery"`
	IsFeatured     bool     `json:"is_featured"`
	InStock        bool     `json:"in_stock"`
	Dimensions     string   `json:"dimensions"`
	Medium         string   `json:"medium"`
	CreationDate   string   `json:"creation_date"`
	Tags           []string `json:"tags"`
	IsCustomizable bool     `json:"is_customizable"`
	SEOMetaTitle   string   `json:"seo_meta_title"`
	SEOMetaDesc    string   `json:"seo_meta_desc"`
	CreatedAt      string   `json:"created_at"`
}

// Review is a row of reviews (spec §3); Image names the avatar's file, or is nil.
type Review struct {
	ID           string  `json:"id"`
	ClientName   string  `json:"client_name"`
	Location     string  `json:"location"`
	Message      string  `json:"message"`
	Image        *string `json:"image"`
	DisplayOrder int     `json:"display_order"`
	CreatedAt    string  `json:"created_at"`
}

// Cover is a row of cover_images (spec §3); Media names its file.
type Cover struct {
	ID           string `json:"id"`
	Media        string `json:"media"`
	MediaType    string `json:"media_type"`
	Title        string `json:"title"`
	Description  string `json:"description"`
	DisplayOrder int    `json:"display_order"`
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

// open finds a media file: pictures lie apart from films.
func open(name string) (fs.File, error) {
	f, err := embedded.Open("content/images/" + name)
	if err == nil {
		return f, nil
	}
	return embedded.Open("content/" + name)
}
