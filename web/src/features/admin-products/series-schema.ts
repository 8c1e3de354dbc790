import * as z from "zod/mini";
import type { HistoryDifference } from "@/components/history/history-dialog";
import { changedFields } from "@/lib/editing/update-if-unchanged";
import type { Translate } from "@/lib/i18n";
import type { Series } from "@/lib/types";

// The data of the form of a series (works that the owner shows together):
//  - slugs (the names of series in URLs), which are made from titles
//  - the validation of the form
//  - the conversion between rows and form values, and the differences of two versions for the history

/** The maximum length of a slug in characters. The server refuses longer slugs. */
const SLUG_MAX = 100;
/** The maximum length of a title in characters, as on the server. */
const TITLE_MAX = 300;
/** The maximum length of the text about a series in characters, as on the server. */
const TEXT_MAX = 20_000;
/** A valid slug: words of lower-case letters and digits, separated by single hyphens. */
const slugPattern = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Makes a slug from a title: "azulejos-de-sao-joao" for "Azulejos de São João". */
export function slugOf(title: string): string {
  return title
    .normalize("NFD") // separates accents from their letters
    .replace(/[\u0300-\u036f]/g, "") // removes the accents
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, SLUG_MAX)
    .replace(/^-+|-+$/g, "");
}

/** Returns the slug. If another series has it, appends the lowest number that makes it unique, as in "azulejos-2". */
export function freeSlug(slug: string, taken: readonly string[]): string {
  if (!taken.includes(slug)) return slug;
  // Leaves room for a hyphen and up to three digits. If the truncated slug ends with a hyphen, that hyphen is removed.
  const stem = slug.slice(0, SLUG_MAX - 4).replace(/-$/, "");
  for (let n = 2; ; n++) {
    const numbered = `${stem}-${n}`;
    if (!taken.includes(numbered)) return numbered;
  }
}

/** The schema of the form of a series. Its error messages are keys of texts (TextKey). `taken` has the slugs of the other series. */
export const seriesSchema = (taken: readonly string[]) =>
  z.object({
    title: z
      .string()
      .check(z.trim(), z.minLength(1, "series.titleRequired"), z.maxLength(TITLE_MAX)),
    title_pt: z.string().check(z.trim(), z.maxLength(TITLE_MAX)),
    text: z.string().check(z.trim(), z.maxLength(TEXT_MAX)),
    text_pt: z.string().check(z.trim(), z.maxLength(TEXT_MAX)),
    slug: z.string().check(
      z.trim(),
      z.regex(slugPattern, "series.slugInvalid"),
      z.maxLength(SLUG_MAX, "series.slugInvalid"),
      z.refine((slug) => !taken.includes(slug), "series.slugTaken"),
    ),
    is_published: z.boolean(),
  });

/** The values of the form of a series. */
export type SeriesValues = z.infer<ReturnType<typeof seriesSchema>>;

/** The columns that the form saves. */
export type SeriesPayload = Pick<
  Series,
  "title" | "title_pt" | "text" | "text_pt" | "slug" | "is_published"
>;

/** The state of the form. The form starts with such a state, and a draft (unsaved values in the browser) stores one. */
export type SeriesFormState = {
  /** The version of the row that the changes are based on. Null for a new series. */
  series: Series | null;
  /** The id that a new series gets, so that saving it again adds no second one. A draft has it, and a form without one chooses it. */
  newId?: string;
  values: SeriesValues;
  /** Whether the state has changes that are not saved. */
  unsaved: boolean;
};

/** The state with which the form starts. `series` is null for a new series. */
export function initialSeriesState(series: Series | null): SeriesFormState {
  return {
    series,
    values: {
      title: series?.title ?? "",
      title_pt: series?.title_pt ?? "",
      text: series?.text ?? "",
      text_pt: series?.text_pt ?? "",
      slug: series?.slug ?? "",
      is_published: series?.is_published ?? true,
    },
    unsaved: false,
  };
}

/** The columns to save for the values of the form. */
export const seriesPayload = (values: SeriesValues): SeriesPayload => ({
  ...values,
  title_pt: values.title_pt || null,
  text: values.text || null,
  text_pt: values.text_pt || null,
});

/** The fields in which two versions of a series differ, with texts of both values. */
export function seriesDifferences(
  before: SeriesPayload,
  now: SeriesPayload,
  t: Translate,
): HistoryDifference[] {
  const labels = {
    title: t("series.title"),
    title_pt: t("form.inPortuguese", { label: t("series.title") }),
    text: t("series.text"),
    text_pt: t("form.inPortuguese", { label: t("series.text") }),
    slug: t("series.slug"),
    is_published: t("history.visible"),
  };
  const fields = Object.keys(labels) as (keyof typeof labels)[];
  return changedFields<SeriesPayload>(before, now, fields).map((field) => {
    const textOf = (row: SeriesPayload) =>
      field === "is_published"
        ? t(row.is_published ? "common.yes" : "common.no")
        : (row[field] ?? "");
    return { label: labels[field], before: textOf(before), now: textOf(now) };
  });
}
