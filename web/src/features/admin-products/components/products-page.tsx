import { useEffect, useRef, useState } from "react";
import { Plus } from "lucide-react";
import { useDeleteProduct } from "@/features/admin-products/api/delete-product";
import { useProducts } from "@/features/admin-products/api/list-products";
import { BulkButton, BulkUpload } from "@/features/admin-products/components/bulk-upload";
import { ProductDialog } from "@/features/admin-products/components/product-dialog";
import { ProductFilters } from "@/features/admin-products/components/product-filters";
import { ProductList } from "@/features/admin-products/components/product-list";
import { useDraftBatch } from "@/features/admin-products/hooks/use-draft-batch";
import { ProductPager } from "@/features/admin-products/components/product-pager";
import { isFiltered, readView, writeView } from "@/features/admin-products/list-view";
import { initialState, initialStateOfCopy } from "@/features/admin-products/schema";
import { historyDifferences } from "@/features/admin-products/conflict";
import { RecentlyDeleted } from "@/components/history/recently-deleted";
import { RowHistory } from "@/components/history/row-history";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { Button } from "@/components/ui/button";
import { DeleteDialog } from "@/components/ui/delete-dialog";
import { cn } from "@/lib/cn";
import { useBringBack } from "@/lib/history/use-bring-back";
import { useT } from "@/lib/i18n";
import { pageCount, useListUrl } from "@/lib/list-url";
import type { Product } from "@/lib/types";
import { useDraftDialog } from "@/lib/editing/use-draft-dialog";

/** The admin page of works: filters, drafts of new pictures, the table, and the dialog to edit a work. */
export function ProductsPage() {
  const t = useT();
  const { view, change } = useListUrl(readView, writeView);
  const products = useProducts(view);
  const { data: current, isPlaceholderData } = products;
  const productDialog = useDraftDialog("products", initialState(null));
  const openDialog = productDialog.open;
  const drafts = useDraftBatch();
  const { mutateAsync: remove } = useDeleteProduct();
  const bringBack = useBringBack("products");
  const [productToDelete, setProductToDelete] = useState<Product | null>(null);
  const [pastId, setPastId] = useState("");
  const topRef = useRef<HTMLDivElement>(null);

  // After works were deleted the page in the URL may be beyond the last page. The first page is then shown.
  const lastPage = current ? pageCount(current.total) : view.page;
  const beyond = !isPlaceholderData && current !== undefined && view.page > lastPage;
  useEffect(() => {
    if (beyond) change({ page: 1 }, true);
  }, [beyond, change]);

  function goToPage(page: number) {
    change({ page });
    topRef.current?.scrollIntoView({ block: "start" });
  }

  const addButton = (
    <Button onClick={() => openDialog(initialState(null))}>
      <Plus aria-hidden="true" size={20} strokeWidth={1.75} />
      {t("products.add")}
    </Button>
  );
  const filtered = isFiltered(view);
  // As the list has it: after a conflict the newer row is compared.
  const past = current?.rows.find(({ id }) => id === pastId) ?? null;

  return (
    <AdminPage
      title={t("nav.products")}
      action={
        <>
          <BulkButton add={drafts.add} />
          {addButton}
        </>
      }
    >
      <div ref={topRef} className="scroll-mt-24">
        {/* Without any works there is nothing to filter. */}
        {(filtered || (current && current.total > 0)) && (
          <ProductFilters view={view} onChange={change} />
        )}
        <BulkUpload {...drafts}>
          <AdminListState
            query={{ ...products, data: current?.rows }}
            empty={t(filtered ? "products.noMatch" : "products.empty")}
            emptyAction={
              filtered ? (
                <Button variant="outline" onClick={() => change({ q: "", type: "", flag: "" })}>
                  {t("products.clearFilters")}
                </Button>
              ) : (
                addButton
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
                  onEdit={(product) => openDialog(initialState(product))}
                  onDuplicate={(product) =>
                    openDialog(
                      initialStateOfCopy(product, t("products.copyOf", { title: product.title })),
                    )
                  }
                  onHistory={({ id }) => setPastId(id)}
                  onDelete={setProductToDelete}
                />
                <ProductPager
                  page={view.page}
                  total={current?.total ?? rows.length}
                  onPage={goToPage}
                />
              </div>
            )}
          </AdminListState>
        </BulkUpload>
      </div>
      <RecentlyDeleted table="products" nameOf={({ title }) => title} />
      <RowHistory
        table="products"
        row={past}
        nameOf={({ title }) => title}
        differences={(before, now) => historyDifferences(before, now, t)}
        onClose={() => setPastId("")}
      />
      <ProductDialog key={productDialog.round} {...productDialog.dialog} />
      <DeleteDialog
        item={productToDelete}
        title={t("products.deleteTitle")}
        question={t("products.deleteConfirm")}
        deleted={t("products.toast.deleted")}
        failed={() => t("products.toast.deleteError")}
        remove={({ id }) => remove(id)}
        undo={({ title, id }) => bringBack.undo(title, id)}
        onClose={() => setProductToDelete(null)}
      />
    </AdminPage>
  );
}
