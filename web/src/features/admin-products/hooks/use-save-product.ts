import { useRef, useState } from "react";
import { useCreateProduct } from "@/features/admin-products/api/create-product";
import { copyFiles } from "@/features/admin-products/api/copy-files";
import { shownElsewhere } from "@/features/admin-products/api/shown-elsewhere";
import { useUpdateProduct } from "@/features/admin-products/api/update-product";
import { releasedFiles } from "@/features/admin-products/released-files";
import {
  productPayload,
  urlsOf,
  type ProductMedia,
  type ProductPayload,
  type ProductStart,
  type ProductValues,
} from "@/features/admin-products/schema";
import { useUploadToasts } from "@/components/upload/use-upload-toasts";
import { useOwnerBackend } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import { BUCKETS } from "@/lib/constants";
import { useT } from "@/lib/i18n";
import { ChangedMeanwhile } from "@/lib/save-seen";
import { areaToast } from "@/lib/toast";
import type { Product } from "@/lib/types";
import { fileFacts } from "@/lib/upload/media-types";
import { removeObjects } from "@/lib/upload/remove-objects";
import { isDenied } from "@/lib/upload/upload-error";

export type Conflict = { newer: Product; mine: ProductPayload };

/** Saves the row, says how it went, then lets go of the files that the saved row no longer shows. */
export function useSaveProduct(start: ProductStart) {
  const t = useT();
  const boot = useBoot();
  const backend = useOwnerBackend();
  const create = useCreateProduct();
  const update = useUpdateProduct();
  const tellUpload = useUploadToasts();
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const [saving, setSaving] = useState(false);
  const copies = useRef(new Map<string, string>());

  async function release(before: Product | null, media: ProductMedia, uploaded: readonly string[]) {
    const urls = releasedFiles(before, uploaded, media);
    try {
      const kept = await shownElsewhere(backend, urls, before?.id);
      await removeObjects(
        backend,
        BUCKETS.products,
        urls.filter((url) => !kept.has(url)),
      );
    } catch (error) {
      const kind = fileFacts({ name: urls[0]!, type: "" })?.kind ?? "image";
      tellUpload({ reason: isDenied(error) ? "remove-denied" : "remove-failed", kind });
    }
  }

  /** A work filled from another one gets files of its own: deleting one must never empty the other. */
  async function owned(media: ProductMedia): Promise<ProductMedia> {
    const borrowed = urlsOf(media).filter((url) => start.borrowed.includes(url));
    if (borrowed.length === 0) return media;
    await copyFiles(backend, boot, borrowed, copies.current);
    const own = (url: string) => copies.current.get(url) ?? url;
    return {
      image_url: media.image_url === null ? null : own(media.image_url),
      image_gallery: media.image_gallery.map(own),
      video_gallery: media.video_gallery.map(own),
    };
  }

  /** True once the row is stored; a file that could not be removed does not make the save fail. */
  async function store(
    payload: ProductPayload,
    uploaded: readonly string[],
    seen: Product | null,
  ): Promise<boolean> {
    setSaving(true);
    try {
      const media = await owned(payload);
      if (seen) await update.mutateAsync({ seen, payload });
      else await create.mutateAsync({ ...payload, ...media });
      setConflict(null);
      areaToast({ title: t(seen ? "products.toast.updated" : "products.toast.created") });
      void release(seen, media, uploaded);
      return true;
    } catch (error) {
      if (error instanceof ChangedMeanwhile) {
        setConflict({ newer: error.newer as Product, mine: payload });
      } else {
        areaToast({
          title: t("common.error"),
          description: t("products.toast.saveError"),
          destructive: true,
        });
      }
      return false;
    } finally {
      setSaving(false);
    }
  }

  return {
    saving,
    conflict,
    keepEditing: () => setConflict(null),
    save: (values: ProductValues, media: ProductMedia, uploaded: readonly string[]) =>
      store(productPayload(values, media), uploaded, start.product),
    /** Over what somebody else saved; should a third version have come in between, it asks again. */
    saveAnyway: async (uploaded: readonly string[]) => {
      if (!conflict) return false;
      const payload = { ...conflict.mine, ...(await stillThere(conflict)) };
      return store(payload, uploaded, conflict.newer);
    },
  };
}

/** Whoever saved first may have removed pictures, with their files: those cannot come back. */
async function stillThere({ newer, mine }: Conflict): Promise<ProductMedia> {
  const known = new Set(urlsOf(newer));
  const gone = new Set<string>();
  for (const url of urlsOf(mine)) {
    if (known.has(url)) continue;
    try {
      const { status } = await fetch(url, { method: "HEAD", cache: "no-store" });
      if (status >= 400 && status < 500) gone.add(url);
    } catch (error) {
      // Without a network the save that follows fails and says so.
      console.warn("Could not look for a picture", error);
    }
  }
  const stays = (url: string) => !gone.has(url);
  return {
    image_url: mine.image_url && stays(mine.image_url) ? mine.image_url : null,
    image_gallery: mine.image_gallery.filter(stays),
    video_gallery: mine.video_gallery.filter(stays),
  };
}
