// The name of a video's still, the picture that is shown until the video plays. The still of a.mp4 is a.still.jpg.

/** The ending that replaces the video's extension in the name of the still, as in internal/files/still.go. */
const STILL_ENDING = ".still.jpg";

const videoEnding = /\.(mp4|m4v|mov|qt|webm|mkv)$/i;

/** Returns the path or URL of a video's still, or null for a file that is not a video. The still is stored beside the video. */
export function stillOf(pathOrUrl: string): string | null {
  const path = pathOrUrl.replace(/[?#].*$/, "");
  return videoEnding.test(path) ? path.replace(videoEnding, STILL_ENDING) : null;
}
