import { useRef } from "react";
import { useCreateProduct } from "@/features/admin-products/api/create-product";
import { copyFiles } from "@/features/admin-products/api/copy-files";
import { findSharedFiles } from "@/features/admin-products/api/shared-files";
import { useUpdateProduct } from "@/features/admin-products/api/update-product";
import { releasedFiles } from "@/features/admin-products/released-files";
import {
  mediaOf,
  productPayload,
  urlsOf,
  type ProductMedia,
  type ProductPayload,
  type ProductFormState,
  type ProductValues,
} from "@/features/admin-products/schema";
import { useUploadToasts } from "@/components/upload/use-upload-toasts";
import { errorToast } from "@/lib/error-toast";
import { useOwnerBackend } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import { BUCKETS } from "@/lib/constants";
import { useT } from "@/lib/i18n";
import { useSave } from "@/lib/editing/use-save";
import { useUndo } from "@/lib/editing/use-undo";
import { stackedToast } from "@/lib/toast";
import type { Product } from "@/lib/types";
import { fileTypeOf } from "@/lib/upload/media-types";
import { removeObjects } from "@/lib/upload/remove-objects";
import { isDenied } from "@/lib/upload/upload-error";

/** What one save of the form of a work (a row of products) writes. */
type SaveRequest = {
  /** The version of the row that the changes are based on. Null for a new work. */
  base: Product | null;
  payload: ProductPayload;
  /** The URLs of all files that the form has uploaded. */
  uploaded: readonly string[];
};

/** What a save has stored: the URLs of the work's files, and the changed row (`saved`), which is null for a new work. */
type SaveResult = { media: ProductMedia; saved: Product | null };

/**
 * Saves a work for its form, shows a toast with the result, and then deletes the files that the work no longer uses. `start` is the
 * initial state of the form. A new work gets the id `newId`.
 */
export function useSaveProduct(start: ProductFormState, newId: string, onSaved: () => void) {
  const t = useT();
  const boot = useBoot();
  const backend = useOwnerBackend();
  const create = useCreateProduct();
  const update = useUpdateProduct();
  const undoButton = useUndo();
  const showProblem = useUploadToasts();
  // The URLs of copied files, by the URL of the original. A retry copies none of these files again.
  const copies = useRef(new Map<string, string>());

  /** Deletes the files that the work no longer uses, unless another work uses them. */
  async function deleteReleased(
    before: Product | null,
    media: ProductMedia,
    uploaded: readonly string[],
  ) {
    const urls = releasedFiles(before, uploaded, media);
    try {
      const shared = await findSharedFiles(backend, urls, before?.id);
      await removeObjects(
        backend,
        BUCKETS.products,
        urls.filter((url) => !shared.has(url)),
      );
    } catch (error) {
      const kind = fileTypeOf({ name: urls[0]!, type: "" })?.kind ?? "image";
      showProblem({ reason: isDenied(error) ? "remove-denied" : "remove-failed", kind });
    }
  }

  /**
   * Copies the files that a duplicate has from its original work, and returns the media with the URLs of the copies. Without
   * copies, deleting one of the two works would delete the other's files.
   */
  async function copyBorrowedFiles(media: ProductMedia): Promise<ProductMedia> {
    const borrowed = urlsOf(media).filter((url) => start.borrowed.includes(url));
    if (borrowed.length === 0) return media;
    await copyFiles(backend, boot, borrowed, copies.current);
    const copyOrSame = (url: string) => copies.current.get(url) ?? url;
    return {
      image_url: media.image_url === null ? null : copyOrSame(media.image_url),
      image_gallery: media.image_gallery.map(copyOrSame),
      video_gallery: media.video_gallery.map(copyOrSame),
    };
  }

  /** The toast's button that undoes a change of the visibility; undefined if it was not changed. */
  const undoVisibility = (base: Product | null, saved: Product | null) =>
    base && saved && base.published_at !== saved.published_at
      ? undoButton(() =>
          update.mutateAsync({ base: saved, payload: { published_at: base.published_at } }),
        )
      : undefined;

  const { run, saving, conflict, dismissConflict } = useSave<SaveRequest, SaveResult>({
    save: async ({ base, payload }) => {
      const media = await copyBorrowedFiles(payload);
      if (base) return { media, saved: await update.mutateAsync({ base, payload }) };
      const copied = Object.entries(payload.alt_texts ?? {}).map(
        ([url, texts]) => [copies.current.get(url) ?? url, texts] as const,
      );
      const alt_texts = payload.alt_texts && Object.fromEntries(copied);
      await create.mutateAsync({ id: newId, payload: { ...payload, ...media, alt_texts } });
      return { media, saved: null };
    },
    onSaved: ({ media, saved }, { base, uploaded }) => {
      stackedToast({
        title: t(base ? "products.toast.updated" : "products.toast.created"),
        action: undoVisibility(base, saved),
      });
      // Not awaited: a file that cannot be deleted must not fail the save.
      void deleteReleased(base, media, uploaded);
      onSaved();
    },
    onFailed: () => errorToast(t, t("products.toast.saveError")),
  });

  return {
    saving,
    conflict: conflict && { newer: conflict.newer, mine: conflict.request.payload },
    dismissConflict,
    save: (values: ProductValues, media: ProductMedia, uploaded: readonly string[]) =>
      run(saveRequest(start, values, media, uploaded)),
    /** Saves over the newer version. If yet another version was saved meanwhile, this is a conflict again. */
    overwrite: async (uploaded: readonly string[]) => {
      if (conflict) await run(overwriteRequest(conflict.newer, conflict.request.payload, uploaded));
    },
  };
}

/** The request that saves the values of a form whose initial state was `start`. */
async function saveRequest(
  start: ProductFormState,
  values: ProductValues,
  media: ProductMedia,
  uploaded: readonly string[],
): Promise<SaveRequest> {
  const base = start.product;
  // The server may have deleted uploaded files of an old draft, because no row referred to them.
  const existing = start.unsaved ? await withoutMissingFiles(mediaOf(base), media) : media;
  return { base, payload: productPayload(values, existing, base), uploaded };
}

/** The request that saves `mine` over the newer version. */
async function overwriteRequest(
  newer: Product,
  mine: ProductPayload,
  uploaded: readonly string[],
): Promise<SaveRequest> {
  const existing = await withoutMissingFiles(newer, mine);
  return { base: newer, payload: { ...mine, ...existing }, uploaded };
}

/**
 * Removes the files that no longer exist from `mine`. Files of `newer` exist; the others are checked by a request each.
 */
async function withoutMissingFiles(newer: ProductMedia, mine: ProductMedia): Promise<ProductMedia> {
  const known = new Set(urlsOf(newer));
  const deleted = new Set<string>();
  for (const url of urlsOf(mine)) {
    if (known.has(url)) continue;
    try {
      const { status } = await fetch(url, { method: "HEAD", cache: "no-store" });
      if (status >= 400 && status < 500) deleted.add(url);
    } catch (error) {
      // The network failed, so the save that follows fails too.
      console.warn("A file could not be checked", error);
    }
  }
  const exists = (url: string) => !deleted.has(url);
  return {
    image_url: mine.image_url && exists(mine.image_url) ? mine.image_url : null,
    image_gallery: mine.image_gallery.filter(exists),
    video_gallery: mine.video_gallery.filter(exists),
  };
}
