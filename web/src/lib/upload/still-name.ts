/** The ending that replaces the film's extension in the name of its still; as in internal/files/still.go. */
const STILL_ENDING = ".still.jpg";

const filmEnding = /\.(mp4|m4v|mov|qt|webm|mkv)$/i;

/** The path or URL of the still of a film, which is stored beside the film; null for other files. */
export function stillOf(pathOrUrl: string): string | null {
  const path = pathOrUrl.replace(/[?#].*$/, "");
  return filmEnding.test(path) ? path.replace(filmEnding, STILL_ENDING) : null;
}
