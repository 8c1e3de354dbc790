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

// Content is the parsed content.json. File names in it have no folder: pictures are in the folder content/images, videos in the folder
// content.
type Content struct {
	Site     Site      `json:"site"`
	Products []Product `json:"products"`
	Reviews  []Review  `json:"reviews"`
	Covers   []Cover   `json:"covers"`
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

// Product is a row of products, an artwork. Image and the galleries contain file names where the row has URLs.
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

// Review is a row of reviews. Image is the file name of the client's portrait, or nil.
type Review struct {
	ID           string  `json:"id"`
	ClientName   string  `json:"client_name"`
	Location     string  `json:"location"`
	Message      string  `json:"message"`
	Image        *string `json:"image"`
	DisplayOrder int     `json:"display_order"`
	CreatedAt    string  `json:"created_at"`
}

// Cover is a row of cover_images, a large picture or video at the top of the home page. Media is its file name.
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

// open opens a picture or a video of the demo content.
func open(name string) (fs.File, error) {
	f, err := embedded.Open("content/images/" + name)
	if err == nil {
		return f, nil
	}
	return embedded.Open("content/" + name)
}
