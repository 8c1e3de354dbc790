import { RESUMABLE_FROM_BYTES } from "@/lib/upload/limits";
import { isPassing, mayTryAgain } from "@/lib/upload/connection";
import { UploadError } from "@/lib/upload/upload-error";
import { uploadObject } from "@/lib/upload/upload-object";
import { uploadResumable, type ResumableRequest } from "@/lib/upload/upload-resumable";

/**
 * Stores a file and gives the name it has got. Survives a cut line: a small file is sent again, a large one, and every
 * film, goes on where it stopped.
 *
 * @throws UploadError with the service's refusal, or status 0 when the line stays cut.
 */
export async function storeFile(request: ResumableRequest): Promise<string> {
  if (request.file.size > RESUMABLE_FROM_BYTES || request.mime.startsWith("video/")) {
    return uploadResumable(request);
  }
  await sendWhole(request);
  return request.name;
}

/** The same with `upsert`, for what may take the place of an earlier file. */
export async function sendWhole(request: ResumableRequest & { upsert?: boolean }): Promise<void> {
  for (let lost = 0; ;) {
    try {
      return await uploadObject({ ...request, token: await request.token() });
    } catch (error) {
      if (!(error instanceof UploadError)) throw error;
      // Nobody else knows the name: the earlier attempt got through and only its answer was lost.
      if (error.status === 409 && lost > 0) return;
      lost++;
      if (!isPassing(error.status) || !(await mayTryAgain(lost, request.signal))) throw error;
    }
  }
}
