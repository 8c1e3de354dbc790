import type { OwnerBackend } from "@/lib/backend";
import { ConflictError, unstoredFields } from "@/lib/editing/update-if-unchanged";
import type { Product, Tables } from "@/lib/types";

/** The tables to which the owner adds rows by forms. */
type Extendable = "products" | "reviews" | "series" | "saved_replies";

/**
 * Inserts a row with this id, which the page has chosen. If an earlier attempt has inserted the row and its response was lost, stores
 * the values that the owner has changed since then. So a form that is saved again adds no second row. Returns the last response.
 *
 * @throws ConflictError with the stored row if it was changed since it was inserted, and now differs from `values`.
 */
export async function insertOnce<Name extends Extendable>(
  backend: OwnerBackend,
  table: Name,
  id: string,
  values: Partial<Tables[Name]["Row"]>,
) {
  // The query builder's types do not accept a type parameter as the table, so the call names one of the tables.
  const rows = backend.from(table as "products");
  const columns = values as unknown as Partial<Product>;
  const inserted = await rows
    .upsert({ ...columns, id }, { onConflict: "id", ignoreDuplicates: true })
    .select("id");
  if (inserted.error || inserted.data.length > 0) return inserted;
  // "*" leaves out updated_at, so the select names it.
  const stored = await rows
    .select("*,updated_at" as "*")
    .eq("id", id)
    .single();
  if (stored.error) return stored;
  const fields = unstoredFields<Product>(stored.data, columns);
  if (fields.length === 0) return stored;
  // The insert has set both times to the same value.
  if (stored.data.updated_at !== stored.data.created_at) throw new ConflictError(stored.data);
  const change = Object.fromEntries(fields.map((field) => [field, columns[field]]));
  return rows.update(change as Partial<Product>).eq("id", id);
}
