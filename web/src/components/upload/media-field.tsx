import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import {
  closestCenter,
  DndContext,
  MouseSensor,
  TouchSensor,
  useSensor,
  useSensors,
  type DragEndEvent,
} from "@dnd-kit/core";
import { rectSortingStrategy, SortableContext, useSortable } from "@dnd-kit/sortable";
import { CSS } from "@dnd-kit/utilities";
import { ChevronLeft, ChevronRight, Star, X } from "lucide-react";
import { CameraButton } from "@/components/upload/camera-button";
import { DropArea } from "@/components/upload/drop-area";
import { MediaTile, TileButton, metadataOf } from "@/components/upload/media-tile";
import { StillButton } from "@/components/upload/still-button";
import { useFilePaste } from "@/components/upload/use-file-paste";
import type { UploadQueue } from "@/components/upload/use-upload-queue";
import { useT } from "@/lib/i18n";
import type { VideoInfo, ImageInfo, MediaInfo } from "@/lib/media";
import { sortAnnouncements } from "@/lib/sort-announcements";
import { IMAGE_ONLY, VIDEO_ONLY, type MediaKind } from "@/lib/upload/media-types";
import type { QueuedFile } from "@/lib/upload/upload-queue";
import { cn } from "@/lib/cn";

type MediaFieldProps = {
  label: string;
  kind: MediaKind;
  /** The upload queue of the field, from useUploadQueue. */
  queue: UploadQueue;
  /** Metadata of the stored files. */
  media?: MediaInfo;
  /** The icon in the drop area. */
  icon: ReactNode;
  /** Classes of the drop area, such as its height. */
  areaClassName?: string;
  /**
   * Stores a chosen picture as the still of a video: the picture shown until the video plays. Without this function the
   * field does not offer to choose a still.
   */
  uploadStill?(videoUrl: string, picture: File): Promise<void>;
  /**
   * Makes a stored picture the work's main picture, which another field shows. Without this function the field does not offer to
   * choose the main picture.
   */
  onMakeMain?(url: string): void;
};

