import { useEffect, useRef, useState } from "react";
import { Plus } from "lucide-react";
import { useProducts } from "@/features/admin-products/api/list-products";
import { BulkButton, BulkUpload } from "@/features/admin-products/components/bulk-upload";
import { DeleteProductDialog } from "@/features/admin-products/components/delete-product-dialog";
import { ProductDialog } from "@/features/admin-products/components/product-dialog";
import { ProductFilters } from "@/features/admin-products/components/product-filters";
import { ProductList } from "@/features/admin-products/components/product-list";
import { useDraftBatch } from "@/features/admin-products/hooks/use-draft-batch";
import { ProductPager } from "@/features/admin-products/components/product-pager";
import { isFiltered, readView, writeView } from "@/features/admin-products/list-view";
import { startOf, startOfCopy } from "@/features/admin-products/schema";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { Button } from "@/components/ui/button";
import { cn } from "@/lib/cn";
import { useT } from "@/lib/i18n";
import { pageCount, useListAddress } from "@/lib/list-address";
import type { Product } from "@/lib/types";
import { useDraftDialog } from "@/lib/use-draft-dialog";

export function ProductsPage() {
  const t = useT();
  const { view, change } = useListAddress(readView, writeView);
  const products = useProducts(view);
  const { data: part, isPlaceholderData } = products;
  const form = useDraftDialog("products", startOf(null));
  const edit = form.show;
  const drafts = useDraftBatch();
  const [deleting, setDeleting] = useState<Product | null>(null);
  const top = useRef<HTMLDivElement>(null);

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
    <AdminPage
      title={t("nav.products")}
      action={
        <>
          <BulkButton add={drafts.add} />
          {add}
        </>
      }
    >
      <div ref={top} className="scroll-mt-24">
        {/* An empty site has nothing to search. */}
        {(filtered || (part && part.total > 0)) && <ProductFilters view={view} onChange={change} />}
        <BulkUpload {...drafts}>
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
        </BulkUpload>
      </div>
      <ProductDialog
        key={form.round}
        start={form.start}
        open={form.open}
        onChanged={form.note}
        onNewer={edit}
        drafted={form.drafted}
        onClose={form.close}
      />
      <DeleteProductDialog product={deleting} onClose={() => setDeleting(null)} />
    </AdminPage>
  );
}
