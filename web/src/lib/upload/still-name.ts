/** How a film's still is called: as the film, in the same bucket. The server knows it too (internal/storage/still.go). */
const STILL_ENDING = ".still.jpg";

const filmEnding = /\.(mp4|m4v|mov|qt|webm|mkv)$/i;

/** The path or address of the still that lies beside a film, null for what is no film. */
export function stillOf(address: string): string | null {
  const path = address.replace(/[?#].*$/, "");
  return filmEnding.test(path) ? path.replace(filmEnding, STILL_ENDING) : null;
}
