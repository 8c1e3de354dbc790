package config

// CDN holds the settings for caches in front of the site that are shared by its visitors.
type CDN struct {
	On Switch `name:"cdn" env:"ATELIE_CDN" default:"off" help:"Let shared caches, such as a CDN or nginx, store public pages and files, for a second; everything else is marked private."`
}
