import { useMemo } from "react";
import { useOwnerBackend } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import type { Bucket } from "@/lib/constants";
import { createUploader, type Uploader } from "@/lib/upload/uploader";

/** The functions that upload files to a bucket and discard them. */
export function useUploader(bucket: Bucket): Uploader {
  const backend = useOwnerBackend();
  const boot = useBoot();
  return useMemo(() => createUploader(backend, boot, bucket), [backend, boot, bucket]);
}
