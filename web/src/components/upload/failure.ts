import type { Key } from "@/lib/texts";

/** Why a file cannot be shown, by the service's code (internal/storage/reason.go, package rendition). */
const reasons: Record<string, Key> = {
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

/** The sentence for a code; one that this page does not know is a failure of the service. */
export const failureKey = (code: string | undefined): Key =>
  reasons[code ?? ""] ?? "media.failedOtherwise";
