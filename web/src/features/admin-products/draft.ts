import {
  canSchedule,
  visibilityValues,
  type VisibilityValues,
} from "@/features/admin-products/visibility";
import { formValues, productPayload, type ProductPayload } from "@/features/admin-products/schema";
import type { ArtworkType } from "@/lib/types";

/**
 * A draft is a new work that is not stored yet. When the owner chooses many pictures at once, each accepted picture becomes a draft. The
 * visibility "draft" is something else: a stored work that only the owner sees.
 */
export type Draft = {
  /** The id that the stored work gets, so that saving twice inserts only one work. */
  id: string;
  file: File;
  /** Object URL of a thumbnail, or the URL of a rendition (the uploaded picture, resized). Null until there is one. */
  preview: string | null;
  /** The usual order is waiting, uploading, uploaded, saving. When the work is saved, the draft is removed. */
  state:
    /** The picture is not uploaded yet. */
    | "waiting"
    | "uploading"
    /** The upload has failed. */
    | "failed"
    /** The file is not accepted. */
    | "refused"
    /** The picture is uploaded, and the work is not saved yet. */
    | "uploaded"
    | "saving"
    /** Saving has failed. */
    | "unsaved"
    /** The draft was restored after a reload, but the browser has not kept its file. */
    | "missing";
  /** The uploaded share in per cent. */
  progress: number;
  /** Public URL of the uploaded picture; null before the upload has ended. */
  url: string | null;
  /** Whether the owner has asked to save the draft. If so, the draft is saved as soon as its picture is uploaded. */
  saveRequested: boolean;
  /** Whether a save was attempted. If so, a stored work may refer to the file, even if no response has arrived. */
  attempted: boolean;
  values: DraftValues;
};

/** The fields of the work that the owner can edit before it is saved. */
export type DraftValues = {
  title: string;
  artwork_type: ArtworkType;
  dimensions: string;
  medium: string;
} & VisibilityValues;

/** Proposes a title from a file name: "Telhados manha 2" for "telhados_manha-2.JPG". */
export function titleFrom(fileName: string): string {
  const words = fileName
    .replace(/\.[^.]+$/, "")
    .normalize("NFC")
    .replaceAll(/[_\-\s]+/g, " ")
    .trim();
  return words.charAt(0).toLocaleUpperCase() + words.slice(1);
}

/** Makes a draft for a chosen file, with a title made from the file name. `type` is the type of the work. */
export function newDraft(id: string, file: File, type: ArtworkType): Draft {
  return {
    id,
    file,
    preview: null,
    state: "waiting",
    progress: 0,
    url: null,
    saveRequested: false,
    attempted: false,
    values: {
      title: titleFrom(file.name),
      artwork_type: type,
      dimensions: "",
      medium: "",
      ...visibilityValues(null),
    },
  };
}

/** The row to insert for a draft whose picture is uploaded. */
export function draftPayload({ values, url }: Draft): ProductPayload {
  return productPayload(
    { ...formValues(null), ...values },
    { image_url: url, image_gallery: [], video_gallery: [] },
  );
}

/** Whether the picture is uploaded. */
export const isUploaded = (draft: Draft) => draft.url !== null;
/** Whether the draft has a title, without which it cannot be saved. */
export const hasTitle = (draft: Draft) => draft.values.title.trim() !== "";
/** Whether a scheduled draft has a time that is still to come, without which it cannot be saved. */
export const hasTime = ({ values }: Draft) =>
  values.visibility !== "scheduled" || canSchedule(values.publish_at);
/** Whether the draft has what a work needs, apart from its picture. */
export const isComplete = (draft: Draft) => hasTitle(draft) && hasTime(draft);
