import { useId, useRef } from "react";
import { Upload, X } from "lucide-react";
import { CameraButton } from "@/components/upload/camera-button";
import { DropArea } from "@/components/upload/drop-area";
import { MediaTile, TileButton, metadataOf } from "@/components/upload/media-tile";
import { useFileDrop } from "@/components/upload/use-file-drop";
import { useFilePaste } from "@/components/upload/use-file-paste";
import type { UploadQueue } from "@/components/upload/use-upload-queue";
import { useT } from "@/lib/i18n";
import type { MediaInfo } from "@/lib/media";
import { acceptOf, IMAGE_ONLY } from "@/lib/upload/media-types";
import { cn } from "@/lib/cn";

type SingleImageFieldProps = {
  label: string;
  optional?: boolean;
  /** The upload queue of the field, from useUploadQueue with the option `single`: its files, and functions that change them. */
  queue: UploadQueue;
  /** Metadata of the stored files. */
  media?: MediaInfo;
  /** Classes of the drop area. */
  areaClassName?: string;
};

/** A field for one picture: a drop area while the field is empty, else a tile with buttons that replace and remove the picture. */
export function SingleImageField({
  label,
  optional,
  queue,
  media,
  areaClassName,
}: SingleImageFieldProps) {
  const t = useT();
  const labelId = useId();
  const input = useRef<HTMLInputElement>(null);
  const { isDraggedOver, dropTarget } = useFileDrop(queue.add);
  // While a replacement uploads, the queue has the old picture and then the new one.
  const entry = queue.files.at(-1);
  const fieldElement = useRef<HTMLDivElement>(null);
  useFilePaste(fieldElement, IMAGE_ONLY, queue.add, { isFull: entry !== undefined });

  return (
    <div ref={fieldElement} role="group" aria-labelledby={labelId}>
      <p id={labelId} className="label-text mb-2">
        {label}
        {optional && <span className="text-ink2 font-[430]"> {t("common.optional")}</span>}
      </p>
      {entry ? (
        <div
          {...dropTarget}
          className={cn(
            "w-fit rounded-sm",
            isDraggedOver && "outline-indigo outline-3 outline-offset-3",
          )}
        >
          <MediaTile
            entry={entry}
            kind="image"
            alt={label}
            info={metadataOf(entry, media)}
            onRetry={() => queue.retry(entry.id)}
            onRemove={() => queue.remove(entry.id)}
          >
            <TileButton label={t("upload.replace")} onClick={() => input.current?.click()}>
              <Upload aria-hidden="true" size={19} strokeWidth={1.75} />
            </TileButton>
            <span className="flex-1" />
            <TileButton label={t("upload.remove")} onClick={() => queue.remove(entry.id)}>
              <X aria-hidden="true" size={19} strokeWidth={1.75} />
            </TileButton>
          </MediaTile>
          <input
            ref={input}
            type="file"
            hidden
            accept={acceptOf(IMAGE_ONLY)}
            onChange={(event) => {
              queue.add(Array.from(event.target.files ?? []));
              event.target.value = "";
            }}
          />
        </div>
      ) : (
        <DropArea
          kinds={IMAGE_ONLY}
          onFiles={queue.add}
          icon={<Upload aria-hidden="true" size={20} strokeWidth={1.75} />}
          text={t("upload.images")}
          labelledBy={labelId}
          className={cn("min-h-[88px]", areaClassName)}
        />
      )}
      <CameraButton kind="image" label={label} onFiles={queue.add} />
    </div>
  );
}
