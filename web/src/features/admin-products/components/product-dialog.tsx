import { DiscardDialog } from "@/components/ui/discard-dialog";
import { ProductForm } from "@/features/admin-products/components/product-form";
import type { ProductFormState } from "@/features/admin-products/schema";
import { DraftNotice } from "@/components/form/draft-notice";
import {
  DialogClose,
  DialogContent,
  DialogRoot,
  DialogTitle,
  focusDialog,
} from "@/components/ui/dialog";
import { useT } from "@/lib/i18n";
import { useDiscardQuestion, type DraftDialogProps } from "@/lib/editing/use-draft-dialog";

/** The dialog around the form of a work. It asks before unsaved changes are discarded. */
export function ProductDialog(props: DraftDialogProps<ProductFormState>) {
  const t = useT();
  const { start, draft, open, onLoadNewer, hasDraft, onClose, restored } = props;
  const { report, askOrClose, question } = useDiscardQuestion(props);

  return (
    <DialogRoot
      open={open}
      onOpenChange={(next) => {
        if (!next) askOrClose();
      }}
    >
      <DialogContent
        overlayClassName="grid place-items-center md:p-7"
        // The focus in the first field would open the keyboard on a phone.
        onOpenAutoFocus={focusDialog}
        className="flex h-dvh max-w-[880px] flex-col md:h-auto outline-none md:max-h-[calc(100dvh-56px)]"
      >
        <DialogTitle className="border-ink mx-5 flex-none border-b-2 pt-5 pr-14 pb-4 text-[2rem] leading-[1.1] font-[310] md:mx-8 md:pt-[30px] md:pb-[19px]">
          {t(start.product ? "products.editTitle" : "products.add")}
        </DialogTitle>
        {restored && (
          <DraftNotice
            savedAt={restored}
            onDiscard={onClose}
            className="mx-5 flex-none pt-3 md:mx-8"
          />
        )}
        <ProductForm
          start={start}
          draft={draft}
          onChanged={report}
          onLoadNewer={onLoadNewer}
          hasDraft={hasDraft}
          onCancel={askOrClose}
          onSaved={onClose}
        />
        <DialogClose className="top-2.5 right-2 md:top-3.5 md:right-4" />
        <DiscardDialog {...question} />
      </DialogContent>
    </DialogRoot>
  );
}
