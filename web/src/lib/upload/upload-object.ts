import type { Bucket } from "@/lib/constants";
import { cancelled } from "@/lib/upload/connection";
import { errorOf, UploadError } from "@/lib/upload/upload-error";

export type UploadRequest = {
  apiUrl: string;
  anonKey: string;
  token: string;
  bucket: Bucket;
  name: string;
  file: Blob;
  /** The type that the file's bytes show. */
  mime: string;
  /** Replaces what has the name already. */
  upsert?: boolean;
  /** Whole per cent; 100 is reported only once the service has answered. */
  onProgress?: (percent: number) => void;
  signal?: AbortSignal;
};

// A random name is never written twice, so browsers may keep the file for a year.
export const CACHE_SECONDS = "31536000";

/** Same wire form as storage-js; XMLHttpRequest because fetch reports no upload progress. */
export function uploadObject(request: UploadRequest): Promise<void> {
  const { apiUrl, anonKey, token, bucket, name, onProgress, signal } = request;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(cancelled());
      return;
    }
    const xhr = new XMLHttpRequest();
    const cancel = () => xhr.abort();
    const settle = (act: () => void) => {
      signal?.removeEventListener("abort", cancel);
      act();
    };
    xhr.upload.addEventListener("progress", ({ lengthComputable, loaded, total }) => {
      if (lengthComputable && total > 0) {
        onProgress?.(Math.min(99, Math.floor((loaded / total) * 100)));
      }
    });
    xhr.addEventListener("load", () =>
      settle(() => {
        if (xhr.status >= 200 && xhr.status < 300) {
          onProgress?.(100);
          resolve();
        } else {
          reject(errorOf(xhr.responseText, xhr.status, xhr.statusText));
        }
      }),
    );
    xhr.addEventListener("error", () =>
      settle(() => reject(new UploadError("The connection was lost", 0))),
    );
    xhr.addEventListener("abort", () => settle(() => reject(cancelled())));
    signal?.addEventListener("abort", cancel);

    xhr.open("POST", `${apiUrl}/storage/v1/object/${bucket}/${encodeURIComponent(name)}`);
    xhr.setRequestHeader("apikey", anonKey);
    xhr.setRequestHeader("authorization", `Bearer ${token}`);
    xhr.setRequestHeader("x-upsert", String(request.upsert ?? false));
    xhr.send(uploadForm(request));
  });
}

function uploadForm({ file, mime, name }: UploadRequest): FormData {
  const form = new FormData();
  form.append("cacheControl", CACHE_SECONDS);
  // Some systems know no type for .mov; the multipart part must still name one.
  form.append("", file.type === mime ? file : file.slice(0, file.size, mime), name);
  return form;
}
