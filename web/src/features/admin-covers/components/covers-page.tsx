import { useCallback, useRef } from "react";
import { Upload } from "lucide-react";
import { useCreateCover } from "@/features/admin-covers/api/create-cover";
import { useCovers } from "@/features/admin-covers/api/list-covers";
import { CoverCard } from "@/features/admin-covers/components/cover-card";
import { UploadingCard } from "@/features/admin-covers/components/uploading-card";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { Button } from "@/components/ui/button";
import { Skeleton } from "@/components/ui/skeleton";
import { useFileDrop } from "@/components/upload/use-file-drop";
import { useNoStrayDrops } from "@/components/upload/use-no-stray-drops";
import { useUpload } from "@/components/upload/use-upload";
import { useUploadQueue } from "@/components/upload/use-upload-queue";
import { useUploadToasts, type UploadProblem } from "@/components/upload/use-upload-toasts";
import { BUCKETS } from "@/lib/constants";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { areaToast } from "@/lib/toast";
import { acceptOf, fileFacts, IMAGE_OR_VIDEO } from "@/lib/upload/media-types";
import { UploadError } from "@/lib/upload/upload-error";
import type { UploadFile } from "@/lib/upload/uploader";
import { cn } from "@/lib/cn";

export function CoversPage() {
  const t = useT();
  const covers = useCovers();
  const queue = useCoverUploads();
  const input = useRef<HTMLInputElement>(null);
  const { over, dropTarget } = useFileDrop(queue.add, true);
  useNoStrayDrops();

  const upload = (
    <Button onClick={() => input.current?.click()}>
      <Upload aria-hidden="true" size={20} strokeWidth={1.75} />
      {t("covers.upload")}
    </Button>
  );

  return (
    <AdminPage title={t("nav.coverImages")} action={upload}>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept={acceptOf(IMAGE_OR_VIDEO)}
        onChange={(event) => {
          queue.add(Array.from(event.target.files ?? []));
          event.target.value = "";
        }}
      />
      <div
        {...dropTarget}
        className={cn("min-h-[40vh]", over && "outline-anil outline-3 outline-offset-8")}
      >
        <AdminListState
          query={covers}
          empty={t("covers.empty")}
          emptyAction={upload}
          notEmpty={queue.tiles.length > 0}
          skeleton={<SkeletonCards />}
        >
          {(rows) => (
            <ul className={grid}>
              {rows.map((cover) => (
                <CoverCard key={cover.id} cover={cover} />
              ))}
              {queue.tiles.map((tile) => (
                <UploadingCard key={tile.id} tile={tile} queue={queue} />
              ))}
            </ul>
          )}
        </AdminListState>
      </div>
    </AdminPage>
  );
}

const grid = "grid items-start gap-7 md:grid-cols-2 xl:grid-cols-3";

function SkeletonCards() {
  return (
    <div className={grid}>
      {[0, 1, 2].map((card) => (
        <div key={card}>
          <Skeleton className="aspect-video w-full" />
          <Skeleton className="mt-5 h-5 w-2/5" />
          <Skeleton className="mt-4 h-[52px] w-full" />
        </div>
      ))}
    </div>
  );
}

/** A file becomes a cover in two steps, shown as one: the upload, then the row that points to it. */
function useCoverUploads() {
  const t = useT();
  const store = useUpload(BUCKETS.covers);
  const { mutateAsync: create } = useCreateCover();
  const tell = useUploadToasts();

  const upload = useCallback<UploadFile>(
    async (file, options) => {
      const url = await store(file, options);
      await create({ url, kind: fileFacts(file)?.kind ?? "image" });
      return url;
    },
    [store, create],
  );

  const onProblem = useCallback(
    (problem: UploadProblem) => {
      const message = problem.reason === "failed" ? serviceMessage(problem.error) : "";
      if (message) {
        areaToast({ title: t("upload.failedTitle"), description: message, destructive: true });
      } else {
        tell(problem);
      }
    },
    [t, tell],
  );

  return useUploadQueue({ kinds: IMAGE_OR_VIDEO, upload, onProblem, clearWhenDone: true });
}

/** Status 0 is the browser's own failure: no service said anything. */
function serviceMessage(error: unknown): string {
  return error instanceof UploadError && error.status === 0 ? "" : messageOf(error);
}
