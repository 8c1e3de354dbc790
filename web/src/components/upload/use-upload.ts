import { useMemo } from "react";
import { useOwnerBackend } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import type { Bucket } from "@/lib/constants";
import { createUploader, type UploadFile, type Uploader } from "@/lib/upload/uploader";

/** The uploads of one form into a bucket. */
export function useUploader(bucket: Bucket): Uploader {
  const backend = useOwnerBackend();
  const boot = useBoot();
  return useMemo(() => createUploader(backend, boot, bucket), [backend, boot, bucket]);
}

export function useUpload(bucket: Bucket): UploadFile {
  return useUploader(bucket).upload;
}
