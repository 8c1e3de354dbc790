import { ProductForm } from "@/features/admin-products/components/product-form";
import type { ProductFormState } from "@/features/admin-products/schema";
import { DraftDialog } from "@/components/form/draft-dialog";
import type { DraftDialogProps } from "@/lib/editing/use-draft-dialog";
import { useT } from "@/lib/i18n";

/**
 * The dialog in which the owner adds or edits a work (a row of products). useDraftDialog provides its props, and stores unsaved values
 * of the form in the browser.
 */
export function ProductDialog(dialog: DraftDialogProps<ProductFormState>) {
  const t = useT();
  const title = t(dialog.start.product ? "products.editTitle" : "products.add");
  return (
    <DraftDialog dialog={dialog} title={title} fillsPhone className="max-w-[880px]">
      {(form) => <ProductForm {...form} />}
    </DraftDialog>
  );
}
