import { useEffect, useRef, useState } from "react";
import { Plus } from "lucide-react";
import { useDeleteProduct } from "@/features/admin-products/api/delete-product";
import { useProducts, useWorkIds } from "@/features/admin-products/api/list-products";
import { BulkUploadButton, BulkUpload } from "@/features/admin-products/components/bulk-upload";
import { ProductDialog } from "@/features/admin-products/components/product-dialog";
import { LayoutChoice } from "@/features/admin-products/components/layout-choice";
import { ProductFilters } from "@/features/admin-products/components/product-filters";
import { ProductList } from "@/features/admin-products/components/product-list";
import { ProductWall } from "@/features/admin-products/components/product-wall";
import { useChangeWorks } from "@/features/admin-products/hooks/use-change-works";
import { useDraftBatch } from "@/features/admin-products/hooks/use-draft-batch";
import { ProductPager } from "@/features/admin-products/components/product-pager";
import {
  isFiltered,
  readView,
  SORTS,
  writeView,
  type ProductView,
} from "@/features/admin-products/list-view";
import { initialFormState, formStateOfCopy } from "@/features/admin-products/schema";
import { historyDifferences } from "@/features/admin-products/differences";
import { RecentlyDeleted } from "@/components/history/recently-deleted";
import { RowHistory } from "@/components/history/row-history";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { Button } from "@/components/ui/button";
import { DeleteDialog } from "@/components/ui/delete-dialog";
import { useBoot } from "@/lib/boot";
import { cn } from "@/lib/cn";
import { useRestoreVersion } from "@/lib/history/use-restore-version";
import { useT } from "@/lib/i18n";
import { pageCount, useListUrl } from "@/lib/list-url";
import type { Product } from "@/lib/types";
import { useDraftDialog } from "@/lib/editing/use-draft-dialog";

/**
 * The admin page of works (rows of products). It lists the works as a table or as a wall of pictures, with search and filters. The
 * owner adds works one by one in a dialog, or many at once from pictures. Each of these pictures first becomes a draft (a work that is
 * not stored yet). Dialogs also edit and delete a work and show its history.
 */
