import { useDeleteProduct } from "@/features/admin-products/api/delete-product";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { useT } from "@/lib/i18n";
import { areaToast } from "@/lib/toast";
import type { Product } from "@/lib/types";

type DeleteProductDialogProps = { product: Product | null; onClose(): void };

export function DeleteProductDialog({ product, onClose }: DeleteProductDialogProps) {
  const t = useT();
  const remove = useDeleteProduct();

  function confirm() {
    if (!product) return;
    remove.mutate(product.id, {
      onSuccess: () => areaToast({ title: t("products.toast.deleted") }),
      onError: () =>
        areaToast({
          title: t("common.error"),
          description: t("products.toast.deleteError"),
          destructive: true,
        }),
      onSettled: onClose,
    });
  }

  return (
    <ConfirmDialog
      open={product !== null}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      title={t("products.deleteTitle")}
      question={t("products.deleteConfirm")}
      onConfirm={confirm}
      busy={remove.isPending}
    />
  );
}
