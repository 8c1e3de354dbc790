import type { OwnerBackend } from "@/lib/backend";
import type { Tables } from "@/lib/types";

type Editable = "products" | "reviews" | "cover_images";
type Row<Name extends Editable> = Tables[Name]["Row"];

/** The row was changed by somebody else since it was read. */
export class ChangedMeanwhile<T> extends Error {
  constructor(readonly newer: T) {
    super("The row was changed meanwhile");
  }
}

const TRIES = 3;

const same = (a: unknown, b: unknown) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

/** Those of the fields in which two versions of a row differ. */
export function differing<T extends object>(a: T, b: T, fields: readonly (keyof T)[]): (keyof T)[] {
  return fields.filter((field) => !same(a[field], b[field]));
}

/**
 * Saves a change of a row if the row is still the one that was seen. When only other things than `fields` were
 * changed meanwhile (a switch, say) it saves all the same. Rejects with ChangedMeanwhile otherwise, and with the
 * service's error when the row is gone.
 */
export async function saveSeen<Name extends Editable>(
  backend: OwnerBackend,
  table: Name,
  seen: Row<Name>,
  change: Partial<Row<Name>>,
  fields: readonly (keyof Row<Name>)[] = Object.keys(change) as (keyof Row<Name>)[],
): Promise<Row<Name>> {
  // The builder's types cannot follow a table that is a type parameter; the signature above does.
  const rows = backend.from(table as "products");
  let at = seen.updated_at ?? null;
  for (let tries = 1; ; tries++) {
    const update = rows.update(change as Partial<Row<"products">>).eq("id", seen.id);
    const { data, error } = await (
      at === null ? update.is("updated_at", null) : update.eq("updated_at", at)
    ).select("*,updated_at");
    if (error) throw error;
    if (data[0]) return data[0];
    // single() turns "no such row" into an error: another tab may have deleted it.
    const current = await rows.select("*,updated_at").eq("id", seen.id).single();
    if (current.error) throw current.error;
    const newer = current.data as unknown as Row<Name>;
    if (tries === TRIES || differing(newer, seen, fields).length > 0) {
      throw new ChangedMeanwhile(newer);
    }
    at = newer.updated_at ?? null;
  }
}
