import { useCallback } from "react";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";
import type { MediaKind, Refusal } from "@/lib/upload/media-types";
import { UploadError } from "@/lib/upload/upload-error";

/**
 * A problem with a file: why it was refused, or why its upload or its removal failed. `name` is the name of the file. The reason
 * "no-still" is no failure: the video is stored, but it has no still (the picture that is shown until the video plays).
 */
export type UploadProblem =
  | { reason: Refusal | "no-still"; name: string }
  | { reason: "upload-denied" | "remove-denied" | "remove-failed"; kind: MediaKind }
  | { reason: "failed"; kind: MediaKind; error: unknown };

/** Returns a function that shows the toast for a problem with a file. */
export function useUploadToasts(): (problem: UploadProblem) => void {
  const t = useT();
  return useCallback(
    (problem) => {
      // The values of the placeholders {kind} and {kinds}: the noun for the kind of file, singular and plural.
      const nounsOf = (kind: MediaKind) => ({
        kind: t(`upload.kind.${kind}`),
        kinds: t(`upload.kinds.${kind}`),
      });
      const showError = (title: string, description: string) =>
        stackedToast({ title, description, destructive: true });
      switch (problem.reason) {
        case "type":
          return showError(t("upload.failedTitle"), t("upload.wrongType", { name: problem.name }));
        case "heic":
          return showError(t("upload.failedTitle"), t("upload.heic", { name: problem.name }));
        case "no-still":
          return stackedToast({
            title: t("upload.noStillTitle"),
            description: t("upload.noStill", { name: problem.name }),
          });
        case "size":
          return showError(t("upload.failedTitle"), t("upload.tooLarge", { name: problem.name }));
        case "upload-denied":
          return showError(
            t("upload.unauthorized"),
            t("upload.onlyAdminUpload", nounsOf(problem.kind)),
          );
        case "remove-denied":
          return showError(
            t("upload.unauthorized"),
            t("upload.onlyAdminRemove", nounsOf(problem.kind)),
          );
        case "remove-failed":
          return showError(t("common.error"), t("upload.removeError", nounsOf(problem.kind)));
        case "failed":
          // 415: the server's message says why it does not accept the file.
          if (problem.error instanceof UploadError && problem.error.status === 415)
            return showError(t("upload.failedTitle"), problem.error.message);
          return showError(t("upload.failedTitle"), t("upload.failedBody", nounsOf(problem.kind)));
      }
    },
    [t],
  );
}