/** A field for several pictures or videos: a drop area, and the files below. Dragging and buttons reorder the files. */
export function MediaField({
  label,
  kind,
  queue,
  media,
  icon,
  areaClassName,
  uploadStill,
  onMakeMain,
}: MediaFieldProps) {
  const t = useT();
  const fieldElement = useRef<HTMLDivElement>(null);
  const kinds = kind === "image" ? IMAGE_ONLY : VIDEO_ONLY;
  useFilePaste(fieldElement, kinds, queue.add);
  const labelId = useId();
  const [announcement, setAnnouncement] = useState("");
  const { files } = queue;
  const total = files.length;
  const positionText = (n: number) => t("carousel.position", { n, total });
  const indexOf = (id: unknown) => files.findIndex((entry) => entry.id === id);

  // Dragging by touch begins after a delay, because a short touch is a tap or a scroll. The keyboard uses the buttons. Distances and
  // tolerance are in CSS pixels, the delay is in milliseconds.
  const sensors = useSensors(
    useSensor(MouseSensor, { activationConstraint: { distance: 6 } }),
    useSensor(TouchSensor, { activationConstraint: { delay: 220, tolerance: 8 } }),
  );

  // The index of the tile whose picture has just become the main one; null if none has. The former main picture
  // takes that place in the list. Its tile gets the focus, because the tile with the clicked button is gone.
  const exchangedIndex = useRef<number | null>(null);
  useEffect(() => {
    if (exchangedIndex.current === null) return;
    const tiles = fieldElement.current?.querySelectorAll("li");
    tiles
      ?.item(Math.min(exchangedIndex.current, tiles.length - 1))
      ?.querySelector("button")
      ?.focus();
    exchangedIndex.current = null;
  }, [files]);

  function makeMain(index: number, url: string) {
    exchangedIndex.current = index;
    setAnnouncement(t("upload.madeMain"));
    onMakeMain?.(url);
  }

  function moveBy(index: number, step: number) {
    queue.move(files[index]!.id, index + step);
    setAnnouncement(positionText(index + step + 1));
  }

  function onDragEnd({ active, over }: DragEndEvent) {
    const to = indexOf(over?.id);
    if (to >= 0) queue.move(String(active.id), to);
  }

  return (
    <div ref={fieldElement} role="group" aria-labelledby={labelId}>
      <p id={labelId} className="label-text mb-2">
        {label}
      </p>
      <DropArea
        kinds={kinds}
        multiple
        onFiles={queue.add}
        icon={icon}
        text={t(kind === "image" ? "upload.images" : "upload.videos")}
        labelledBy={labelId}
        className={cn("min-h-[72px]", areaClassName)}
      />
      <CameraButton kind={kind} label={label} onFiles={queue.add} />
      {total > 0 && (
        <DndContext
          sensors={sensors}
          collisionDetection={closestCenter}
          // The default threshold, a fifth of the height, would scroll a short dialog during every drag.
          autoScroll={{ threshold: { x: 0, y: 0.05 }, acceleration: 4 }}
          onDragEnd={onDragEnd}
          accessibility={{
            announcements: sortAnnouncements((_, over) => positionText(indexOf(over) + 1)),
            screenReaderInstructions: { draggable: "" },
          }}
        >
          <SortableContext items={files} strategy={rectSortingStrategy}>
            <ul className="mt-3 flex flex-wrap gap-3">
              {files.map((entry, index) => (
                <SortableTile
                  key={entry.id}
                  entry={entry}
                  kind={kind}
                  info={metadataOf(entry, media)}
                  label={`${label}, ${positionText(index + 1)}`}
                  onRetry={() => queue.retry(entry.id)}
                  onRemove={() => queue.remove(entry.id)}
                  wide={uploadStill !== undefined || onMakeMain !== undefined}
                  below={
                    uploadStill &&
                    entry.state === "stored" &&
                    entry.needsStill && (
                      <StillButton
                        withText
                        videoUrl={entry.url}
                        upload={uploadStill}
                        onStored={(picture) => queue.showStill(entry.id, picture)}
                      />
                    )
                  }
                >
                  <TileButton
                    label={t("upload.moveLeft")}
                    disabled={index === 0}
                    onClick={() => moveBy(index, -1)}
                  >
                    <ChevronLeft aria-hidden="true" size={19} strokeWidth={1.75} />
                  </TileButton>
                  {onMakeMain && entry.state === "stored" && (
                    <TileButton
                      label={t("upload.makeMain")}
                      disabled={queue.busy}
                      onClick={() => makeMain(index, entry.url)}
                    >
                      <Star aria-hidden="true" size={19} strokeWidth={1.75} />
                    </TileButton>
                  )}
                  {uploadStill && entry.state === "stored" && !entry.needsStill && (
                    <StillButton
                      videoUrl={entry.url}
                      upload={uploadStill}
                      onStored={(picture) => queue.showStill(entry.id, picture)}
                    />
                  )}
                  <TileButton label={t("upload.remove")} onClick={() => queue.remove(entry.id)}>
                    <X aria-hidden="true" size={19} strokeWidth={1.75} />
                  </TileButton>
                  <TileButton
                    label={t("upload.moveRight")}
                    disabled={index === total - 1}
                    onClick={() => moveBy(index, 1)}
                  >
                    <ChevronRight aria-hidden="true" size={19} strokeWidth={1.75} />
                  </TileButton>
                </SortableTile>
              ))}
            </ul>
          </SortableContext>
        </DndContext>
      )}
      <p role="status" className="sr-only">
        {announcement}
      </p>
    </div>
  );
}

type SortableTileProps = {
  entry: QueuedFile;
  kind: MediaKind;
  info: ImageInfo | VideoInfo | undefined;
  label: string;
  onRetry(): void;
  onRemove(): void;
  wide: boolean;
  /** An element below the tile, such as the button that asks for a still. */
  below?: ReactNode;
  children: ReactNode;
};

/** A tile that can be dragged to another place of the list. */
function SortableTile({
  entry,
  kind,
  info,
  label,
  onRetry,
  onRemove,
  wide,
  below,
  children,
}: SortableTileProps) {
  const { setNodeRef, listeners, transform, transition, isDragging } = useSortable({
    id: entry.id,
  });
  return (
    <li
      ref={setNodeRef}
      aria-label={label}
      className={cn("relative", isDragging && "z-10")}
      style={{ transform: CSS.Translate.toString(transform), transition }}
    >
      <MediaTile
        entry={entry}
        kind={kind}
        alt=""
        info={info}
        onRetry={onRetry}
        onRemove={onRemove}
        dragListeners={listeners}
        isDragged={isDragging}
        wide={wide}
      >
        {children}
      </MediaTile>
      {below && <div className="bg-shade dark:bg-neutral w-[184px]">{below}</div>}
    </li>
  );
}
