import type { OwnerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import type { Bucket } from "@/lib/constants";
import { extensionFor, typeOfFile } from "@/lib/upload/file-bytes";
import { randomFileName } from "@/lib/upload/file-name";
import { stillFromPicture, takeStill } from "@/lib/upload/film-still";
import { fileFacts, HEIC } from "@/lib/upload/media-types";
import { objectPath, publicUrl } from "@/lib/upload/object-url";
import { removeObjects } from "@/lib/upload/remove-objects";
import { stillOf } from "@/lib/upload/still-name";
import { sendWhole, storeFile } from "@/lib/upload/store-file";
import { RefusedFileError, UploadError } from "@/lib/upload/upload-error";
import type { UploadRequest } from "@/lib/upload/upload-object";

export type UploadOptions = Pick<UploadRequest, "onProgress" | "signal"> & {
  /** Told when a film is stored but no still of it: the owner is asked for a picture. */
  onStillMissing?: () => void;
  /** The frame that was taken from a film, to be shown in its place. */
  onStill?: (jpeg: Blob) => void;
};

export type UploadFile = (file: File, options: UploadOptions) => Promise<string>;

export type Uploader = {
  /**
   * Stores one file under a random name and gives its public address. The same File that is handed in again continues
   * its earlier attempt under the same name: nothing is stored twice.
   *
   * @throws RefusedFileError when the bytes are of no accepted type, UploadError when the service refuses.
   */
  upload: UploadFile;
  /** Stores a picture that the owner chose as the still of a film. */
  uploadStill(film: string, picture: File): Promise<void>;
  /** Removes stored files that no row shows yet; what cannot be removed now the server collects after 48 hours. */
  discard(urls: readonly string[]): Promise<void>;
};

type Attempt = { name: string; stored: boolean };

/** The uploads of the signed-in owner into one bucket. */
export function createUploader(backend: OwnerBackend, boot: Boot, bucket: Bucket): Uploader {
  const attempts = new WeakMap<File, Attempt>();
  const sender = {
    apiUrl: boot.apiUrl,
    anonKey: boot.anonKey,
    bucket,
    // Asked anew for every request: a long batch outlives the hour that a token lasts.
    async token() {
      const { data, error } = await backend.auth.getSession();
      if (error) throw error;
      if (!data.session) throw new UploadError("Not signed in", 401);
      return data.session.access_token;
    },
  };
  const discard = (urls: readonly string[]) => removeObjects(backend, bucket, urls);

  /** The service's own answer would come after minutes of sending. When it cannot be asked now, it decides then. */
  async function takes(mime: string): Promise<boolean> {
    const { data } = await backend.storage.getBucket(bucket);
    return data?.allowed_mime_types?.includes(mime) ?? true;
  }

  const upload: UploadFile = async (file, { onStill, onStillMissing, onProgress, signal }) => {
    const facts = fileFacts(file);
    const mime = await typeOfFile(file);
    if (!facts || !mime?.startsWith(`${facts.kind}/`)) throw new RefusedFileError();
    if (mime === HEIC && !(await takes(mime))) throw new RefusedFileError("heic");
    const attempt: Attempt = attempts.get(file) ?? {
      name: randomFileName(extensionFor(mime, facts.extension)),
      stored: false,
    };
    attempts.set(file, attempt);
    if (!attempt.stored) {
      // While the film is on its way: it takes a second, and nobody waits for it.
      const still = facts.kind === "video" ? takeStill(file, signal) : null;
      // A failure is looked at below, unless the film itself fails first.
      still?.then(
        (jpeg) => jpeg && onStill?.(jpeg),
        () => undefined,
      );
      const { name } = attempt;
      attempt.name = await storeFile({ ...sender, name, file, mime, onProgress, signal });
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

  /** False when it could not be stored; a film is good without one. */
  async function storeStill(film: string, jpeg: Blob, signal?: AbortSignal): Promise<boolean> {
    try {
      const name = stillOf(film)!;
      await sendWhole({ ...sender, name, file: jpeg, mime: "image/jpeg", upsert: true, signal });
      return true;
    } catch (error) {
      if (signal?.aborted) throw error;
      console.warn("still", error);
      return false;
    }
  }

  async function uploadStill(film: string, picture: File) {
    const path = objectPath(film, bucket);
    const name = path && stillOf(path);
    const jpeg = await stillFromPicture(picture);
    // Few browsers read HEIC.
    if (!name || !jpeg)
      throw new RefusedFileError(fileFacts(picture)?.mime === HEIC ? "heic" : "type");
    await sendWhole({ ...sender, name, file: jpeg, mime: "image/jpeg", upsert: true });
  }

  return { upload, uploadStill, discard };
}
