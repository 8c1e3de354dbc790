import type { Bucket } from "@/lib/constants";
import { fileFacts } from "@/lib/upload/media-types";

/** The status is the service's own, which its error body carries as text. */
export class UploadError extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
    this.name = "UploadError";
  }
}

export type UploadRequest = {
  apiUrl: string;
  anonKey: string;
  token: string;
  bucket: Bucket;
  name: string;
  file: File;
  /** Whole per cent; 100 is reported only once the service has answered. */
  onProgress?: (percent: number) => void;
  signal?: AbortSignal;
};

// A random name is never written twice, so browsers may keep the file for a year.
const CACHE_SECONDS = "31536000";

/** Same wire form as storage-js; XMLHttpRequest because fetch reports no upload progress. */
export function uploadObject(request: UploadRequest): Promise<void> {
  const { apiUrl, anonKey, token, bucket, name, file, onProgress, signal } = request;
  return new Promise((resolve, reject) => {
    const aborted = () => new DOMException("The upload was cancelled", "AbortError");
    if (signal?.aborted) {
      reject(aborted());
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
          reject(readError(xhr));
        }
      }),
    );
    xhr.addEventListener("error", () =>
      settle(() => reject(new UploadError("The connection was lost", 0))),
    );
    xhr.addEventListener("abort", () => settle(() => reject(aborted())));
    signal?.addEventListener("abort", cancel);

    xhr.open("POST", `${apiUrl}/storage/v1/object/${bucket}/${encodeURIComponent(name)}`);
    xhr.setRequestHeader("apikey", anonKey);
    xhr.setRequestHeader("authorization", `Bearer ${token}`);
    xhr.setRequestHeader("x-upsert", "false");
    xhr.send(uploadForm(file));
  });
}

function uploadForm(file: File): FormData {
  const form = new FormData();
  form.append("cacheControl", CACHE_SECONDS);
  // Some systems know no type for .mov; the multipart part must still name one.
  const typed = file.type ? file : file.slice(0, file.size, fileFacts(file)?.mime);
  form.append("", typed, file.name);
  return form;
}

function readError(xhr: XMLHttpRequest): UploadError {
  try {
    const body = JSON.parse(xhr.responseText) as { statusCode?: string; message?: string };
    const status = Number(body.statusCode);
    return new UploadError(
      body.message || xhr.statusText,
      Number.isInteger(status) && status > 0 ? status : xhr.status,
    );
  } catch {
    return new UploadError(xhr.statusText || `HTTP ${xhr.status}`, xhr.status);
  }
}
