import type { OwnerBackend } from "@/lib/backend";
import type { Tables } from "@/lib/types";

/** The tables whose rows the owner edits in forms. */
type EditableTable = "products" | "reviews" | "cover_images" | "series";
type Row<Name extends EditableTable> = Tables[Name]["Row"];

// Saves the changes of a form only if nobody else has changed the same fields since the form was loaded.

/** The error if a newer version was saved since the form was loaded. `newer` is the newer version. */
export class ConflictError<T> extends Error {
  constructor(readonly newer: T) {
    super("A newer version was saved meanwhile");
  }
}

/** The maximum number of attempts of an update. An attempt fails if somebody else has changed another field of the row. */
const MAX_ATTEMPTS = 3;

/** The server replaces this value of a time by its current time, so that the clock of the owner's device does not matter. */
export const SERVER_TIME = "now";

/** A value as JSON. The keys of objects are sorted, because the server stores them in its own order. */
const jsonOf = (value: unknown) =>
  JSON.stringify(value ?? null, (_, part: unknown) =>
    part !== null && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/** Whether a value is a time with its zone. The server writes the zone as +00:00, and browsers write it as Z. */
const isTime = (value: unknown): value is string =>
  typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(value);

const isSame = (a: unknown, b: unknown) =>
  jsonOf(a) === jsonOf(b) || (isTime(a) && isTime(b) && Date.parse(a) === Date.parse(b));

/** Returns the fields in `fields` that differ between two versions of a row. */
export function changedFields<T extends object>(
  a: T,
  b: T,
  fields: readonly (keyof T)[],
): (keyof T)[] {
  return fields.filter((field) => !isSame(a[field], b[field]));
}

/**
 * Returns the fields of `change` whose values the stored row does not have. A field that `change` sets to SERVER_TIME counts as
 * stored if the row's time in that field is not later than updated_at. That time had come when the row was written, which is what
 * SERVER_TIME asks for.
 */
export function unstoredFields<T extends object & { updated_at?: string | null }>(
  stored: T,
  change: Partial<T>,
): (keyof T)[] {
  const writtenAt: unknown = stored.updated_at;
  return (Object.keys(change) as (keyof T)[]).filter((field) => {
    const current: unknown = stored[field];
    const value: unknown = change[field];
    if (value === SERVER_TIME && isTime(current) && isTime(writtenAt))
      return Date.parse(current) > Date.parse(writtenAt);
    return !isSame(current, value);
  });
}

/**
 * Updates the fields in `change` of a row, unless somebody else has changed one of these fields since the form read `base` (the
 * version that the form was loaded with). Returns the updated row. An attempt updates the row only if the row has the expected
 * updated_at, at first the updated_at of `base`. If the row is newer but differs from `base` only in other fields, the next attempt
 * expects the newer updated_at. A field that already has the value of `change` is no conflict: an earlier attempt has saved it, and
 * its response was lost.
 *
 * @throws ConflictError with the newer row if one of the fields was changed, or if the row was newer at every attempt.
 * Errors of the server are thrown too, for example if the row was deleted.
 */
export async function updateIfUnchanged<Name extends EditableTable>(
  backend: OwnerBackend,
  table: Name,
  base: Row<Name>,
  change: Partial<Row<Name>>,
): Promise<Row<Name>> {
  // The query builder's types do not accept a type parameter as the table, so the call names one of the tables.
  const rows = backend.from(table as "products");
  let updatedAt = base.updated_at ?? null;
  for (let attempt = 1; ; attempt++) {
    const update = rows.update(change as Partial<Row<"products">>).eq("id", base.id);
    // "*" leaves out updated_at, so the select names it.
    const { data, error } = await (
      updatedAt === null ? update.is("updated_at", null) : update.eq("updated_at", updatedAt)
    ).select("*,updated_at");
    if (error) throw error;
    if (data[0]) return data[0];
    // No row was updated: it is newer or deleted. For a deleted row, single() returns an error.
    const current = await rows.select("*,updated_at").eq("id", base.id).single();
    if (current.error) throw current.error;
    const newer = current.data as unknown as Row<Name>;
    const conflicts = changedFields(newer, base, unstoredFields(newer, change));
    if (attempt === MAX_ATTEMPTS || conflicts.length > 0) {
      throw new ConflictError(newer);
    }
    updatedAt = newer.updated_at ?? null;
  }
}