export function ProductsPage() {
  const t = useT();
  const [firstType] = useBoot().site.gallery.types;
  const { view, change } = useListUrl(readView, writeView);
  const isWall = view.layout === "wall";
  const pageQuery = useProducts(view, !isWall);
  const workIdsQuery = useWorkIds(view, isWall);
  const { data: currentPage, isPlaceholderData } = pageQuery;
  const productDialog = useDraftDialog("products", initialFormState(null));
  const openDialog = productDialog.open;
  const drafts = useDraftBatch();
  const changeWorks = useChangeWorks();
  const { mutateAsync: remove } = useDeleteProduct();
  const { undoDeletion } = useRestoreVersion("products");
  const [productToDelete, setProductToDelete] = useState<Product | null>(null);
  // The id of the work whose history is open; "" if no history is open.
  const [historyId, setHistoryId] = useState("");
  const topRef = useRef<HTMLDivElement>(null);

  // If the page in the URL is beyond the last page, for example after deletions, the first page is shown instead.
  const lastPage = currentPage ? pageCount(currentPage.total) : view.page;
  const isBeyondLastPage = !isPlaceholderData && currentPage !== undefined && view.page > lastPage;
  useEffect(() => {
    if (isBeyondLastPage) change({ page: 1 }, { replace: true });
  }, [isBeyondLastPage, change]);

  /**
   * Changes the layout. From the default order of the table, the wall changes to the owner's order, so that works can be moved. From
   * the owner's order, the table changes to its default order. Any other order stays.
   */
  function showAs(layout: ProductView["layout"]) {
    const sort = layout === "wall" && view.sort === SORTS[0] ? "manual" : view.sort;
    change({ layout, sort: layout === "table" && sort === "manual" ? SORTS[0] : sort });
  }

  function goToPage(page: number) {
    change({ page });
    topRef.current?.scrollIntoView({ block: "start" });
  }

  const addButton = (
    <Button onClick={() => openDialog(initialFormState(null, firstType))}>
      <Plus aria-hidden="true" size={20} strokeWidth={1.75} />
      {t("products.add")}
    </Button>
  );
  const hasFilters = isFiltered(view);
  const hasWorks = isWall ? workIdsQuery.data?.length !== 0 : currentPage && currentPage.total > 0;
  const emptyAction = hasFilters ? (
    <Button variant="outline" onClick={() => change({ q: "", type: "", flag: "" })}>
      {t("products.clearFilters")}
    </Button>
  ) : (
    addButton
  );
  // The row is looked up in the list at each render, so that after a conflict the dialog compares with the newer row.
  const historyRow = currentPage?.rows.find(({ id }) => id === historyId) ?? null;

  return (
    <AdminPage
      title={t("nav.products")}
      action={
        <>
          <BulkUploadButton add={drafts.add} />
          {addButton}
        </>
      }
    >
      <div ref={topRef} className="scroll-mt-24">
        {/* Without any works there is nothing to filter. */}
        {(hasFilters || hasWorks) && (
          <>
            <ProductFilters view={view} onChange={change} />
            <LayoutChoice layout={view.layout} onChange={showAs} />
          </>
        )}
        <BulkUpload {...drafts}>
          {isWall ? (
            <AdminListState
              query={workIdsQuery}
              empty={t(hasFilters ? "products.noMatch" : "products.empty")}
              emptyAction={emptyAction}
            >
              {(ids) => (
                <ProductWall
                  ids={ids}
                  canMove={view.sort === "manual"}
                  moveHint={t("wall.howToMove")}
                  onEdit={(product) => openDialog(initialFormState(product))}
                />
              )}
            </AdminListState>
          ) : (
            <AdminListState
              query={{ ...pageQuery, data: currentPage?.rows }}
              empty={t(hasFilters ? "products.noMatch" : "products.empty")}
              emptyAction={emptyAction}
            >
              {(rows) => (
                <div
                  aria-busy={isPlaceholderData || undefined}
                  className={cn(
                    "transition-opacity duration-200",
                    isPlaceholderData && "opacity-60",
                  )}
                >
                  <ProductList
                    products={rows}
                    sort={view.sort}
                    onSort={(sort) => change({ sort })}
                    onToggle={({ id, ...work }, name) => changeWorks([id], { [name]: !work[name] })}
                    onEdit={(product) => openDialog(initialFormState(product))}
                    onDuplicate={(product) =>
                      openDialog(
                        formStateOfCopy(
                          product,
                          t("products.copyOf", { title: product.title }),
                          product.title_pt
                            ? t("products.copyOf", { title: product.title_pt })
                            : undefined,
                        ),
                      )
                    }
                    onHistory={({ id }) => setHistoryId(id)}
                    onDelete={setProductToDelete}
                  />
                  <ProductPager
                    page={view.page}
                    total={currentPage?.total ?? rows.length}
                    onPage={goToPage}
                  />
                </div>
              )}
            </AdminListState>
          )}
        </BulkUpload>
      </div>
      <RecentlyDeleted table="products" nameOf={({ title }) => title} />
      <RowHistory
        table="products"
        row={historyRow}
        nameOf={({ title }) => title}
        differences={(before, now) => historyDifferences(before, now, t)}
        onClose={() => setHistoryId("")}
      />
      {/* `round` changes each time the dialog opens, so that it has a new form. */}
      <ProductDialog key={productDialog.round} {...productDialog.dialog} />
      <DeleteDialog
        item={productToDelete}
        title={t("products.deleteTitle")}
        question={t("products.deleteConfirm")}
        deleted={t("products.toast.deleted")}
        failed={() => t("products.toast.deleteError")}
        remove={({ id }) => remove(id)}
        undo={({ title, id }) => undoDeletion(title, id)}
        onClose={() => setProductToDelete(null)}
      />
    </AdminPage>
  );
}
