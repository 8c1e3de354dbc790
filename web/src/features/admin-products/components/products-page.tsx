import { useCallback, useEffect, useRef, useState } from "react";
import { Plus } from "lucide-react";
import { useProducts } from "@/features/admin-products/api/list-products";
import { DeleteProductDialog } from "@/features/admin-products/components/delete-product-dialog";
import { ProductDialog } from "@/features/admin-products/components/product-dialog";
import { ProductFilters } from "@/features/admin-products/components/product-filters";
import { ProductList } from "@/features/admin-products/components/product-list";
import { ProductPager } from "@/features/admin-products/components/product-pager";
import { useListView } from "@/features/admin-products/hooks/use-list-view";
import { isFiltered, pageCount } from "@/features/admin-products/list-view";
import { startOf, startOfCopy, type ProductStart } from "@/features/admin-products/schema";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { Button } from "@/components/ui/button";
import { useAuth } from "@/lib/auth";
import { cn } from "@/lib/cn";
import { draftName, draftOf, dropDraft, keepDraft } from "@/lib/drafts";
import { useT } from "@/lib/i18n";
import type { Product } from "@/lib/types";

type Editing = { start: ProductStart; open: boolean; round: number };

export function ProductsPage() {
  const t = useT();
  const { user } = useAuth();
  const { view, change } = useListView();
  const products = useProducts(view);
  const { data: part, isPlaceholderData } = products;
  const draft = draftName(user?.id, "products");
  // The round is the form's key: each opening starts clean, a refetched list never resets a form.
  const [editing, setEditing] = useState<Editing>(() => {
    const kept = draftOf<ProductStart>(draft);
    return { start: kept ?? startOf(null), open: kept !== undefined, round: 0 };
  });
  const [deleting, setDeleting] = useState<Product | null>(null);
  const top = useRef<HTMLDivElement>(null);
  // While the dialog fades away its form still speaks; what it says then is no draft.
  const closing = useRef(false);

  const edit = useCallback((start: ProductStart) => {
    closing.current = false;
    setEditing(({ round }) => ({ start, open: true, round: round + 1 }));
  }, []);
  const note = useCallback(
    (unsaved: ProductStart | null) => {
      if (closing.current) return;
      if (unsaved) keepDraft(draft, unsaved);
      else dropDraft(draft);
    },
    [draft],
  );
  const close = useCallback(() => {
    closing.current = true;
    dropDraft(draft);
    setEditing((now) => ({ ...now, open: false }));
  }, [draft]);

  // Works were deleted since this address was made.
  const lastPage = part ? pageCount(part.total) : view.page;
  const beyond = !isPlaceholderData && part !== undefined && view.page > lastPage;
  useEffect(() => {
    if (beyond) change({ page: 1 }, true);
  }, [beyond, change]);

  function turn(page: number) {
    change({ page });
    top.current?.scrollIntoView({ block: "start" });
  }

  const add = (
    <Button onClick={() => edit(startOf(null))}>
      <Plus aria-hidden="true" size={20} strokeWidth={1.75} />
      {t("products.add")}
    </Button>
  );
  const filtered = isFiltered(view);

  return (
    <AdminPage title={t("nav.products")} action={add}>
      <div ref={top} className="scroll-mt-24">
        {/* An empty site has nothing to search. */}
        {(filtered || (part && part.total > 0)) && <ProductFilters view={view} onChange={change} />}
        <AdminListState
          query={{ ...products, data: part?.rows }}
          empty={t(filtered ? "products.noMatch" : "products.empty")}
          emptyAction={
            filtered ? (
              <Button variant="outline" onClick={() => change({ q: "", type: "", flag: "" })}>
                {t("products.clearFilters")}
              </Button>
            ) : (
              add
            )
          }
        >
          {(rows) => (
            <div
              aria-busy={isPlaceholderData || undefined}
              className={cn("transition-opacity duration-200", isPlaceholderData && "opacity-60")}
            >
              <ProductList
                products={rows}
                sort={view.sort}
                onSort={(sort) => change({ sort })}
                onEdit={(product) => edit(startOf(product))}
                onDuplicate={(product) =>
                  edit(startOfCopy(product, t("products.copyOf", { title: product.title })))
                }
                onDelete={setDeleting}
              />
              <ProductPager page={view.page} total={part?.total ?? rows.length} onPage={turn} />
            </div>
          )}
        </AdminListState>
      </div>
      <ProductDialog
        key={editing.round}
        start={editing.start}
        open={editing.open}
        onChanged={note}
        onNewer={edit}
        onClose={close}
      />
      <DeleteProductDialog product={deleting} onClose={() => setDeleting(null)} />
    </AdminPage>
  );
}
