import { useId, type ReactNode } from "react";
import { useFileDrop } from "@/components/upload/use-file-drop";
import { useT } from "@/lib/i18n";
import { acceptOf, type MediaKind } from "@/lib/upload/media-types";
import { cn } from "@/lib/cn";

type DropAreaProps = {
  kinds: readonly MediaKind[];
  multiple?: boolean;
  onFiles(files: File[]): void;
  icon: ReactNode;
  text: string;
  /** The id of the field's own label, so that the control is called "Gallery images, Drop images …". */
  labelledBy: string;
  className?: string;
};

/** The whole dashed area is the file button, and files may be dropped on it. */
export function DropArea({
  kinds,
  multiple = false,
  onFiles,
  icon,
  text,
  labelledBy,
  className,
}: DropAreaProps) {
  const t = useT();
  const textId = useId();
  const { over, dropTarget } = useFileDrop(onFiles, multiple);

  return (
    <label
      {...dropTarget}
      className={cn(
        "has-focus-visible:outline-ring relative grid cursor-pointer place-items-center rounded-sm border px-4 py-2 text-center transition-colors duration-200 has-focus-visible:outline-3 has-focus-visible:outline-offset-3",
        over
          ? "border-anil bg-anil-tint"
          : "border-edge bg-sombra hover:border-anil hover:bg-anil-tint border-dashed",
        className,
      )}
    >
      <span
        id={textId}
        className="label-text pointer-events-none flex flex-wrap items-center justify-center gap-x-2.5"
      >
        {over ? (
          t("upload.release")
        ) : (
          <>
            {icon}
            <span>{text}</span>
          </>
        )}
      </span>
      <input
        type="file"
        className="sr-only"
        accept={acceptOf(kinds)}
        multiple={multiple}
        aria-labelledby={`${labelledBy} ${textId}`}
        onChange={(event) => {
          onFiles(Array.from(event.target.files ?? []));
          // The same file chosen again after a removal must fire again.
          event.target.value = "";
        }}
      />
    </label>
  );
}
