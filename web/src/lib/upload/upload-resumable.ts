import { RESUMABLE_CHUNK_BYTES } from "@/lib/upload/limits";
import { abortError, isTransient, waitForRetry } from "@/lib/upload/retry";
import { responseError, UploadError } from "@/lib/upload/upload-error";
import { CACHE_SECONDS, type UploadRequest } from "@/lib/upload/upload-object";
import type { DetailedError, Upload } from "tus-js-client";

/** A resumable upload of one file to a bucket. */
export type ResumableRequest = Omit<UploadRequest, "token" | "upsert"> & {
  /**
   * Returns a valid access token. Called before each request, because an upload can take longer than a token is valid.
   */
  token(): Promise<string>;
  /** Whether an earlier call has sent this file under this name, so that it may be stored. */
  mayBeStored?: boolean;
};

/**
 * Uploads a file in chunks by the tus protocol. The upload continues after a lost connection or a reload. Returns the object name (the
 * name of the stored file in the bucket). A new upload has the object name of the request. An upload that was begun before a reload
 * keeps its earlier object name.
 */
export function uploadResumable(request: ResumableRequest): Promise<string> {
  const { bucket, file, signal } = request;
  // An upload is recognized after a reload by the name and the date of the owner's file. A Blob that is not a File has neither. Without
  // locks, two tabs could continue the same upload. In both cases the upload does not continue after a reload.
  const fileNameAndDate = file instanceof File ? `${file.name}-${file.lastModified}` : "";
  if (!fileNameAndDate || !navigator.locks) return runUpload(request, null);
  const fingerprint = ["atelie", request.apiUrl, bucket, fileNameAndDate, file.size].join("-");
  // Only the tab with the lock may continue an earlier upload of this file. Other tabs start a new upload. If two tabs continued the
  // same upload, one tab could cancel it, or delete the stored object, while the other tab needs it.
  return navigator.locks.request(fingerprint, { ifAvailable: true }, (lock) => {
    if (signal?.aborted) throw abortError();
    return runUpload(request, lock ? fingerprint : null);
  });
}

/**
 * Runs the upload. tus stores the URL of the upload in localStorage, with `fingerprint` as the key, so that a later page load can
 * continue the upload. If `fingerprint` is null, nothing is stored, and no earlier upload is continued.
 */
async function runUpload(request: ResumableRequest, fingerprint: string | null): Promise<string> {
  const { apiUrl, anonKey, token, bucket, file, mime, mayBeStored, onProgress, signal } = request;
  const { Upload } = await import("tus-js-client");
  const metadata = {
    bucketName: bucket,
    objectName: request.name,
    contentType: mime,
    cacheControl: CACHE_SECONDS,
  };
  // The number of failed attempts since the server last received a chunk.
  let failedAttempts = 0;
  // Whether an upload of an earlier page load is continued.
  let isContinued = false;

  // tus reports success or failure by callbacks, which settle this promise.
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
    retryDelays: [], // retryOrFail decides about retries
    storeFingerprintForResuming: fingerprint !== null,
    removeFingerprintOnSuccess: true,
    fingerprint: async () => fingerprint ?? "",
    headers: { apikey: anonKey, "x-upsert": "false" },
    metadata,
    onBeforeRequest: async (sent) => sent.setHeader("Authorization", `Bearer ${await token()}`),
    onAfterResponse: (sent, response) => {
      // HEAD reads the offset. tus begins a new upload after each error except 423, although the server may be unreachable only for a
      // moment. The condition includes errors that isTransient leaves out, such as 500 and 507, because they do not mean that the upload
      // is gone. An error that is thrown here is retried, and reported at last with status 0.
      const status = response.getStatus();
      if (sent.getMethod() === "HEAD" && (status === 429 || status >= 500))
        throw new Error(`HTTP ${status}`);
    },
    onProgress: (sent, total) => onProgress?.(Math.min(99, Math.floor((sent / total) * 100))),
    onChunkComplete: () => {
      failedAttempts = 0;
    },
    onSuccess: () => succeed(),
    onError: (error) => void retryOrFail(error),
  });

  async function retryOrFail(error: Error | DetailedError) {
    const failure = uploadErrorOf(error);
    try {
      if (signal?.aborted) throw abortError();
      // Status 409 before the upload has a URL: the object name is taken. Object names are random, so the object is the result of an
      // earlier attempt, whose response was lost.
      const isOwnObject = failedAttempts > 0 || isContinued || mayBeStored;
      if (failure.status === 409 && !upload.url && isOwnObject) return succeed();
      // Later, 409 means a wrong offset, which tus reads again before the next attempt, and 423 means that an earlier request still
      // holds the server's lock of the upload.
      const isTemporary =
        isTransient(failure.status) || (upload.url && [409, 423].includes(failure.status));
      failedAttempts++;
      if (!isTemporary || !(await waitForRetry(failedAttempts, signal))) throw failure;
      upload.start();
    } catch (reason) {
      fail(reason);
    }
  }

  function cancel() {
    // If the upload cannot be deleted on the server now, it expires there a day after its creation.
    upload
      .abort(true)
      .catch((reason: unknown) =>
        console.warn("A cancelled upload could not be deleted on the server", reason),
      );
    fail(abortError());
  }

  if (signal?.aborted) throw abortError();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    const previous = fingerprint === null ? undefined : (await upload.findPreviousUploads()).at(-1);
    if (signal?.aborted) throw abortError();
    if (previous?.metadata.objectName) {
      isContinued = true;
      metadata.objectName = previous.metadata.objectName;
      upload.resumeFromPreviousUpload(previous);
    }
    upload.start();
    await outcome;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
  onProgress?.(100);
  return metadata.objectName;
}

function uploadErrorOf(error: Error | DetailedError): UploadError {
  // tus wraps the error of a function that it calls before a request, such as that of a session that has ended.
  const cause = "causingError" in error ? error.causingError : error;
  if (cause instanceof UploadError) return cause;
  const response = "originalResponse" in error ? error.originalResponse : null;
  if (!response) {
    const hasRequest = "originalRequest" in error;
    // An error without a request is local, for example because the file was deleted meanwhile. -1 is not retried.
    return new UploadError(error.message, hasRequest ? 0 : -1);
  }
  return responseError(
    response.getBody(),
    response.getStatus(),
    response.getBody() || error.message,
  );
}
