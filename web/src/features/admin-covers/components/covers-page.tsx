import { useCallback, useRef } from "react";
import { Upload } from "lucide-react";
import { useCreateCover } from "@/features/admin-covers/api/create-cover";
import { useCovers } from "@/features/admin-covers/api/list-covers";
import { AddWorksButton } from "@/features/admin-covers/components/add-works-button";
import { CoverCard } from "@/features/admin-covers/components/cover-card";
import { CoverGrid } from "@/features/admin-covers/components/cover-grid";
import { UploadingCard } from "@/features/admin-covers/components/uploading-card";
import { coverKind } from "@/features/admin-covers/schema";
import { RecentlyDeleted } from "@/components/history/recently-deleted";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { Button } from "@/components/ui/button";
import { Skeleton } from "@/components/ui/skeleton";
import { useFileDrop } from "@/components/upload/use-file-drop";
import { usePreventFileDrop } from "@/components/upload/use-prevent-file-drop";
import { useUploader } from "@/components/upload/use-uploader";
import { useUploadQueue } from "@/components/upload/use-upload-queue";
import { useUploadToasts, type UploadProblem } from "@/components/upload/use-upload-toasts";
import { useAuth } from "@/lib/auth";
import { BUCKETS } from "@/lib/constants";
import { useDraftLock } from "@/lib/draft-lock";
import { draftName } from "@/lib/drafts";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";
import type { CoverImage } from "@/lib/types";
import { acceptOf, fileTypeOf, IMAGE_OR_VIDEO } from "@/lib/upload/media-types";
import { UploadError } from "@/lib/upload/upload-error";
import type { QueuedFile } from "@/lib/upload/upload-queue";
import type { UploadFile } from "@/lib/upload/uploader";
import { cn } from "@/lib/cn";

/**
 * The admin page of the covers (the large pictures and videos at the top of the home page). It shows a grid of cards. The owner
 * adds covers by choosing files, by dropping files onto the grid, or from the pictures of works.
 */
export function CoversPage() {
  const t = useT();
  const coversQuery = useCovers();
  const { user } = useAuth();
  // Each card stores its draft (unsaved values) in the browser, under a name with this prefix. A lock gives each tab a prefix of its
  // own, so that two tabs do not write the same drafts. Undefined until this tab has the lock.
  const draftPrefix = useDraftLock(draftName(user?.id, "covers"));
  const queue = useCoverUploads();
  const fileInput = useRef<HTMLInputElement>(null);
  const { isDraggedOver, dropTarget } = useFileDrop(queue.add, { multiple: true });
  usePreventFileDrop(); // without it, the browser would open a file that is dropped beside the grid

  const buttons = (
    <>
      <AddWorksButton />
      <Button onClick={() => fileInput.current?.click()}>
        <Upload aria-hidden="true" size={20} strokeWidth={1.75} />
        {t("covers.upload")}
      </Button>
    </>
  );

  return (
    <AdminPage title={t("nav.coverImages")} action={buttons}>
      <input
        ref={fileInput}
        type="file"
        hidden
        multiple
        accept={acceptOf(IMAGE_OR_VIDEO)}
        onChange={(event) => {
          queue.add(Array.from(event.target.files ?? []));
          event.target.value = ""; // so that choosing the same file again is a change
        }}
      />
      <div
        {...dropTarget}
        className={cn("min-h-[40vh]", isDraggedOver && "outline-indigo outline-3 outline-offset-8")}
      >
        <AdminListState
          // Without a draft prefix the list shows its loading state.
          query={draftPrefix === undefined ? { ...coversQuery, data: undefined } : coversQuery}
          empty={t("covers.empty")}
          emptyAction={<div className="flex flex-wrap gap-3">{buttons}</div>}
          notEmpty={queue.files.some(({ state }) => state !== "stored")}
          skeleton={<SkeletonCards />}
        >
          {(rows) => (
            <CoverGrid
              covers={rows}
              className={gridClassName}
              renderCard={(cover) => (
                <CoverCard
                  key={cover.id}
                  cover={cover}
                  draftName={`${draftPrefix}/${cover.id}`}
                  preview={previewOf(queue.files, cover)}
                />
              )}
            >
              {queue.files.map((entry) => (
                <UploadingCard key={entry.id} entry={entry} queue={queue} />
              ))}
            </CoverGrid>
          )}
        </AdminListState>
      </div>
      <RecentlyDeleted
        table="cover_images"
        nameOf={({ title }) => title || t("gallery.untitled")}
      />
    </AdminPage>
  );
}

const gridClassName = "grid items-start gap-7 md:grid-cols-2 xl:grid-cols-3";

/** The placeholder of the cards while they load. */
function SkeletonCards() {
  return (
    <div className={gridClassName}>
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

/** An upload queue that inserts a cover for each uploaded file. An upload is finished once the row exists. */
function useCoverUploads() {
  const t = useT();
  const { upload: uploadFile } = useUploader(BUCKETS.covers);
  const { mutateAsync: createCover } = useCreateCover();
  const showProblem = useUploadToasts();

  // The position of each file among all files that the owner has chosen on this page.
  const chosenIndexes = useRef(new Map<File, number>());

  const upload = useCallback<UploadFile>(
    async (file, options) => {
      const url = await uploadFile(file, options);
      const kind = fileTypeOf(file)?.kind ?? "image";
      await createCover({
        url,
        kind,
        chosenIndex: chosenIndexes.current.get(file)!,
        signal: options.signal,
      });
      return url;
    },
    [uploadFile, createCover],
  );

  const onProblem = useCallback(
    (problem: UploadProblem) => {
      const message = problem.reason === "failed" ? serviceMessage(problem.error) : "";
      if (message) {
        stackedToast({ title: t("upload.failedTitle"), description: message, destructive: true });
      } else {
        showProblem(problem);
      }
    },
    [t, showProblem],
  );

  const queue = useUploadQueue({
    kinds: IMAGE_OR_VIDEO,
    upload,
    onProblem,
    thumbnailPx: COVER_THUMBNAIL_PX,
  });
  const { add: enqueue } = queue;
  const add = useCallback(
    (files: Iterable<File>) => {
      const chosen = [...files];
      for (const file of chosen) chosenIndexes.current.set(file, chosenIndexes.current.size);
      enqueue(chosen);
    },
    [enqueue],
  );
  return { ...queue, add };
}

/** Height of thumbnails in pixels: that of a card's picture on a dense screen. */
const COVER_THUMBNAIL_PX = 480;

/** The object URL of a cover's picture, or of a video's still, if the cover was added on this page. */
function previewOf(files: readonly QueuedFile[], cover: CoverImage): string | null | undefined {
  const entry = files.find((file) => file.state === "stored" && file.url === cover.image_url);
  return coverKind(cover) === "video" ? entry?.still : entry?.preview;
}

/** The server's message of an error, or "" if the server did not respond (status 0). */
function serviceMessage(error: unknown): string {
  return error instanceof UploadError && error.status === 0 ? "" : messageOf(error);
}
