//go:build unix && !darwin

package rendition

const maxrssUnit = 1024
