import type { TextKey } from "@/lib/texts";

/**
 * The text keys of the server's failure codes. A code says why the server could not make renditions (versions in other sizes and
 * formats) of a picture, or what is wrong with a video (internal/media/errors.go). The codes call a video film.
 */
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

/** Returns the text key of a failure code, or the key of a general text for an unknown code. */
export const failureKey = (code: string | undefined): TextKey =>
  keysByCode[code ?? ""] ?? "media.failedOtherwise";
