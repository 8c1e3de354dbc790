import { Film } from "@/components/media/film";
import { Picture } from "@/components/media/picture";
import { Button } from "@/components/ui/button";
import { ProgressBar } from "@/components/upload/progress-bar";
import type { UploadQueue } from "@/components/upload/use-upload-queue";
import { useT } from "@/lib/i18n";
import { fileFacts } from "@/lib/upload/media-types";
import type { Tile } from "@/lib/upload/upload-queue";
import { cn } from "@/lib/cn";

type UploadingCardProps = {
  /** A file of the queue and the state of its upload. */
  tile: Tile;
  queue: UploadQueue;
};

/** A new cover in the grid while its file uploads or after the upload has failed. */
export function UploadingCard({ tile, queue }: UploadingCardProps) {
  const t = useT();
  // The list has a card for the stored cover.
  if (tile.state === "stored") return null;
  const failed = tile.state === "failed";
  const isVideo = fileFacts(tile.file)?.kind === "video";
  const mediaClassName = "size-full object-cover opacity-55";
  return (
    <li className={cn("bg-shade rounded-sm border-b-8", failed ? "border-danger" : "border-edge")}>
      <div className="aspect-video overflow-hidden bg-[#151b2a]">
        {tile.preview === null ? null : isVideo ? (
          <Film
            preload="metadata"
            src={tile.preview}
            muted
            aria-hidden="true"
            className={mediaClassName}
          />
        ) : (
          <Picture src={tile.preview} alt="" fit="cover" eager className={mediaClassName} />
        )}
      </div>
      <ProgressBar percent={tile.progress} failed={failed} />
      <div className="p-5">
        <p className="label-text truncate" title={tile.file.name}>
          {tile.file.name}
        </p>
        <p
          className={cn(
            "text-sm lining-nums tabular-nums",
            failed ? "text-danger font-[520]" : "text-ink2",
          )}
        >
          {failed ? t("upload.failedTitle") : t("upload.progress", { n: tile.progress })}
        </p>
        <div className="mt-4 flex justify-between gap-2">
          <Button variant="ghost" size="sm" className="-ml-2" onClick={() => queue.remove(tile.id)}>
            {t(failed ? "upload.remove" : "common.cancel")}
          </Button>
          {failed && (
            <Button variant="outline" size="sm" onClick={() => queue.retry(tile.id)}>
              {t("common.retry")}
            </Button>
          )}
        </div>
      </div>
    </li>
  );
}
