import { Video } from "@/components/media/video";
import { Picture } from "@/components/media/picture";
import { Button } from "@/components/ui/button";
import { ProgressBar } from "@/components/upload/progress-bar";
import type { UploadQueue } from "@/components/upload/use-upload-queue";
import { useT } from "@/lib/i18n";
import { fileTypeOf } from "@/lib/upload/media-types";
import type { QueuedFile } from "@/lib/upload/upload-queue";
import { cn } from "@/lib/cn";

type UploadingCardProps = {
  /** The file of the new cover, with the state of its upload. */
  entry: QueuedFile;
  /** The uploads of all new covers. */
  queue: UploadQueue;
};

/** The card of a new cover (a large picture or video at the top of the home page) while its file uploads, or if that has failed. */
export function UploadingCard({ entry, queue }: UploadingCardProps) {
  const t = useT();
  // A stored cover has its own card in the grid.
  if (entry.state === "stored") return null;
  const failed = entry.state === "failed";
  const isVideo = fileTypeOf(entry.file)?.kind === "video";
  const mediaClassName = "size-full object-cover opacity-55";
  return (
    <li className={cn("bg-shade rounded-sm border-b-8", failed ? "border-danger" : "border-edge")}>
      <div className="aspect-video overflow-hidden bg-[#151b2a]">
        {entry.preview === null ? null : isVideo ? (
          <Video
            preload="metadata"
            src={entry.preview}
            muted
            aria-hidden="true"
            className={mediaClassName}
          />
        ) : (
          <Picture src={entry.preview} alt="" fit="cover" eager className={mediaClassName} />
        )}
      </div>
      <ProgressBar percent={entry.progress} failed={failed} />
      <div className="p-5">
        <p className="label-text truncate" title={entry.file.name}>
          {entry.file.name}
        </p>
        <p
          className={cn(
            "text-sm lining-nums tabular-nums",
            failed ? "text-danger font-[520]" : "text-ink2",
          )}
        >
          {failed ? t("upload.failedTitle") : t("upload.progress", { n: entry.progress })}
        </p>
        <div className="mt-4 flex justify-between gap-2">
          <Button
            variant="ghost"
            size="sm"
            className="-ml-2"
            onClick={() => queue.remove(entry.id)}
          >
            {t(failed ? "upload.remove" : "common.cancel")}
          </Button>
          {failed && (
            <Button variant="outline" size="sm" onClick={() => queue.retry(entry.id)}>
              {t("common.retry")}
            </Button>
          )}
        </div>
      </div>
    </li>
  );
}
