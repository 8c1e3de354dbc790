import type { OwnerBackend } from "@/lib/backend";
import { updateIfUnchanged } from "@/lib/editing/update-if-unchanged";
import { getHistory, type HistoryRows, type HistoryTable } from "@/lib/history/revisions";
import type { Revision, SeriesWork } from "@/lib/types";
import { UNIQUE_VIOLATION } from "@/lib/unique-violation";

// Restores earlier versions of rows, and deleted rows, from revisions. A revision is a row as it was before a change or a deletion.
// Files of the row that were removed or replaced since then are restored with it.

/** The columns with URLs of files. */
const FILE_COLUMNS: Record<HistoryTable, readonly string[]> = {
  products: ["image_url", "image_gallery", "video_gallery"],
  reviews: ["image_url"],
  cover_images: ["image_url", "video_thumbnail_url"],
  series: [], // a series shows the picture of a work
};

/** The columns that keep their current values when an earlier version is restored. */
const KEPT_COLUMNS = [
  "id",
  "created_at",
  "updated_at",
  "is_published",
  "has_begun",
  "has_ended",
  "display_order",
  "position",
  "price",
];

/** The error if a deleted series cannot be inserted again, because another series has its slug. */
export class SlugTakenError extends Error {}

/** Restores removed files, so that their public URLs work again. Returns the URLs whose files no longer exist. */
export async function restoreRemovedFiles(
  backend: OwnerBackend,
  urls: readonly string[],
): Promise<readonly string[]> {
  if (urls.length === 0) return [];
  const { data, error } = await backend.rpc("restore_files", { urls: [...urls] });
  if (error) throw error;
  return data.missing;
}

/**
 * Restores the former content of files that were replaced by files of the same name since the revision. Must be called after the
 * earlier version is saved, because until then the current row shows the newer files.
 */
export async function restoreReplacedFiles(
  backend: OwnerBackend,
  { replaced_files, changed_at }: Revision,
): Promise<void> {
  if (replaced_files.length === 0) return;
  const { error } = await backend.rpc("restore_files", { urls: replaced_files, at: changed_at });
  if (error) throw error;
}

/** Returns the row without the URLs in `missing`. */
function withoutUrls<Row extends object>(
  row: Row,
  columns: readonly string[],
  missing: readonly string[],
): Row {
  const values = { ...row } as Record<string, unknown>;
  for (const column of columns) {
    const value = values[column];
    if (Array.isArray(value)) {
      values[column] = (value as string[]).filter((url) => !missing.includes(url));
    } else if (typeof value === "string" && missing.includes(value)) {
      values[column] = null;
    }
  }
  return values as Row;
}

/** Restores the files of a row. Returns the row without the URLs of files that no longer exist, and the number of these files. */
async function restoreFilesOf<Row extends object>(
  backend: OwnerBackend,
  table: HistoryTable,
  row: Row,
) {
  const values = row as Record<string, unknown>;
  const urls = FILE_COLUMNS[table].flatMap((column) => (values[column] ?? []) as string | string[]);
  const missing = await restoreRemovedFiles(backend, urls);
  return { row: withoutUrls(row, FILE_COLUMNS[table], missing), missing: missing.length };
}

/**
 * Saves an earlier version of a row, with its files. `current` is the row that the owner compared with this version.
 * Returns the number of files that no longer exist.
 *
 * @throws ConflictError if the row was changed meanwhile.
 */
export async function restoreVersion<Table extends HistoryTable>(
  backend: OwnerBackend,
  table: Table,
  current: HistoryRows[Table],
  revision: Revision<HistoryRows[Table]>,
): Promise<number> {
  const { row, missing } = await restoreFilesOf(backend, table, revision.row_before);
  const change = Object.fromEntries(
    Object.entries(row).filter(([name]) => !KEPT_COLUMNS.includes(name)),
  );
  // Any table name satisfies the type parameter of updateIfUnchanged, which this function does not know.
  await updateIfUnchanged(
    backend,
    table as "products",
    current as HistoryRows["products"],
    change as Partial<HistoryRows["products"]>,
  );
  await restoreReplacedFiles(backend, revision);
  return missing;
}

