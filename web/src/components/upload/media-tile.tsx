import type { ReactNode } from "react";
import { X } from "lucide-react";
import { Video } from "@/components/media/video";
import { Picture } from "@/components/media/picture";
import { MediaState } from "@/components/upload/media-state";
import { ProgressBar } from "@/components/upload/progress-bar";
import { fitWithin } from "@/components/upload/fit-within";
import { useT } from "@/lib/i18n";
import type { VideoInfo, ImageInfo, MediaInfo } from "@/lib/media";
import type { MediaKind } from "@/lib/upload/media-types";
import type { QueuedFile } from "@/lib/upload/upload-queue";
import { useOnline } from "@/lib/use-online";
import { cn } from "@/lib/cn";

const tileButtonClasses =
  "grid h-11 min-w-11 flex-1 place-items-center hover:bg-indigo-tint aria-disabled:text-edge aria-disabled:cursor-default aria-disabled:hover:bg-transparent focus-visible:-outline-offset-3";

/** A button in the row below a tile's picture. */
export function TileButton({
  label,
  disabled = false,
  onClick,
  children,
}: {
  label: string;
  /**
   * Sets aria-disabled instead of disabled, because a disabled button loses the focus. A button that moves its tile becomes disabled
   * when the tile reaches an end of the list.
   */
  disabled?: boolean;
  onClick(): void;
  children: ReactNode;
}) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      aria-disabled={disabled || undefined}
      onClick={disabled ? undefined : onClick}
      className={tileButtonClasses}
    >
      {children}
    </button>
  );
}

/**
 * The metadata of a file in an upload queue. A new upload (with a preview) has none, because the server sends metadata only with
 * saved rows.
 */
export function metadataOf(entry: QueuedFile, media: MediaInfo | undefined) {
  return entry.state === "stored" && !entry.preview ? media?.[entry.url] : undefined;
}

type MediaTileProps = {
  /** The file, as an entry of the upload queue. */
  entry: QueuedFile;
  kind: MediaKind;
  alt: string;
  /** Metadata of the stored file. */
  info?: ImageInfo | VideoInfo;
  onRetry(): void;
  onRemove(): void;
  /** The row of buttons under a stored file. */
  children: ReactNode;
  /** Listeners that make the picture area draggable. */
  dragListeners?: React.HTMLAttributes<HTMLElement>;
  /** Whether the tile is being dragged. */
  isDragged?: boolean;
  /** Makes the tile wide enough for four buttons of 44 px. */
  wide?: boolean;
};

/** The space for the picture in CSS pixels. */
const pictureBox = { width: 118, height: 92 };

/** The tile of one file in a media field: its preview, and below it buttons, the progress of the upload, or a Retry button. */
export function MediaTile({
  entry,
  kind,
  alt,
  info,
  onRetry,
  onRemove,
  children,
  dragListeners,
  isDragged = false,
  wide = false,
}: MediaTileProps) {
  const t = useT();
  const online = useOnline();
  const hasStill = entry.still !== undefined;
  const src =
    entry.still ?? (entry.state === "stored" ? (entry.preview ?? entry.url) : entry.preview);
  const image = info?.kind === "image" ? info : undefined;
  const videoInfo = info?.kind === "video" ? info : undefined;
  return (
    <div
      className={cn(
        "relative rounded-sm",
        wide ? "w-[184px]" : "w-[138px]",
        isDragged ? "bg-pop pop-shadow outline-indigo outline-3" : "bg-shade dark:bg-neutral",
      )}
    >
      <div
        {...dragListeners}
        className={cn(
          "grid h-28 place-items-center p-2.5",
          dragListeners && "cursor-grab touch-manipulation",
        )}
      >
        {src === null ? null : kind === "image" || hasStill ? (
          <Picture
            src={src}
            alt={alt}
            info={image}
            sizes={[["", "118px"]]}
            eager
            style={image && fitWithin(pictureBox, image)}
            className={cn("pointer-events-none", !image && "size-full max-h-[92px]")}
          />
        ) : (
          <Video
            // Without a still, loads the metadata, so that the browser shows the first frame.
            preload={videoInfo?.poster ? "none" : "metadata"}
            src={src}
            info={videoInfo}
            cssWidth={pictureBox.width}
            muted
            aria-label={alt}
            className="pointer-events-none size-full max-h-[92px] object-contain"
          />
        )}
      </div>
      {entry.state === "stored" ? (
        <>
          <MediaState info={info} className="px-2.5 pb-2.5" />
          <div className="border-line flex border-t">{children}</div>
        </>
      ) : (
        <>
          <ProgressBar percent={entry.progress} failed={entry.state === "failed"} />
          {entry.state === "failed" ? (
            <button
              type="button"
              onClick={onRetry}
              className="text-danger hover:bg-danger-tint label-text h-10 w-full focus-visible:-outline-offset-3"
            >
              {t("common.retry")}
            </button>
          ) : (
            <p className="label-text grid min-h-10 place-items-center text-center font-[430] lining-nums tabular-nums">
              {online ? `${entry.progress}%` : t("upload.offline")}
            </p>
          )}
          <button
            type="button"
            aria-label={t(entry.state === "failed" ? "upload.remove" : "upload.cancel")}
            title={t(entry.state === "failed" ? "upload.remove" : "upload.cancel")}
            onClick={onRemove}
            className="bg-shade dark:bg-neutral hover:bg-indigo-tint absolute top-0 right-0 grid size-11 place-items-center rounded-sm focus-visible:-outline-offset-3"
          >
            <X aria-hidden="true" size={18} strokeWidth={1.75} />
          </button>
        </>
      )}
    </div>
  );
}
