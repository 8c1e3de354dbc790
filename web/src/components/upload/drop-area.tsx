import { useId, type ReactNode } from "react";
import { useFileDrop } from "@/components/upload/use-file-drop";
import { useT } from "@/lib/i18n";
import { acceptOf, type MediaKind } from "@/lib/upload/media-types";
import { cn } from "@/lib/cn";

type DropAreaProps = {
  /** The accepted kinds of files. */
  kinds: readonly MediaKind[];
  multiple?: boolean;
  onFiles(files: File[]): void;
  /** The icon in front of the text. While files are dragged over the area, another text replaces the icon and the text. */
  icon: ReactNode;
  /** Says what to drop or choose. Part of the accessible name of the input, after the field's label. */
  text: string;
  /** The id of the field's label. */
  labelledBy: string;
  className?: string;
};

/** A dashed area that opens the file picker when it is clicked, and accepts dropped files. */
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
  const { isDraggedOver, dropTarget } = useFileDrop(onFiles, { multiple });

  return (
    <label
      {...dropTarget}
      className={cn(
        "has-focus-visible:outline-ring relative grid cursor-pointer place-items-center rounded-sm border px-4 py-2 text-center transition-colors duration-200 has-focus-visible:outline-3 has-focus-visible:outline-offset-3",
        isDraggedOver
          ? "border-indigo bg-indigo-tint"
          : "border-edge bg-shade hover:border-indigo hover:bg-indigo-tint border-dashed",
        className,
      )}
    >
      <span
        id={textId}
        className="label-text pointer-events-none flex flex-wrap items-center justify-center gap-x-2.5"
      >
        {isDraggedOver ? (
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
        // The MIME types and file extensions of these kinds.
        accept={acceptOf(kinds)}
        multiple={multiple}
        aria-labelledby={`${labelledBy} ${textId}`}
        onChange={(event) => {
          onFiles(Array.from(event.target.files ?? []));
          // Without this, choosing the same file again causes no change event.
          event.target.value = "";
        }}
      />
    </label>
  );
}
