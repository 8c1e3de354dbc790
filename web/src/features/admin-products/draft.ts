import { ARTWORK_TYPES } from "@/lib/constants";
import { formValues, productPayload, type ProductPayload } from "@/features/admin-products/schema";
import type { ArtworkType } from "@/lib/types";

/** A picture on its way to become a work. Its id becomes the row's, so that saving twice saves once. */
export type Draft = {
  id: string;
  file: File;
  /** Object URL of a small copy; null while it is being made. */
  preview: string | null;
  state: "waiting" | "uploading" | "failed" | "refused" | "uploaded" | "saving" | "unsaved";
  /** Per cent. */
  progress: number;
  /** Public address, once stored. */
  url: string | null;
  /** To be saved as soon as the picture is stored. */
  wanted: boolean;
  /** A row may refer to the picture, although no answer said so. */
  attempted: boolean;
  values: DraftValues;
};

export type DraftValues = {
  title: string;
  artwork_type: ArtworkType;
  dimensions: string;
  medium: string;
};

/** "telhados_manha-2.JPG" is called "Telhados manha 2" until the owner gives it a title. */
export function titleFrom(fileName: string): string {
  const words = fileName
    .replace(/\.[^.]+$/, "")
    .normalize("NFC")
    .replaceAll(/[_\-\s]+/g, " ")
    .trim();
  return words.charAt(0).toLocaleUpperCase() + words.slice(1);
}

export function newDraft(id: string, file: File): Draft {
  return {
    id,
    file,
    preview: null,
    state: "waiting",
    progress: 0,
    url: null,
    wanted: false,
    attempted: false,
    values: {
      title: titleFrom(file.name),
      artwork_type: ARTWORK_TYPES[0]!,
      dimensions: "",
      medium: "",
    },
  };
}

export function draftPayload({ values, url }: Draft): ProductPayload {
  return productPayload(
    { ...formValues(null), ...values },
    { image_url: url, image_gallery: [], video_gallery: [] },
  );
}

/** Stored, whether or not its row is saved yet. */
export const isStored = (draft: Draft) => draft.url !== null;
export const hasTitle = (draft: Draft) => draft.values.title.trim() !== "";
