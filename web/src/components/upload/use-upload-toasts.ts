import { useCallback } from "react";
import { useT } from "@/lib/i18n";
import { areaToast } from "@/lib/toast";
import type { MediaKind, Refusal } from "@/lib/upload/media-types";
import { UploadError } from "@/lib/upload/upload-error";

export type UploadProblem =
  | { reason: Refusal | "no-still"; name: string }
  | { reason: "upload-denied" | "remove-denied" | "remove-failed"; kind: MediaKind }
  | { reason: "failed"; kind: MediaKind; error: unknown };

/** The catalogue's sentences for what can go wrong with files. */
export function useUploadToasts(): (problem: UploadProblem) => void {
  const t = useT();
  return useCallback(
    (problem) => {
      const kinds = (kind: MediaKind) => ({
        kind: t(`upload.kind.${kind}`),
        kinds: t(`upload.kinds.${kind}`),
      });
      const tell = (title: string, description: string) =>
        areaToast({ title, description, destructive: true });
      switch (problem.reason) {
        case "type":
          return tell(t("upload.failedTitle"), t("upload.wrongType", { name: problem.name }));
        case "heic":
          return tell(t("upload.failedTitle"), t("upload.heic", { name: problem.name }));
        case "no-still":
          return areaToast({
            title: t("upload.noStillTitle"),
            description: t("upload.noStill", { name: problem.name }),
          });
        case "size":
          return tell(t("upload.failedTitle"), t("upload.tooLarge", { name: problem.name }));
        case "upload-denied":
          return tell(t("upload.unauthorized"), t("upload.onlyAdminUpload", kinds(problem.kind)));
        case "remove-denied":
          return tell(t("upload.unauthorized"), t("upload.onlyAdminRemove", kinds(problem.kind)));
        case "remove-failed":
          return tell(t("common.error"), t("upload.removeError", kinds(problem.kind)));
        case "failed":
          // The service says what is wrong with a file that it cannot take.
          if (problem.error instanceof UploadError && problem.error.status === 415)
            return tell(t("upload.failedTitle"), problem.error.message);
          return tell(t("upload.failedTitle"), t("upload.failedBody", kinds(problem.kind)));
      }
    },
    [t],
  );
}
