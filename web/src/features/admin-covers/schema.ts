import * as z from "zod/mini";
import { isScheduleValid, scheduleChange, scheduleValues } from "@/features/admin-covers/schedule";
import { COVER_ORDER_MIN } from "@/lib/constants";
import type { CoverImage } from "@/lib/types";
import type { MediaKind } from "@/lib/upload/media-types";

/**
 * Validates the form of a cover (a large picture or video at the top of the home page). display_order is the cover's number
 * in the order. In the form it is a string, because an empty input would become the number 0. Error messages are text keys.
 */
export const coverSchema = z
  .object({
    title: z.string().check(z.trim()),
    description: z.string().check(z.trim()),
    title_pt: z.string().check(z.trim()),
    description_pt: z.string().check(z.trim()),
    alt_en: z.string().check(z.trim()),
    alt_pt: z.string().check(z.trim()),
    display_order: z.string().check(
      z.trim(),
      z.refine(
        // Nine digits always fit into the column, a 32-bit integer on PostgreSQL.
        (text) => /^\d{1,9}$/.test(text) && Number(text) >= COVER_ORDER_MIN,
        "covers.orderMin",
      ),
    ),
    visible_from: z.string(),
    visible_until: z.string(),
  })
  .check(z.refine(isScheduleValid, { path: ["visible_until"], error: "covers.untilError" }));

/** The values of the form of a cover. */
export type CoverValues = z.infer<typeof coverSchema>;

/** The fields of the form that are texts of the owner in one language. */
export const COVER_TEXTS = [
  "title",
  "title_pt",
  "description",
  "description_pt",
  "alt_en",
  "alt_pt",
] as const;
type CoverTexts = Record<(typeof COVER_TEXTS)[number], string>;

/** The form values of a cover. */
export function formValues(cover: CoverImage): CoverValues {
  return {
    ...(Object.fromEntries(COVER_TEXTS.map((name) => [name, cover[name] ?? ""])) as CoverTexts),
    display_order: String(cover.display_order ?? COVER_ORDER_MIN),
    ...scheduleValues(cover),
  };
}

/** The fields to save in an existing cover. */
export type CoverChange = Partial<
  Pick<
    CoverImage,
    | (typeof COVER_TEXTS)[number]
    | "display_order"
    | "is_active"
    | "image_url"
    | "media_type"
    | "video_thumbnail_url"
    | "visible_from"
    | "visible_until"
  >
>;

/**
 * The fields in which the form differs from the row. Only these are saved, so that two tabs do not overwrite each other's
 * fields.
 */
export function coverChange(cover: CoverImage, values: CoverValues): CoverChange {
  const change: CoverChange = scheduleChange(cover, values);
  for (const name of COVER_TEXTS) {
    const text = values[name].trim() || null;
    if (text !== (cover[name] || null)) change[name] = text;
  }
  const order = Number(values.display_order);
  if (order !== cover.display_order) change.display_order = order;
  return change;
}

/** The row to insert for a new cover after `count` others. The thumbnail column of a video repeats the video's URL. */
export function coverPayload(url: string, kind: MediaKind, count: number) {
  return {
    image_url: url,
    media_type: kind,
    display_order: count + 1,
    is_active: true,
    video_thumbnail_url: kind === "video" ? url : null,
  };
}

/** The kind of a cover's file; any media type other than "video" is a picture. */
export function coverKind(cover: Pick<CoverImage, "media_type">): MediaKind {
  return cover.media_type === "video" ? "video" : "image";
}
