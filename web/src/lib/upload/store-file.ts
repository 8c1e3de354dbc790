import { RESUMABLE_FROM_BYTES } from "@/lib/upload/limits";
import { isTransient, waitForRetry } from "@/lib/upload/retry";
import { UploadError } from "@/lib/upload/upload-error";
import { uploadObject } from "@/lib/upload/upload-object";
import { uploadResumable, type ResumableRequest } from "@/lib/upload/upload-resumable";

/**
 * Stores a file and returns its name. After a lost connection, the upload of a large file or a video continues where it stopped. A
 * small file is sent again.
 *
 * @throws UploadError with the server's error. The status of the error is 0 if there was no response.
 */
export async function storeFile(request: ResumableRequest): Promise<string> {
  if (request.file.size > RESUMABLE_FROM_BYTES || request.mime.startsWith("video/")) {
    return uploadResumable(request);
  }
  await uploadWithRetry(request);
  return request.name;
}

/** Uploads a file in one request, with retries. With `upsert` it replaces a file of the same name. */
export async function uploadWithRetry(
  request: ResumableRequest & { upsert?: boolean },
): Promise<void> {
  for (let failures = 0; ;) {
    try {
      return await uploadObject({ ...request, token: await request.token() });
    } catch (error) {
      if (!(error instanceof UploadError)) throw error;
      // 409: a file of this name exists. The name is random, so an earlier attempt has succeeded and only its response was lost.
      if (error.status === 409 && (failures > 0 || request.mayBeStored)) return;
      failures++;
      if (!isTransient(error.status) || !(await waitForRetry(failures, request.signal)))
        throw error;
    }
  }
}
