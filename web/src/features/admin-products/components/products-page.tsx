import { useState } from "react";
import { Plus } from "lucide-react";
import { useProducts } from "@/features/admin-products/api/list-products";
import { BulkButton, BulkUpload } from "@/features/admin-products/components/bulk-upload";
import { DeleteProductDialog } from "@/features/admin-products/components/delete-product-dialog";
import { ProductDialog } from "@/features/admin-products/components/product-dialog";
import { ProductList } from "@/features/admin-products/components/product-list";
import { useDraftBatch } from "@/features/admin-products/hooks/use-draft-batch";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { Button } from "@/components/ui/button";
import { useT } from "@/lib/i18n";
import type { Product } from "@/lib/types";

type Editing = { product: Product | null; open: boolean; round: number };

export function ProductsPage() {
  const t = useT();
  const products = useProducts();
  const drafts = useDraftBatch();
  // The round is the form's key: each opening starts clean, a refetched list never resets a form.
  const [editing, setEditing] = useState<Editing>({ product: null, open: false, round: 0 });
  const [deleting, setDeleting] = useState<Product | null>(null);

  const edit = (product: Product | null) =>
    setEditing(({ round }) => ({ product, open: true, round: round + 1 }));

  const add = (
    <Button onClick={() => edit(null)}>
      <Plus aria-hidden="true" size={20} strokeWidth={1.75} />
      {t("products.add")}
    </Button>
  );

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
      <BulkUpload {...drafts}>
        <AdminListState query={products} empty={t("products.empty")} emptyAction={add}>
          {(rows) => <ProductList products={rows} onEdit={edit} onDelete={setDeleting} />}
        </AdminListState>
      </BulkUpload>
      <ProductDialog
        key={editing.round}
        product={editing.product}
        open={editing.open}
        onClose={() => setEditing((now) => ({ ...now, open: false }))}
      />
      <DeleteProductDialog product={deleting} onClose={() => setDeleting(null)} />
    </AdminPage>
  );
}
