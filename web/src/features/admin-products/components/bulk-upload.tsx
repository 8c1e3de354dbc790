import { useRef, type ReactNode } from "react";
import { Images } from "lucide-react";
import { DraftList } from "@/features/admin-products/components/draft-list";
import type { DraftBatchProps } from "@/features/admin-products/hooks/use-draft-batch";
import { Button } from "@/components/ui/button";
import { useFileDrop } from "@/components/upload/use-file-drop";
import { useFilePaste } from "@/components/upload/use-file-paste";
import { usePreventFileDrop } from "@/components/upload/use-prevent-file-drop";
import { useT } from "@/lib/i18n";
import { acceptOf, IMAGE_ONLY } from "@/lib/upload/media-types";

// Here the owner adds many works at once, each from one picture. A picture first becomes a draft: a new work that is not stored yet,
// and whose fields the owner edits above the list of works.

/** A button to choose many pictures together. */
export function BulkUploadButton({ add }: Pick<DraftBatchProps, "add">) {
  const t = useT();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button variant="outline" onClick={() => input.current?.click()}>
        <Images aria-hidden="true" size={20} strokeWidth={1.75} />
        {t("bulk.choose")}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept={acceptOf(IMAGE_ONLY)}
        onChange={(event) => {
          add(Array.from(event.target.files ?? []));
          event.target.value = ""; // so that choosing the same file again is a change
        }}
      />
    </>
  );
}

/** Lets the owner drop or paste pictures onto its children (the list of works), and shows the drafts above the children. */
export function BulkUpload({ children, ...batchProps }: DraftBatchProps & { children: ReactNode }) {
  const t = useT();
  const area = useRef<HTMLDivElement>(null);
  const { isDraggedOver, dropTarget } = useFileDrop(batchProps.add, { multiple: true });
  useFilePaste(area, IMAGE_ONLY, batchProps.add);
  usePreventFileDrop(); // without it, the browser would open a file that is dropped beside the area
  return (
    <div ref={area} {...dropTarget} data-drop="" className="relative min-h-[40vh]">
      <DraftList {...batchProps} />
      {children}
      {isDraggedOver && (
        <div className="outline-indigo bg-indigo-tint/85 pointer-events-none absolute inset-0 z-10 outline-3 outline-offset-8">
          <p className="label-text bg-pop sticky top-[45vh] mx-auto w-fit px-5 py-3">
            {t("bulk.release")}
          </p>
        </div>
      )}
    </div>
  );
}
