import type { OwnerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import type { Bucket } from "@/lib/constants";
import { extensionFor, sniffFile } from "@/lib/upload/sniff-type";
import { randomFileName } from "@/lib/upload/file-name";
import { stillFromPicture, captureStill } from "@/lib/upload/video-still";
import { fileTypeOf, HEIC } from "@/lib/upload/media-types";
import { objectPath, publicUrl } from "@/lib/upload/object-url";
import { removeObjects } from "@/lib/upload/remove-objects";
import { stillOf } from "@/lib/upload/still-name";
import { uploadWithRetry, storeFile } from "@/lib/upload/store-file";
import { RefusedFileError, UploadError } from "@/lib/upload/upload-error";
import type { UploadRequest } from "@/lib/upload/upload-object";

type UploadOptions = Pick<UploadRequest, "onProgress" | "signal"> & {
  /** Called if the still of a video could not be made or stored. The still is the picture that is shown until the video plays. */
  onStillMissing?: () => void;
  /** Called with the frame captured from a video. */
  onStill?: (jpeg: Blob) => void;
};

/** Uploads a file and returns its public URL (Uploader.upload). */
export type UploadFile = (file: File, options: UploadOptions) => Promise<string>;

/** Uploads files to one bucket, and deletes uploads that are not used. */
export type Uploader = {
  /**
   * Stores a file under a random name and returns its public URL. A video is stored with its still. A second call with the
   * same File object continues the earlier attempt, so that a retry does not store the file twice.
   *
   * @throws RefusedFileError if the type of the bytes is not accepted, UploadError if the server rejects the file or does not
   * respond.
   */
  upload: UploadFile;
  /** Stores a picture as the still of the video at this public URL. */
  uploadStill(videoUrl: string, picture: File): Promise<void>;
  /** Deletes stored files to which no row refers. Without this call the server deletes them after 48 hours. */
  discard(urls: readonly string[]): Promise<void>;
};

/**
 * What the attempts to upload a file have achieved, so that the next attempt can continue. `name` is the name of the file in the bucket.
 * `stored` says whether nothing is left to upload.
 */
type Attempt = { name: string; stored: boolean };

/** Makes the functions that upload files of the signed-in owner to one bucket. */
export function createUploader(backend: OwnerBackend, boot: Boot, bucket: Bucket): Uploader {
  const attempts = new WeakMap<File, Attempt>();
  const requestDefaults = {
    apiUrl: boot.apiUrl,
    anonKey: boot.anonKey,
    bucket,
    // Called for each request, because a batch of uploads can take longer than a token is valid.
    async token() {
      const { data, error } = await backend.auth.getSession();
      if (error) throw error;
      if (!data.session) throw new UploadError("Not signed in", 401);
      return data.session.access_token;
    },
  };
  const discard = (urls: readonly string[]) => removeObjects(backend, bucket, urls);

  /** Whether the bucket accepts the type; true if that is unknown. Checking first can save minutes of uploading. */
  async function accepts(mime: string): Promise<boolean> {
    const { data } = await backend.storage.getBucket(bucket);
    return data?.allowed_mime_types?.includes(mime) ?? true;
  }

  const upload: UploadFile = async (file, { onStill, onStillMissing, onProgress, signal }) => {
    const fileType = fileTypeOf(file);
    const mime = await sniffFile(file);
    if (!fileType || !mime?.startsWith(`${fileType.kind}/`)) throw new RefusedFileError();
    if (mime === HEIC && !(await accepts(mime))) throw new RefusedFileError("heic");
    const earlierAttempt = attempts.get(file);
    const attempt: Attempt = earlierAttempt ?? {
      name: randomFileName(extensionFor(mime, fileType.extension)),
      stored: false,
    };
    attempts.set(file, attempt);
    if (!attempt.stored) {
      // The still is captured while the video uploads.
      const still = fileType.kind === "video" ? captureStill(file, signal) : null;
      // An error is handled below. It is ignored here, because nothing would handle it if the upload of the video fails first.
      still?.then(
        (jpeg) => jpeg && onStill?.(jpeg),
        () => undefined,
      );
      attempt.name = await storeFile({
        ...requestDefaults,
        name: attempt.name,
        file,
        mime,
        mayBeStored: earlierAttempt !== undefined,
        onProgress,
        signal,
      });
      try {
        const jpeg = await still;
        if (still && !(jpeg && (await storeStill(attempt.name, jpeg, signal)))) onStillMissing?.();
      } catch (cancelled) {
        attempts.delete(file);
        await discard([publicUrl(boot, bucket, attempt.name)]);
        throw cancelled;
      }
      attempt.stored = true;
    }
    return publicUrl(boot, bucket, attempt.name);
  };

  /** Stores the still of a video. Returns false on failure, which does not fail the upload of the video. */
  async function storeStill(videoName: string, jpeg: Blob, signal?: AbortSignal): Promise<boolean> {
    try {
      const name = stillOf(videoName)!;
      await uploadWithRetry({
        ...requestDefaults,
        name,
        file: jpeg,
        mime: "image/jpeg",
        upsert: true,
        signal,
      });
      return true;
    } catch (error) {
      if (signal?.aborted) throw error;
      console.warn("The still of a video could not be stored", error);
      return false;
    }
  }

  async function uploadStill(videoUrl: string, picture: File) {
    const path = objectPath(videoUrl, bucket);
    const name = path && stillOf(path);
    const jpeg = await stillFromPicture(picture);
    // Most browsers cannot read HEIC, so the message to the owner gives this reason.
    if (!name || !jpeg)
      throw new RefusedFileError(fileTypeOf(picture)?.mime === HEIC ? "heic" : "type");
    await uploadWithRetry({
      ...requestDefaults,
      name,
      file: jpeg,
      mime: "image/jpeg",
      upsert: true,
    });
  }

  return { upload, uploadStill, discard };
}
