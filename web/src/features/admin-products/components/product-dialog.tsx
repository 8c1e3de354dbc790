import { useCallback, useState } from "react";
import { DiscardDialog } from "@/components/ui/discard-dialog";
import { ProductForm } from "@/features/admin-products/components/product-form";
import { DialogClose, DialogContent, DialogRoot, DialogTitle } from "@/components/ui/dialog";
import { useT } from "@/lib/i18n";
import type { Product } from "@/lib/types";

type ProductDialogProps = {
  /** The work to edit, or null for a new one; read once when the dialog opens. */
  product: Product | null;
  open: boolean;
  onClose(): void;
};

export function ProductDialog({ product, open, onClose }: ProductDialogProps) {
  const t = useT();
  const [changed, setChanged] = useState(false);
  const [asking, setAsking] = useState(false);

  const askOrClose = useCallback(() => {
    if (changed) setAsking(true);
    else onClose();
  }, [changed, onClose]);

  return (
    <DialogRoot
      open={open}
      onOpenChange={(next) => {
        if (!next) askOrClose();
      }}
    >
      <DialogContent
        layerClassName="grid place-items-center md:p-7"
        // Not the first field: that would select its text, and open the keyboard on a phone.
        onOpenAutoFocus={(event) => {
          event.preventDefault();
          (event.currentTarget as HTMLElement).focus();
        }}
        className="flex h-dvh max-w-[880px] flex-col md:h-auto outline-none md:max-h-[calc(100dvh-56px)]"
      >
        <DialogTitle className="border-ink mx-5 flex-none border-b-2 pt-5 pr-14 pb-4 text-[2rem] leading-[1.1] font-[310] md:mx-8 md:pt-[30px] md:pb-[19px]">
          {t(product ? "products.editTitle" : "products.add")}
        </DialogTitle>
        <ProductForm
          product={product}
          onChanged={setChanged}
          onCancel={askOrClose}
          onSaved={onClose}
        />
        <DialogClose className="top-2.5 right-2 md:top-3.5 md:right-4" />
        <DiscardDialog
          open={asking}
          onKeep={() => setAsking(false)}
          onDiscard={() => {
            setAsking(false);
            onClose();
          }}
        />
      </DialogContent>
    </DialogRoot>
  );
}
