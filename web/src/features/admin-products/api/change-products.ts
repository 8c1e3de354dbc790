import { useMemo } from "react";
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import type { ProductsPage } from "@/features/admin-products/api/list-products";
import { deleteProducts } from "@/features/admin-products/api/delete-product";
import { movesBack } from "@/lib/place-of";
import { undoDeletion } from "@/lib/history/bring-back";
import { queryKeys } from "@/lib/query-keys";
import { refetch } from "@/lib/refetch";
import type { MoveArgs, Product } from "@/lib/types";

// This file changes several works (rows of products) at once, for the wall (the admin area's list of works as pictures).

/** The columns that can be changed for several works at once. */
export type WorkValues = Partial<
  Pick<
    Product,
    "is_featured" | "in_stock" | "artwork_type" | "medium" | "medium_pt" | "creation_date" | "tags"
  >
>;

/** How many works can be changed at once. Their ids are in the URL of one request, whose length is limited. */
export const MAX_CHANGED = 200;

/**
 * Returns functions that change several works at once, and functions that undo these changes. Each function refetches the lists of
 * works at the end, also after a failure.
 */
export function useChangeProducts() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMemo(() => {
    const refetchProducts = () => refetch(cache, queryKeys.products.all);
    return {
      /** Sets the same values in works. Resolves with the works as they were before, of which only `id` and these columns are read. */
      change: async (ids: readonly string[], values: WorkValues): Promise<Product[]> => {
        const { data: before, error } = await backend
          .from("products")
          .select(["id", ...Object.keys(values)].join() as "*") // `as "*"` types the rows as whole works
          .in("id", [...ids]);
        if (error) throw error;
        showValues(cache, ids, values);
        try {
          await update(backend, ids, values);
        } finally {
          await refetchProducts();
        }
        return before;
      },
      /** Undoes `change`: sets the values that the works had before. Works with equal values share a request. */
      undoChange: async (before: readonly Product[], changed: WorkValues) => {
        const groups = new Map<string, { ids: string[]; values: WorkValues }>();
        for (const work of before) {
          const values = Object.fromEntries(
            Object.keys(changed).map((name) => [name, work[name as keyof WorkValues]]),
          ) as WorkValues;
          const key = JSON.stringify(values);
          const group = groups.get(key) ?? { ids: [], values };
          group.ids.push(work.id);
          groups.set(key, group);
        }
        try {
          for (const { ids, values } of groups.values()) await update(backend, ids, values);
        } finally {
          await refetchProducts();
        }
      },
      /** Moves works in the owner's order. */
      move: async (args: MoveArgs) => {
        try {
          const { error } = await backend.rpc("move_work", args);
          if (error) throw error;
        } finally {
          await refetchProducts();
        }
      },
      /** Moves works back to their earlier places. `before` is the order of all works of the list before the move. */
      undoMove: async (before: readonly string[], moved: readonly string[]) => {
        try {
          for (const args of movesBack(before, moved)) {
            const { error } = await backend.rpc("move_work", args);
            if (error) throw error;
          }
        } finally {
          await refetchProducts();
        }
      },
      remove: (ids: readonly string[]) => deleteProducts(backend, cache, ids),
      /** Inserts deleted works again, with the values and the places that they had. */
      undoRemove: async (ids: readonly string[]) => {
        try {
          for (const id of ids) await undoDeletion(backend, "products", id);
        } finally {
          await refetchProducts();
        }
      },
    };
  }, [backend, cache]);
}

/** Sets the same values in several works. */
async function update(
  backend: OwnerBackend,
  ids: readonly string[],
  values: WorkValues,
): Promise<void> {
  const { error } = await backend
    .from("products")
    .update(values)
    .in("id", [...ids]);
  if (error) throw error;
}

/** Shows new values in the wall and the table before the server has confirmed them. */
function showValues(cache: QueryClient, ids: readonly string[], values: WorkValues): void {
  const changed = (works: Product[]) =>
    works.map((work) => (ids.includes(work.id) ? { ...work, ...values } : work));
  cache.setQueriesData<Product[]>(
    { queryKey: [...queryKeys.products.admin, "by-id"] },
    (works) => works && changed(works),
  );
  cache.setQueriesData<unknown>({ queryKey: queryKeys.products.admin }, (page: unknown) =>
    isPage(page) ? { ...page, rows: changed(page.rows) } : page,
  );
}

/** Whether the data of a query are a page of the table, and not works or ids of the wall. */
const isPage = (data: unknown): data is ProductsPage =>
  typeof data === "object" && data !== null && "rows" in data;
