import type { Bucket } from "@/lib/constants";
import { abortError } from "@/lib/upload/retry";
import { responseError, UploadError } from "@/lib/upload/upload-error";

/** An upload of one file to a bucket. */
export type UploadRequest = {
  apiUrl: string;
  anonKey: string;
  /** The access token of the session. */
  token: string;
  bucket: Bucket;
  /** The name under which the file is stored in the bucket. */
  name: string;
  file: Blob;
  /** The MIME type that was detected from the file's bytes. */
  mime: string;
  /** Whether to replace a stored file of the same name. Without it, the server rejects the upload with status 409. */
  upsert?: boolean;
  /** Called with the progress of the upload in whole per cent. It is 100 only after the response. */
  onProgress?: (percent: number) => void;
  signal?: AbortSignal;
};

/**
 * How long browsers may cache a stored file: a year, in seconds, as the text of a form field. Uploads have random names, so the file at
 * a URL does not change. Only the still of a video (the picture that is shown until it plays) can be replaced under its name. Pages do
 * not show that file, but renditions whose URLs contain the version of the file (lib/media.ts).
 */
export const CACHE_SECONDS = "31536000";

/**
 * Uploads a file in one request, with the form fields that supabase-js sends. Uses XMLHttpRequest, because fetch does not report the
 * progress of an upload. Rejects with UploadError, or with abortError() if `signal` is aborted.
 */
export function uploadObject(request: UploadRequest): Promise<void> {
  const { apiUrl, anonKey, token, bucket, name, onProgress, signal } = request;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(abortError());
      return;
    }
    const xhr = new XMLHttpRequest();
    const cancel = () => xhr.abort();
    const settle = (resolveOrReject: () => void) => {
      signal?.removeEventListener("abort", cancel);
      resolveOrReject();
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
          reject(responseError(xhr.responseText, xhr.status, xhr.statusText));
        }
      }),
    );
    xhr.addEventListener("error", () =>
      settle(() => reject(new UploadError("The connection was lost", 0))),
    );
    xhr.addEventListener("abort", () => settle(() => reject(abortError())));
    signal?.addEventListener("abort", cancel);

    xhr.open("POST", `${apiUrl}/storage/v1/object/${bucket}/${encodeURIComponent(name)}`);
    xhr.setRequestHeader("apikey", anonKey);
    xhr.setRequestHeader("authorization", `Bearer ${token}`);
    xhr.setRequestHeader("x-upsert", String(request.upsert ?? false));
    xhr.send(uploadForm(request));
  });
}

/** The body of the request. */
function uploadForm({ file, mime, name }: UploadRequest): FormData {
  const form = new FormData();
  form.append("cacheControl", CACHE_SECONDS);
  // The part of the form must have the right type, which some systems do not set for .mov.
  form.append("", file.type === mime ? file : file.slice(0, file.size, mime), name);
  return form;
}
