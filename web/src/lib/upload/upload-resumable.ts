import { RESUMABLE_CHUNK_BYTES } from "@/lib/upload/limits";
import { cancelled, isPassing, mayTryAgain } from "@/lib/upload/connection";
import { errorOf, UploadError } from "@/lib/upload/upload-error";
import { CACHE_SECONDS, type UploadRequest } from "@/lib/upload/upload-object";
import type { DetailedError, Upload } from "tus-js-client";

export type ResumableRequest = Omit<UploadRequest, "token" | "upsert"> & {
  /** Asked before every request: a film may take longer than the hour that a token lasts. */
  token(): Promise<string>;
};

/**
 * Stores a file in pieces and goes on where a cut line, or a page that was left, has stopped it. Gives the name it is
 * stored under, which is the earlier one when an earlier attempt is continued.
 */
export function uploadResumable(request: ResumableRequest): Promise<string> {
  const { bucket, file, signal } = request;
  const known = file instanceof File ? `${file.name}-${file.lastModified}` : "";
  const key = ["atelie", request.apiUrl, bucket, known, file.size].join("-");
  // Two tabs that send the same file must not share one upload: what one discards the other would have saved.
  if (!known || !navigator.locks) return send(request, null);
  return navigator.locks.request(key, { ifAvailable: true }, (lock) => {
    if (signal?.aborted) throw cancelled();
    return send(request, lock && key);
  });
}

/** Without a key nothing is remembered for after a reload. */
async function send(request: ResumableRequest, key: string | null): Promise<string> {
  const { apiUrl, anonKey, token, bucket, file, mime, onProgress, signal } = request;
  const { Upload } = await import("tus-js-client");
  const metadata = {
    bucketName: bucket,
    objectName: request.name,
    contentType: mime,
    cacheControl: CACHE_SECONDS,
  };
  // Attempts without an answer, counted anew with every piece that arrived.
  let lost = 0;
  let continued = false;

  let succeed!: () => void;
  let fail!: (reason: unknown) => void;
  const outcome = new Promise<void>((resolve, reject) => {
    succeed = resolve;
    fail = reject;
  });
  const upload: Upload = new Upload(file, {
    endpoint: `${apiUrl}/storage/v1/upload/resumable`,
    chunkSize: RESUMABLE_CHUNK_BYTES,
    uploadDataDuringCreation: true,
    retryDelays: [],
    storeFingerprintForResuming: key !== null,
    removeFingerprintOnSuccess: true,
    fingerprint: async () => key ?? "",
    headers: { apikey: anonKey, "x-upsert": "false" },
    metadata,
    onBeforeRequest: async (sent) => sent.setHeader("Authorization", `Bearer ${await token()}`),
    onProgress: (sent, total) => onProgress?.(Math.min(99, Math.floor((sent / total) * 100))),
    onChunkComplete: () => {
      lost = 0;
    },
    onSuccess: () => succeed(),
    onError: (error) => void again(error),
  });

  async function again(error: Error | DetailedError) {
    const failure = refusal(error);
    try {
      if (signal?.aborted) throw cancelled();
      // Nobody else knows the name: an earlier request got through and only its answer was lost.
      if (failure.status === 409 && !upload.url && (lost > 0 || continued)) return succeed();
      // 409 and 423 within an upload: the pieces are counted anew, or an earlier request is still ending.
      const passing =
        isPassing(failure.status) || (upload.url && [409, 423].includes(failure.status));
      lost++;
      if (!passing || !(await mayTryAgain(lost, signal))) throw failure;
      upload.start();
    } catch (reason) {
      fail(reason);
    }
  }

  function stop() {
    // What cannot be taken back now ends by itself a day after its beginning.
    upload.abort(true).catch((reason: unknown) => console.warn("upload", reason));
    fail(cancelled());
  }

  if (signal?.aborted) throw cancelled();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    const earlier = key === null ? undefined : (await upload.findPreviousUploads()).at(-1);
    if (signal?.aborted) throw cancelled();
    if (earlier?.metadata.objectName) {
      continued = true;
      metadata.objectName = earlier.metadata.objectName;
      upload.resumeFromPreviousUpload(earlier);
    }
    upload.start();
    await outcome;
  } finally {
    signal?.removeEventListener("abort", stop);
  }
  onProgress?.(100);
  return metadata.objectName;
}

function refusal(error: Error | DetailedError): UploadError {
  if (error instanceof UploadError) return error;
  const response = "originalResponse" in error ? error.originalResponse : null;
  if (!response) {
    const asked = "originalRequest" in error;
    // Without a request something in this page failed, such as a file that was deleted meanwhile.
    return new UploadError(error.message, asked ? 0 : -1);
  }
  return errorOf(response.getBody(), response.getStatus(), response.getBody() || error.message);
}