/**
 * Inserts a deleted row again, with its files and in its place. Returns the number of files that no longer exist. A row that is back
 * already is no error.
 *
 * @throws SlugTakenError if another series has the slug of the row.
 */
export async function restoreDeletedRow<Table extends HistoryTable>(
  backend: OwnerBackend,
  table: Table,
  before: HistoryRows[Table],
): Promise<number> {
  const { row, missing } = await restoreFilesOf(backend, table, before);
  const { updated_at: _, ...columns } = row;
  const { error } = await backend.from(table as "products").insert(columns);
  if (error && error.code !== UNIQUE_VIOLATION) throw error;
  if (error && !(await rowExists(backend, table, row.id))) {
    throw table === "series" ? new SlugTakenError(error.message) : error;
  }
  if (table === "products" || table === "series") {
    await restorePairs(backend, table, row.id).catch((reason: unknown) =>
      console.warn("The series could not be restored", reason),
    );
  }
  if (table === "cover_images") {
    // Without renumbering, two covers have the same number. If it fails, the next new cover renumbers them.
    await renumberCovers(backend, row as HistoryRows["cover_images"]).catch((reason: unknown) =>
      console.warn("The covers could not be renumbered", reason),
    );
  }
  return missing;
}

async function rowExists(backend: OwnerBackend, table: HistoryTable, id: string): Promise<boolean> {
  const { data, error } = await backend
    .from(table as "products")
    .select("id")
    .eq("id", id);
  if (error) throw error;
  return data.length > 0;
}

/** How many ids one request names. */
const IDS_PER_REQUEST = 200;

/** Puts a restored work into its series again, or the works of a restored series into the series. */
async function restorePairs(
  backend: OwnerBackend,
  table: "products" | "series",
  id: string,
): Promise<void> {
  // The deletion has left the pairs under the id of the deleted row.
  const kept = (
    await getHistory<{ pairs: SeriesWork[] }>(backend, { table: "series_works", id })
  ).find(({ action }) => action === "delete");
  if (!kept) return;
  const deletions = (await getHistory(backend, { table, id })).filter(
    ({ action }) => action === "delete",
  );
  if (deletions[1] && kept.id < deletions[1].id) return; // these pairs were kept by an earlier deletion
  const { pairs } = kept.row_before;
  const [column, others] =
    table === "products"
      ? (["series_id", "series"] as const)
      : (["product_id", "products"] as const);
  for (let from = 0; from < pairs.length; from += IDS_PER_REQUEST) {
    const some = pairs.slice(from, from + IDS_PER_REQUEST);
    const { data, error } = await backend
      .from(others as "products")
      .select("id")
      .in(
        "id",
        some.map((pair) => pair[column]),
      );
    if (error) throw error;
    const there = new Set(data.map((row) => row.id));
    const rows = some.filter((pair) => there.has(pair[column]));
    if (rows.length === 0) continue;
    const inserted = await backend
      .from("series_works")
      .upsert(rows, { onConflict: "id", ignoreDuplicates: true });
    if (inserted.error) throw inserted.error;
  }
}

/** Inserts a row again that was just deleted, with the values of its newest revision. Returns the number of files that no longer exist. */
export async function undoDeletion(
  backend: OwnerBackend,
  table: HistoryTable,
  id: string,
): Promise<number> {
  const [newest] = await getHistory<HistoryRows[HistoryTable]>(backend, { table, id });
  if (newest?.action !== "delete") throw new Error("The newest revision is not a deletion");
  return restoreDeletedRow(backend, table, newest.row_before);
}

/** Moves a cover to its number and numbers the others after it. */
async function renumberCovers(
  backend: OwnerBackend,
  { id, display_order }: HistoryRows["cover_images"],
) {
  const { data, error } = await backend
    .from("cover_images")
    .select("id")
    .order("display_order", { ascending: true, nullsFirst: false });
  if (error) throw error;
  const ids = data.map((cover) => cover.id).filter((other) => other !== id);
  ids.splice((display_order ?? ids.length + 1) - 1, 0, id);
  const reordered = await backend.rpc("reorder_covers", { ids });
  if (reordered.error) throw reordered.error;
}
