import { useCallback } from "react";
import { useOwnerBackend } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import type { Bucket } from "@/lib/constants";
import { randomFileName } from "@/lib/upload/file-name";
import { publicUrl } from "@/lib/upload/object-url";
import { uploadObject, UploadError, type UploadRequest } from "@/lib/upload/upload-object";

export type UploadFile = (
  file: File,
  options: Pick<UploadRequest, "onProgress" | "signal">,
) => Promise<string>;

/** Stores one file under a random name as the signed-in owner and gives its public address. */
export function useUpload(bucket: Bucket): UploadFile {
  const backend = useOwnerBackend();
  const boot = useBoot();
  return useCallback(
    async (file, options) => {
      // Asked anew for every file: a long batch outlives the hour that a token lasts.
      const { data, error } = await backend.auth.getSession();
      if (error) throw error;
      if (!data.session) throw new UploadError("Not signed in", 401);
      const name = randomFileName(file);
      await uploadObject({
        apiUrl: boot.apiUrl,
        anonKey: boot.anonKey,
        token: data.session.access_token,
        bucket,
        name,
        file,
        ...options,
      });
      return publicUrl(boot, bucket, name);
    },
    [backend, boot, bucket],
  );
}
