import { useMemo } from "react";
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import {
  fetchOwnersOrder,
  loadedOwnersOrder,
  type ProductsPage,
} from "@/features/admin-products/api/list-products";
import { deleteProducts } from "@/features/admin-products/api/delete-product";
import { useBoot } from "@/lib/boot";
import { undoableMoves } from "@/lib/editing/undoable-moves";
import { changedFields, ConflictError } from "@/lib/editing/update-if-unchanged";
import { undoDeletion } from "@/lib/history/restore-version";
import { queryKeys } from "@/lib/query-keys";
import { refetch } from "@/lib/refetch";
import type { Product } from "@/lib/types";

// Changes several works (rows of products) at once, for the wall (the admin area's list of works as pictures).

/** The columns that can be changed for several works at once. */
export type WorkValues = Partial<
  Pick<
    Product,
    "is_featured" | "in_stock" | "artwork_type" | "medium" | "medium_pt" | "creation_date" | "tags"
  >
>;

/** The changed works before and after a change. The works have only `id` and the changed columns. */
type WorksChange = { before: Product[]; after: Product[] };

/** The maximum number of works in one change. Their ids are in the URL of one request, whose length is limited. */
export const MAX_CHANGED = 200;

/**
 * Returns functions that change several works at once, and functions that undo these changes. Each function refetches the lists of
 * works at the end, also after a failure.
 */
export function useChangeProducts() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  const { types } = useBoot().site.gallery;
  return useMemo(() => {
    const refetchProducts = () => refetch(queryClient, queryKeys.products.all);
    return {
      /** Sets the same values in works. */
      change: async (ids: readonly string[], values: WorkValues): Promise<WorksChange> => {
        const before = await readValues(backend, ids, values);
        showValues(queryClient, ids, values);
        try {
          return { before, after: await update(backend, ids, values) };
        } finally {
          await refetchProducts();
        }
      },
      /**
       * Undoes `change`: sets the values that the works had before. Works with equal values share a request. Rejects with
       * ConflictError, and changes nothing, if one of these values was changed since.
       */
      undoChange: async ({ before, after }: WorksChange, changedValues: WorkValues) => {
        const groups = new Map<string, { ids: string[]; values: WorkValues }>();
        for (const work of before) {
          const values = Object.fromEntries(
            Object.keys(changedValues).map((name) => [name, work[name as keyof WorkValues]]),
          ) as WorkValues;
          const key = JSON.stringify(values);
          const group = groups.get(key) ?? { ids: [], values };
          group.ids.push(work.id);
          groups.set(key, group);
        }
        try {
          await checkUnchanged(backend, after, changedValues);
          for (const { ids, values } of groups.values()) await update(backend, ids, values);
        } finally {
          await refetchProducts();
        }
      },
      /** Moves works in the owner's order. */
      move: undoableMoves({
        loadedOrder: () => loadedOwnersOrder(queryClient, types),
        readOrder: () => fetchOwnersOrder(backend),
        save: async (args) => {
          const { error } = await backend.rpc("move_work", args);
          if (error) throw error;
        },
        refetch: refetchProducts,
      }),
      remove: (ids: readonly string[]) => deleteProducts(backend, queryClient, ids),
      /** Inserts deleted works again, with the values and the places that they had. */
      undoRemove: async (ids: readonly string[]) => {
        try {
          for (const id of ids) await undoDeletion(backend, "products", id);
        } finally {
          await refetchProducts();
        }
      },
    };
  }, [backend, queryClient, types]);
}

/** The id and the columns of `values`. As "*" it types the rows as whole works. */
const columnsOf = (values: WorkValues) => ["id", ...Object.keys(values)].join() as "*";

/** Reads the columns of `values` in several works. */
async function readValues(
  backend: OwnerBackend,
  ids: readonly string[],
  values: WorkValues,
): Promise<Product[]> {
  const { data, error } = await backend
    .from("products")
    .select(columnsOf(values))
    .in("id", [...ids]);
  if (error) throw error;
  return data;
}

/** Sets the same values in several works. Returns the changed works. */
async function update(
  backend: OwnerBackend,
  ids: readonly string[],
  values: WorkValues,
): Promise<Product[]> {
  const { data, error } = await backend
    .from("products")
    .update(values)
    .in("id", [...ids])
    .select(columnsOf(values));
  if (error) throw error;
  return data;
}

/** Throws ConflictError if works that still exist have other values than `expected` in the columns of `changed`. */
async function checkUnchanged(
  backend: OwnerBackend,
  expected: readonly Product[],
  changed: WorkValues,
): Promise<void> {
  const expectedById = new Map(expected.map((work) => [work.id, work]));
  const current = await readValues(backend, [...expectedById.keys()], changed);
  const columns = Object.keys(changed) as (keyof WorkValues)[];
  const isChanged = (work: Product) =>
    changedFields<Product>(work, expectedById.get(work.id)!, columns).length > 0;
  if (current.some(isChanged)) throw new ConflictError(current);
}

/** Shows new values in the wall and the table before the server has confirmed them. */
function showValues(queryClient: QueryClient, ids: readonly string[], values: WorkValues): void {
  const changed = (works: Product[]) =>
    works.map((work) => (ids.includes(work.id) ? { ...work, ...values } : work));
  queryClient.setQueriesData<Product[]>(
    { queryKey: [...queryKeys.products.admin, "by-id"] },
    (works) => works && changed(works),
  );
  queryClient.setQueriesData<unknown>({ queryKey: queryKeys.products.admin }, (page: unknown) =>
    isPage(page) ? { ...page, rows: changed(page.rows) } : page,
  );
}

/** Whether the data of a query are a page of the table, and not works or ids of the wall. */
const isPage = (data: unknown): data is ProductsPage =>
  typeof data === "object" && data !== null && "rows" in data;
