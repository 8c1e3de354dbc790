package files

import (
	"slices"
	"strings"
)

// stillEnding is the end of the name of a video's still, the picture that pages show until the video plays: video.mp4 has the
// still video.still.jpg. The owner's browser uploads both. web/src/lib/upload/still-name.ts defines the same ending.
const stillEnding = ".still.jpg"

// StillOf returns the name of the still of the video with this name. The bool is false if the extension in name is not that of a video.
func StillOf(name string) (string, bool) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return "", false
	}
	extension := strings.ToLower(name[dot+1:])
	isVideo := slices.ContainsFunc(Types, func(t *Type) bool { return !t.Image && slices.Contains(t.Extensions, extension) })
	return name[:dot] + stillEnding, isVideo
}
