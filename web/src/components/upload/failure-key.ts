import type { TextKey } from "@/lib/texts";

/** Text keys by the server's failure code. The code says why a file has no renditions (internal/media/errors.go). */
const keysByCode: Record<string, TextKey> = {
  picture_too_large: "media.tooLarge",
  picture_unreadable: "media.unreadable",
  picture_truncated: "media.truncated",
  picture_unsupported: "media.unsupported",
  picture_needs_vips: "media.needsVips",
  picture_too_slow: "media.tooCostly",
  picture_too_costly: "media.tooCostly",
  film_unreadable: "media.noFilm",
  film_matroska: "media.matroska",
  film_index: "media.index",
};

/** The text key of a failure code; a general text for an unknown code. */
export const failureKey = (code: string | undefined): TextKey =>
  keysByCode[code ?? ""] ?? "media.failedOtherwise";
