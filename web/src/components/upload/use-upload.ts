import { useCallback, useRef } from "react";
import { useOwnerBackend } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import type { Bucket } from "@/lib/constants";
import { extensionFor, typeOfFile } from "@/lib/upload/file-bytes";
import { randomFileName } from "@/lib/upload/file-name";
import { stillFromPicture, takeStill } from "@/lib/upload/film-still";
import { fileFacts } from "@/lib/upload/media-types";
import { objectPath, publicUrl } from "@/lib/upload/object-url";
import { removeObjects } from "@/lib/upload/remove-objects";
import { stillOf } from "@/lib/upload/still-name";
import { sendWhole, storeFile } from "@/lib/upload/store-file";
import { RefusedFileError, UploadError } from "@/lib/upload/upload-error";
import type { UploadRequest } from "@/lib/upload/upload-object";

export type UploadOptions = Pick<UploadRequest, "onProgress" | "signal"> & {
  /** Told when a film is stored but no still of it: the owner is asked for a picture. */
  onStillMissing?: () => void;
};

export type UploadFile = (file: File, options: UploadOptions) => Promise<string>;

/** What every request carries, and a token that is asked for anew: a long batch outlives the hour that one lasts. */
function useSender(bucket: Bucket) {
  const backend = useOwnerBackend();
  const { apiUrl, anonKey } = useBoot();
  return useCallback(() => {
    const token = async () => {
      const { data, error } = await backend.auth.getSession();
      if (error) throw error;
      if (!data.session) throw new UploadError("Not signed in", 401);
      return data.session.access_token;
    };
    return { apiUrl, anonKey, bucket, token };
  }, [backend, apiUrl, anonKey, bucket]);
}

/**
 * Stores one file under a random name as the signed-in owner and gives its public address. The same File that is handed
 * in again continues its earlier attempt, under the same name: nothing is stored twice.
 */
export function useUpload(bucket: Bucket): UploadFile {
  const boot = useBoot();
  const sender = useSender(bucket);
  const discard = useDiscard(bucket);
  const attempts = useRef(new WeakMap<File, { name: string; stored?: boolean }>());
  return useCallback(
    async (file, { onStillMissing, ...options }) => {
      const facts = fileFacts(file);
      const mime = await typeOfFile(file);
      if (!facts || !mime?.startsWith(`${facts.kind}/`)) throw new RefusedFileError();
      let attempt = attempts.current.get(file);
      if (!attempt) {
        attempt = { name: randomFileName(extensionFor(mime, facts.extension)) };
        attempts.current.set(file, attempt);
      }
      if (!attempt.stored) {
        const { signal } = options;
        // While the film is on its way: it takes a second, and nobody waits for it.
        const still = facts.kind === "video" ? takeStill(file, signal) : null;
        still?.catch(() => undefined); // asked below, unless the film itself fails first
        attempt.name = await storeFile({ ...sender(), ...options, name: attempt.name, file, mime });
        attempt.stored = true;
        try {
          const jpeg = await still;
          if (still && !(jpeg && (await storeStill(sender(), attempt.name, jpeg, signal)))) {
            onStillMissing?.();
          }
        } catch (cancelled) {
          attempts.current.delete(file);
          await discard([publicUrl(boot, bucket, attempt.name)]);
          throw cancelled;
        }
      }
      return publicUrl(boot, bucket, attempt.name);
    },
    [boot, bucket, sender, discard],
  );
}

/** False when it could not be stored; a film is good without one. */
async function storeStill(
  sender: ReturnType<ReturnType<typeof useSender>>,
  film: string,
  jpeg: Blob,
  signal?: AbortSignal,
): Promise<boolean> {
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

/** Stores a picture that the owner chose as the still of a film. */
export function useStillUpload(bucket: Bucket): (film: string, picture: File) => Promise<void> {
  const sender = useSender(bucket);
  return useCallback(
    async (film, picture) => {
      const path = objectPath(film, bucket);
      const name = path && stillOf(path);
      const jpeg = await stillFromPicture(picture);
      if (!name || !jpeg) throw new RefusedFileError();
      await sendWhole({ ...sender(), name, file: jpeg, mime: "image/jpeg", upsert: true });
    },
    [bucket, sender],
  );
}

/** Removes stored files that no row shows yet; what cannot be removed now the server collects after 48 hours. */
export function useDiscard(bucket: Bucket): (urls: readonly string[]) => Promise<void> {
  const backend = useOwnerBackend();
  return useCallback((urls) => removeObjects(backend, bucket, urls), [backend, bucket]);
}
