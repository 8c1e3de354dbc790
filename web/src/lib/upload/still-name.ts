/** The ending that replaces the video's extension in the name of its still; as in internal/files/still.go. */
const STILL_ENDING = ".still.jpg";

const videoEnding = /\.(mp4|m4v|mov|qt|webm|mkv)$/i;

/** The path or URL of the still of a video, which is stored beside the video; null for other files. */
export function stillOf(pathOrUrl: string): string | null {
  const path = pathOrUrl.replace(/[?#].*$/, "");
  return videoEnding.test(path) ? path.replace(videoEnding, STILL_ENDING) : null;
}
