package storage

import (
	"slices"
	"strings"
)

// stillEnding follows a film's base name in the name of its still, a picture that the owner's browser takes at upload and
// stores beside the film (READING §3.4). web/src/lib/upload/still-name.ts knows it too.
const stillEnding = ".still.jpg"

// stillOf gives the name of the still that belongs to a film; false for the name of anything else.
func stillOf(name string) (string, bool) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return "", false
	}
	extension := strings.ToLower(name[dot+1:])
	isFilm := slices.ContainsFunc(fileTypes, func(t *fileType) bool { return !t.isImage() && slices.Contains(t.extensions, extension) })
	return name[:dot] + stillEnding, isFilm
}
