import { useCallback } from "react";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";
import type { MediaKind, Refusal } from "@/lib/upload/media-types";
import { UploadError } from "@/lib/upload/upload-error";

/**
 * Why a file was refused before the upload, or why an upload or a removal failed. "no-still" is not a failure: the video is stored,
 * but its still (the picture that is shown until the video plays) could not be made.
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
      const kinds = (kind: MediaKind) => ({
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
            t("upload.onlyAdminUpload", kinds(problem.kind)),
          );
        case "remove-denied":
          return showError(
            t("upload.unauthorized"),
            t("upload.onlyAdminRemove", kinds(problem.kind)),
          );
        case "remove-failed":
          return showError(t("common.error"), t("upload.removeError", kinds(problem.kind)));
        case "failed":
          // 415: the server's message says why it does not accept the file.
          if (problem.error instanceof UploadError && problem.error.status === 415)
            return showError(t("upload.failedTitle"), problem.error.message);
          return showError(t("upload.failedTitle"), t("upload.failedBody", kinds(problem.kind)));
      }
    },
    [t],
  );
}
