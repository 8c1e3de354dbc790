/** The ending that replaces the film's extension in the name of its still; as in internal/files/still.go. */
const STILL_ENDING = ".still.jpg";

const filmEnding = /\.(mp4|m4v|mov|qt|webm|mkv)$/i;

/** The path or address of the still of a film, which is stored beside it; null for other files. */
export function stillOf(address: string): string | null {
  const path = address.replace(/[?#].*$/, "");
  return filmEnding.test(path) ? path.replace(filmEnding, STILL_ENDING) : null;
}
