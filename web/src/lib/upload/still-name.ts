/** The ending that replaces the video's extension in the name of its still; as in internal/files/still.go. */
const STILL_ENDING = ".still.jpg";

const videoEnding = /\.(mp4|m4v|mov|qt|webm|mkv)$/i;

/** The path or URL of a video's still; null for other files. The still is stored beside the video. */
export function stillOf(pathOrUrl: string): string | null {
  const path = pathOrUrl.replace(/[?#].*$/, "");
  return videoEnding.test(path) ? path.replace(videoEnding, STILL_ENDING) : null;
}
